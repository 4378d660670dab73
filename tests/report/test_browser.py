"""The page in a real browser: nothing in its console, nothing asked of a network, no scrolling sideways, tables by keyboard."""

import chromium
import pytest
from report_samples import SAMPLES

from loaderdoctor.report import html
from loaderdoctor.report.view import view

EXECUTABLE = chromium.found()
pytestmark = pytest.mark.skipif(EXECUTABLE is None, reason="this machine has no Chromium")
FOCUSED = (
    "document.activeElement.tagName + ' ' + [...document.querySelectorAll('summary')].indexOf(document.activeElement)"
)
WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
# Texts of a picture that lie on one another: by their boxes, but for a touch at the edge.
OVERLAPS = """
[...document.querySelectorAll('svg')].flatMap(svg => {
  const boxes = [...svg.querySelectorAll('text')].map(text => [text.textContent, text.getBoundingClientRect()]);
  return boxes.flatMap(([one, a], k) => boxes.slice(k + 1).filter(([, b]) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4
  ).map(([other]) => one + ' / ' + other));
})
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    with chromium.browser(EXECUTABLE, tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture(params=SAMPLES)
def file(request, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(html.render(view(*SAMPLES[request.param]())), encoding="utf-8")
    return path


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1440])
def test_nothing_is_said_nothing_is_asked_for_and_nothing_sticks_out(page, file, width, scheme):
    page.show(file, width, scheme)
    assert page.value(WIDE) <= 0
    assert page.said() == []


def test_no_text_of_a_picture_lies_on_another(page, file):
    page.show(file, 1440)
    assert page.value(OVERLAPS) == []


def test_dark_is_dark_and_light_is_light(page, file):
    grounds = []
    for scheme in ("light", "dark"):
        page.show(file, 800, scheme)
        grounds.append(page.value("getComputedStyle(document.documentElement).backgroundColor"))
    assert grounds == ["rgb(255, 255, 255)", "rgb(13, 17, 23)"]


def test_every_table_behind_a_picture_is_reached_and_opened_by_keyboard(page, file):
    page.show(file, 800)
    summaries = page.value("document.querySelectorAll('summary').length")
    reached = set()
    for _ in range(4 * summaries + 10):
        page.press("Tab")
        tag, index = page.value(FOCUSED).split()
        if tag == "SUMMARY" and index not in reached:
            reached.add(index)
            page.press("Enter")
    assert len(reached) == summaries
    assert page.value("[...document.querySelectorAll('details')].every(one => one.open)") is True
