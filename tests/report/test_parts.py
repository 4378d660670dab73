"""Each part of a report fails in turn, and each value is missing in turn: the rest is there, and a note says which."""

import json
from dataclasses import fields, is_dataclass, replace

import pytest
from report_samples import SAMPLES

from loaderdoctor import report
from loaderdoctor.report import Written, advice, charts, details, html, markdown, page_one, terminal
from loaderdoctor.report import json as json_report
from loaderdoctor.report import view as views
from loaderdoctor.values import Measured, Missing

GONE = Missing("gone", "It was taken out.")
# What makes a part, and the words of the report that stay when it fails.
MAKERS = (
    (views, "headline"), (views, "fix_patch"), (page_one, "run_line"), (advice, "lead"), (advice, "fix"), (advice, "gain"),
    (charts, "split_bar"), (charts, "steps_chart"), (page_one, "_waiting"), (page_one, "_step_now"), (page_one, "_in_an_hour"),
    (page_one, "sure"), (page_one, "ruled_out"), (page_one, "environment"), (details, "_block"), (details, "_what_if"),
    (details, "_loaders"), (details, "_workers"), (details, "_stages"), (details, "_hot"),
    (page_one, "no_data"), (details, "notes_of"), (details, "method"),
)  # fmt: skip
OF_JSON = ("_run", "_verdict", "_step", "_loader", "_finding", "_what_if", "_gain", "facts_of", "notes_of")
OF_MARKDOWN = (
    "_opening",
    "_facts",
    "_proof",
    "_first_fix",
    "_gain",
    "_sure",
    "_ruled_out",
    "_finding",
    "_list",
    "_table",
)
OF_TERMINAL = ("_files", "_next")
MACROS = {
    "charts.svg.j2": ("split_bar", "steps", "interval"),
    "blocks.html.j2": ("table", "data", "entries", "fix", "facts", "pairs", "finding"),
}


def fail(*_, **__):
    raise ZeroDivisionError("odd numbers")


def all_formats(sample, folder):
    """Everything as text, by format; a PDF is the HTML drawn by another, and takes a hundred times as long."""
    written = report.write(*sample[:3], folder, ["html", "json", "md"], sample.lang)
    texts = {path.name: path.read_text() for path in written.files}
    texts["terminal"] = "\n".join(terminal.lines(written))
    return texts, written


@pytest.mark.parametrize("name", SAMPLES)
def test_no_part_of_an_ordinary_report_fails(name, tmp_path):
    texts, written = all_formats(SAMPLES[name](), tmp_path)
    assert written.notes == ()
    assert not any("part-failed" in text or "could not be made" in text for text in texts.values())


@pytest.mark.parametrize(("module", "maker"), MAKERS, ids=lambda one: getattr(one, "__name__", one))
def test_a_part_of_the_view_that_fails(module, maker, tmp_path, monkeypatch):
    whole, _ = all_formats(SAMPLES["starving"](), tmp_path)
    monkeypatch.setattr(module, maker, fail)
    texts, _ = all_formats(SAMPLES["starving"](), tmp_path)
    assert texts.keys() >= {"report.html", "report.json", "report.md", "terminal"}
    assert "part-failed" in texts["report.html"]
    assert "odd numbers" in texts["report.html"]
    assert len(texts["report.html"]) > len(whole["report.html"]) / 2


@pytest.mark.parametrize("maker", OF_JSON)
def test_a_part_of_the_json_that_fails(maker, monkeypatch):
    sample = SAMPLES["starving"]()
    whole = json.loads(json_report.render(*sample[:3], views.view(*sample)))
    monkeypatch.setattr(json_report, maker, fail)
    rest = json.loads(json_report.render(*sample[:3], views.view(*sample)))
    assert rest.keys() == whole.keys()
    assert {note["slug"] for note in rest["notes"]} >= {"part-failed"}
    changed = {key for key in whole if rest[key] != whole[key]}
    assert 1 <= len(changed - {"notes"}) <= 2 or maker == "notes_of"


@pytest.mark.parametrize("maker", OF_MARKDOWN)
def test_a_part_of_the_markdown_that_fails(maker, monkeypatch):
    seen = views.view(*SAMPLES["starving"]())
    whole = markdown.render(seen)
    fails = lambda *_: fail()  # noqa: E731 - a function whose name can be set
    fails.__name__ = maker
    monkeypatch.setattr(markdown, maker, fails)
    rest = markdown.render(seen)
    assert rest.count("could not be made") in {1, 2, 3, 4}  # four lists, and one other finding
    assert len(rest) > len(whole) / 2


