"""One file, readable by machines that read aloud, without network and without script."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

import pytest
import report_samples
from report_samples import SAMPLES

from loaderdoctor.analyse.signals import HotFunction
from loaderdoctor.report import html
from loaderdoctor.report.templates import find_templates
from loaderdoctor.report.view import view

VOID = {"meta", "br", "link", "img", "line", "rect", "path", "circle", "polygon", "polyline"}
GAIN = re.compile(r"\S+ as fast as now|速度为现在的")
SHOWN = re.compile(r"\{[{%#].*?[#%}]\}", re.DOTALL)


class Page(HTMLParser):
    """Elements in order, what stands inside which, and the text of each."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open, self.inside = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        element = {"tag": tag, "inside": [e["tag"] for e in self.open], "text": "", **dict(attrs)}
        self.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag, attrs):
        self.elements.append({"tag": tag, "inside": [e["tag"] for e in self.open], "text": "", **dict(attrs)})

    def handle_endtag(self, tag):
        opened = self.open.pop()
        assert opened["tag"] == tag, f"</{tag}> closes <{opened['tag']}>"

    def handle_data(self, data):
        for element in self.open:
            element["text"] += data

    def all(self, *tags):
        return [element for element in self.elements if element["tag"] in tags]


@pytest.fixture(params=SAMPLES)
def page(request):
    return Page(html.render(view(*SAMPLES[request.param]())))


def test_every_element_is_closed(page):
    assert page.open == []


def test_nothing_is_fetched_and_nothing_runs(page):
    assert page.all("script", "link", "img", "iframe", "object", "base") == []
    for element in page.elements:
        assert not {key for key in element if key.startswith("on") or key in {"src", "href", "xlink:href"}}
    (style,) = page.all("style")
    assert "url(" not in style["text"]
    assert "@import" not in style["text"]


def test_the_page_says_its_language_and_title(page):
    assert page.all("html")[0]["lang"] in {"en", "zh"}
    assert page.all("title")[0]["text"] == f"loaderdoctor: {page.all('h1')[0]['text']}"
    assert {"name": "color-scheme", "content": "light dark"}.items() <= page.all("meta")[2].items()


def test_headings_go_down_one_at_a_time(page):
    levels = [int(element["tag"][1]) for element in page.all("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(deeper <= level + 1 for level, deeper in pairwise(levels))


def test_pictures_are_told_in_a_sentence_and_have_their_numbers_behind_them(page):
    for picture in page.all("svg"):
        assert picture["role"] == "img"
        assert "figure" in picture["inside"]
    titles = [element["text"] for element in page.all("title") if "svg" in element["inside"]]
    assert len(titles) == len(page.all("svg")) == len(page.all("figcaption"))
    assert all(title.endswith((".", "。")) for title in titles)
    gains = [title for title in titles if GAIN.match(title)]  # an interval, whose numbers are its caption
    assert len(page.all("details")) == len(page.all("svg")) - len(gains)


def test_tables_have_captions_and_scopes(page):
    assert len(page.all("table")) == len(page.all("caption"))
    assert all("scope" in heading for heading in page.all("th"))


def test_one_main_one_header(page):
    assert len(page.all("main")) == len(page.all("header")) == 1


def test_what_comes_from_outside_is_text():
    sample = SAMPLES["two_loaders"]()
    evil = "<script>alert(1)</script>&amp;\"'"
    hot = HotFunction(evil, f"{report_samples.FOLDER}/{evil}.py", 1, report_samples.around(0.5))
    loaders = tuple(replace(loader, hot_functions=(hot,)) for loader in sample.signals.loaders)
    finding = replace(report_samples.TOO_FEW, reasons=(evil,), confidence="high")
    diagnosis = replace(sample.diagnosis, findings=(finding,), reason=evil)
    text = html.render(view(sample.run, replace(sample.signals, loaders=loaders), diagnosis))
    page = Page(text)
    assert page.all("script") == []
    assert (
        sum(evil in element["text"] for element in page.all("li", "td", "th")) == 5
    )  # a reason, and two cells a loader


def test_templates_hold_no_words():
    """Every word of a report can be translated, since it comes from the view."""
    for path in find_templates().glob("*.html.j2"):
        text = re.sub(r"<[^>]*>", " ", SHOWN.sub("", path.read_text(encoding="utf-8")))
        assert re.findall(r"\w+", text) == [], path.name


def test_colours_of_charts_are_the_same_in_svg_and_in_css():
    """The PDF takes them from the marks, a browser from the page."""
    charts = (find_templates() / "charts.svg.j2").read_text(encoding="utf-8")
    css = (find_templates() / "report.css").read_text(encoding="utf-8")
    fills = dict(re.findall(r"'(wait|copy|compute|other)': '(#\w+)'", charts.split("ON =")[0]))
    assert len(fills) == 4
    for name, colour in fills.items():
        assert f"--{name}: {colour}" in css


def luminance(colour):
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = [int(digits[k : k + 2], 16) / 255 for k in (0, 2, 4)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("file", ["report.css", "browser.css"])
@pytest.mark.parametrize(
    ("front", "back", "least"),
    [
        ("ink", "paper", 7),
        ("muted", "paper", 4.5),
        ("muted", "panel", 4.5),
        ("add", "panel", 4.5),
        ("del", "panel", 4.5),
        ("on-wait", "wait", 4.5),
        ("on-copy", "copy", 4.5),
        ("on-compute", "compute", 4.5),
        ("wait", "compute", 3),
    ],
)
def test_contrast_in_light_and_dark(file, front, back, least):
    colours = dict(re.findall(r"--([\w-]+): (#\w+)", (find_templates() / file).read_text(encoding="utf-8")))
    lighter, darker = sorted((luminance(colours[front]), luminance(colours[back])), reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) >= least
