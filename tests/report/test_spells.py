"""A run that changed: its sentence, its chart, and its place in each format."""

import json

import builders
import pytest
import report_samples

from loaderdoctor.analyse.signals import Spell
from loaderdoctor.causes.base import Diagnosis
from loaderdoctor.report import html, markdown
from loaderdoctor.report.headline import headline
from loaderdoctor.report.json import as_json
from loaderdoctor.report.spells import changed, spells_chart
from loaderdoctor.report.view import view
from loaderdoctor.report.words import Words

WORDS = Words("en")
DIAGNOSIS = Diagnosis("starving", None, None, (), (), "")


def signals(*spells):
    """`spells` are (steps, share), one after the other, ten steps a second."""
    made, step = [], 1
    for steps, share in spells:
        made.append(Spell(step, step + steps - 1, (step - 1) / 10, (step + steps - 1) / 10, builders.around(share)))
        step += steps
    return builders.signals(spells=tuple(made))


@pytest.mark.parametrize(
    ("spells", "sentence"),
    [
        ([], ""),
        ([(4000, 0.3)], ""),
        (
            [(4012, 0.01), (3988, 0.62)],
            "It changed at about step 4,010: healthy (1 %) until then, starving (62 %) from then on.",
        ),
        (
            [(500, 0.6), (500, 0.0), (500, 0.3)],
            "It changed at about steps 500 and 1,000: starving (60 %) at first, healthy (0 %) in between, "
            "starving (30 %) at last.",
        ),
        ([(500, 0.6), (500, 0.01), (500, 0.3), (500, 0.8)], "It changed 3 times, between 1 % and 80 % of waiting."),
    ],
)
def test_the_sentence(spells, sentence):
    assert changed(signals(*spells), WORDS) == sentence


def test_the_headline_says_when():
    said = headline(signals((4000, 0.01), (4000, 0.62)), DIAGNOSIS, WORDS)
    assert said.startswith("The training step waits for data 75 % of the time")
    assert said.endswith(" It changed at about step 4,000: healthy (1 %) until then, starving (62 %) from then on.")
    assert "changed" not in headline(signals((8000, 0.62)), DIAGNOSIS, WORDS)


def test_the_chart_covers_the_run():
    chart = spells_chart(signals((3000, 0.01), (1000, 0.62)), WORDS)
    assert chart.spells == ((0, 0.75, 0.01), (0.75, 1, 0.62))
    assert (chart.first, chart.last) == ("step 1", "step 4,000")
    assert chart.data.rows == (
        ("1–3,000", "0–5 min", "1 %", "0.9–1.1 %"),
        ("3,001–4,000", "5–6.67 min", "62 %", "56–68 %"),
    )


def test_a_run_that_stayed_as_it_was_has_no_chart():
    assert spells_chart(signals((3000, 0.5)), WORDS) is None


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_format_has_it(lang):
    run, told = report_samples.run(), signals((3000, 0.01), (1000, 0.62))
    seen = view(run, told, DIAGNOSIS, lang)
    sentence = changed(told, Words(lang))
    assert sentence in seen.headline
    page = html.render(seen)
    assert page.count(f"<title>{sentence}</title>") == 1
    assert sentence.split("(")[0].strip() in markdown.render(seen).replace("\\", "")
    report = json.loads(json.dumps(as_json(run, told, DIAGNOSIS, seen)))
    assert [list(spell) for spell in report["spells"]] == [
        ["from_step", "to_step", "from_s", "to_s", "starved_share"]
    ] * 2
    assert report["spells"][1]["from_step"] == 3001
    assert report["spells"][1]["starved_share"]["best"] == 0.62


def test_a_page_without_a_change_has_none_of_it():
    page = html.render(view(report_samples.run(), signals((3000, 0.5)), DIAGNOSIS))
    assert "Parts of the run" not in page
