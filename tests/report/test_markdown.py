"""Markdown for a ticket: nothing that comes from outside is taken for markup."""

from dataclasses import replace

import pytest
import report_samples
from report_samples import SAMPLES

from loaderdoctor.report import markdown
from loaderdoctor.report.view import view


@pytest.mark.parametrize("name", SAMPLES)
def test_headline_first_and_every_block_closed(name):
    text = markdown.render(view(*SAMPLES[name]()))
    assert text.startswith("## ")
    assert text.count("```") % 2 == 0
    assert text.count("<details>") == text.count("</details>")
    assert "\n\n\n" not in text


def test_the_diff_is_a_diff():
    assert "```diff\n--- a/train.py\n+++ b/train.py\n" in markdown.render(view(*SAMPLES["starving"]()))


def test_marks_from_outside_are_text():
    sample = SAMPLES["advice_only"]()
    finding = replace(sample.diagnosis.findings[0], reasons=("`__init__` | <b>*args*</b> [x](y)\n# no heading",))
    text = markdown.render(view(sample.run, sample.signals, replace(sample.diagnosis, findings=(finding,))))
    assert r"- \`\_\_init\_\_\` \| \<b\>\*args\*\</b\> \[x\](y) \# no heading" in text


def test_a_fence_is_longer_than_any_inside():
    source = report_samples.SCRIPT.replace('Photos("train"),', 'Photos("```"),')
    run = report_samples.run(sources={f"{report_samples.FOLDER}/train.py": source})
    assert "````diff\n" in markdown.render(view(*SAMPLES["starving"]()._replace(run=run)))
