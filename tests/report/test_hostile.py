"""Whatever stands in the fields of a run: nothing is fetched, and nothing is read that is not the package's own."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest
import report_samples

from loaderdoctor import report
from loaderdoctor.report import pdf

URL = "http://127.0.0.1:9/leak"
ATTACKS = [
    f'x"; }} }} html {{ background: url({URL}) !important }} @page {{ @bottom-left {{ content: "',
    f"x\n; }} }} body {{ background: url({URL}); list-style-image: url(file:///etc/hostname) }}",
    f'<img src="{URL}"><script src="{URL}"></script><style>@import url({URL})</style>',
    "{{ 7 * 7 }}",
]
PERMITTED = ("open", "socket.connect", "socket.getaddrinfo", "urllib.Request")


@pytest.fixture
def opened():
    """Files and addresses that are opened while a test runs."""
    seen = []
    watching = [True]

    def hook(event, arguments):
        if watching and event in PERMITTED:
            seen.append((event, str(arguments[0])))

    sys.addaudithook(hook)
    yield seen
    watching.clear()


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_is_fetched_for_any_field_of_a_run(attack, opened, tmp_path):
    run, signals, diagnosis, lang = report_samples.starving()
    run = replace(run, meta=replace(run.meta, id=attack, command=("python", attack), working_directory=f"/{attack}"))
    done = report.write(run, signals, diagnosis, tmp_path, ("html", "pdf", "json"), lang)
    assert {path.name for path in done.files} >= {"report.html", "report.pdf", "report.json"}
    assert [what for what in opened if "127.0.0.1" in what[1] or "hostname" in what[1] or what[0] != "open"] == []
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<script src" not in html
    assert "<img src" not in html
    assert "49" not in html.partition("</title>")[0]


@pytest.mark.parametrize("text", ['a"b', "a\\b", "a\nb", "}", "中文 ok", "\u202e"])
def test_a_string_of_css_holds_every_text(text):
    told = pdf._css_string(text)
    assert told[0] == told[-1] == '"'
    assert not set(told[1:-1]) & set('"\n}{;')


@pytest.mark.parametrize("url", [URL, "file:///etc/hostname", "file:///etc/../etc/passwd", "data:text/css,x"])
def test_the_fetcher_refuses_all_but_the_fonts(url):
    with pytest.raises(ValueError, match="nothing is fetched"):
        pdf._only_fonts_of(None, "/package/")(url)