@pytest.mark.parametrize("maker", OF_TERMINAL)
def test_a_line_of_the_terminal_that_fails(maker, tmp_path, monkeypatch):
    sample = SAMPLES["starving"]()
    written = Written((tmp_path / "report.html",), views.view(*sample))
    whole = list(terminal.lines(written))
    monkeypatch.setattr(terminal, maker, fail)
    rest = list(terminal.lines(written))
    assert sum("could not be made" in line for line in rest) == 1
    assert len(set(whole) & set(rest)) >= len(whole) - 2


@pytest.mark.parametrize(("file", "macro"), [(file, macro) for file, macros in MACROS.items() for macro in macros])
def test_a_piece_of_the_page_that_fails(file, macro, monkeypatch):
    seen = views.view(*SAMPLES["starving"]())
    whole = html.render(seen)
    module = html.environment().get_template(file).module
    broken = type("Broken", (), {"name": macro, "__call__": fail})()
    monkeypatch.setattr(html.environment().get_template(file), "_module", module)
    monkeypatch.setattr(module, macro, broken)
    rest = html.render(seen)
    assert "could not be made: ZeroDivisionError" in rest
    assert len(rest) > len(whole) / 3
    assert rest.rstrip().endswith("</html>")


@pytest.mark.parametrize("name", ["html", "json", "markdown"])
def test_a_whole_format_that_fails_costs_its_own_file(name, tmp_path, monkeypatch):
    monkeypatch.setattr(f"loaderdoctor.report.{name}.render", fail)
    texts, written = all_formats(SAMPLES["starving"](), tmp_path)
    gone = {"html": "report.html", "json": "report.json", "markdown": "report.md"}[name]
    assert set(texts) == {"report.html", "report.json", "report.md", "fix.patch", "terminal"} - {gone}
    assert [slug for slug, _ in written.notes] == ["part-failed"]
    assert gone in texts["terminal"]


def values(owner, path=()):
    """Where values stand in the signals: paths of field names and indices."""
    if isinstance(owner, (Measured, Missing)):
        yield path
    elif isinstance(owner, tuple):
        for index, entry in enumerate(owner[:2]):
            yield from values(entry, (*path, index))
    elif is_dataclass(owner):
        for field in fields(owner):
            yield from values(getattr(owner, field.name), (*path, field.name))


def with_value(owner, path, value):
    """The same with another value there."""
    if not path:
        return value
    step, *rest = path
    if isinstance(owner, tuple):
        return (*owner[:step], with_value(owner[step], rest, value), *owner[step + 1 :])
    return replace(owner, **{step: with_value(getattr(owner, step), rest, value)})


PLACES = list(values(SAMPLES["starving"]().signals))


@pytest.mark.parametrize(
    "value", [GONE, *(Measured(odd, odd, odd, 1, "s") for odd in (float("nan"), float("inf"), -1.0, 0.0))]
)
def test_any_value_may_be_missing_or_no_number(value, tmp_path):
    sample = SAMPLES["starving"]()
    assert len(PLACES) > 50
    for path in PLACES:
        texts, written = all_formats(sample._replace(signals=with_value(sample.signals, path, value)), tmp_path)
        assert {"report.html", "report.json", "report.md"} <= set(texts), path
        assert written.notes == (), path
        assert "part-failed" not in "".join(texts.values()), path
        assert ">nan" not in texts["report.html"], path


def test_no_value_at_all(tmp_path):
    sample = SAMPLES["starving"]()
    for path in PLACES:
        sample = sample._replace(signals=with_value(sample.signals, path, GONE))
    texts, _ = all_formats(sample, tmp_path)
    assert "part-failed" not in "".join(texts.values())
    assert pdf_of(sample).pages >= 1


@pytest.mark.parametrize(
    "series", [(), ((float("nan"),) * 3,), ((0.0, 0.0, 0.0),) * 3, ((float("inf"), 0.0, 1.0), (0.1, 0.1, 0.1))]
)
def test_odd_steps(series, tmp_path):
    sample = SAMPLES["starving"]()
    steps = replace(sample.signals.steps, series=series, count=len(series))
    texts, _ = all_formats(sample._replace(signals=replace(sample.signals, steps=steps)), tmp_path)
    assert "part-failed" not in "".join(texts.values())
    assert "nan" not in texts["report.html"].replace("finance", "")


@pytest.mark.parametrize("name", SAMPLES)
def test_no_loaders_at_all(name, tmp_path):
    sample = SAMPLES[name]()
    texts, _ = all_formats(sample._replace(signals=replace(sample.signals, loaders=())), tmp_path)
    assert "part-failed" not in "".join(texts.values())


def pdf_of(sample):
    from loaderdoctor.report import pdf

    return pdf.render(views.view(*sample), {}, "no time at all")
