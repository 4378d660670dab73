"""The PDF: one first page, no complaint of the renderer, the same bytes each time, and its attachments inside."""

import builtins
import logging
import re
import zlib
from dataclasses import replace

import builders
import pytest
from report_samples import SAMPLES

from loaderdoctor.analyse import signals_of
from loaderdoctor.errors import LoaderDoctorError
from loaderdoctor.report import pdf
from loaderdoctor.report.view import view

AT = "2026-12-01T14:02:33+00:00"
ATTACHED = {"report.json": '{"schema": "loaderdoctor.report/1"}\n', "fix.patch": "--- a/train.py\n"}


def streams(data):
    """Everything that is stored in the file, unpacked."""
    for packed in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", data, re.DOTALL):
        try:
            yield zlib.decompress(packed)
        except zlib.error:
            yield packed


@pytest.mark.parametrize("name", SAMPLES)
def test_the_first_page_is_one_page_and_nothing_is_ignored(name):
    drawn = pdf.render(view(*SAMPLES[name]()), {}, AT)
    assert drawn.first_page_is_whole
    complaints = [text for text in drawn.warnings if "notdef" not in text]  # fonts are the machine's
    assert complaints == []
    assert drawn.pages <= 5


def test_latin_text_needs_no_font_of_the_machine():
    assert not pdf.render(view(*SAMPLES["starving"]()), {}, AT).lacks_glyphs


def test_the_same_run_gives_the_same_bytes():
    seen = view(*SAMPLES["healthy"]())
    assert pdf.render(seen, ATTACHED, AT).data == pdf.render(seen, ATTACHED, AT).data


def test_attachments_are_inside_and_the_file_is_tagged():
    data = pdf.render(view(*SAMPLES["starving"]()), ATTACHED, AT).data
    everything = [data, *streams(data)]
    for name, text in ATTACHED.items():
        assert any(name.encode() in part for part in everything)
        assert text.encode() in everything
    assert any(b"/StructTreeRoot" in part for part in everything)
    assert any(b"pdfuaid" in part for part in everything)
    assert any(b"/Lang" in part for part in everything)


def test_a_footer_cannot_leave_its_quotes():
    seen = view(*SAMPLES["no_loader"]())
    odd = replace(seen, labels=replace(seen.labels, footer='a "quoted" \\ footer'))
    assert pdf.render(odd, {}, AT).warnings == ()


def test_logging_is_left_as_it_was():
    logger = logging.getLogger("weasyprint")
    before = (list(logger.handlers), logger.propagate)
    pdf.render(view(*SAMPLES["no_loader"]()), {}, AT)
    assert (logger.handlers, logger.propagate) == before


def test_without_pango_there_is_an_error_with_a_name(monkeypatch):
    imported = builtins.__import__

    def refuse(name, *arguments, **keywords):
        if name == "weasyprint":
            raise OSError("cannot load library 'libgobject-2.0-0'")
        return imported(name, *arguments, **keywords)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(LoaderDoctorError) as raised:
        pdf.render(view(*SAMPLES["starving"]()), {}, AT)
    assert raised.value.slug == "pdf-libraries-missing"


MOST_BYTES = 300_000  # of an attachment to a ticket


@pytest.mark.parametrize("name", ["starving", "two_loaders", "chinese"])
def test_the_file_is_small_enough_to_attach(name):
    assert len(pdf.render(view(*SAMPLES[name]()), ATTACHED, AT).data) < MOST_BYTES


def test_many_workers_and_steps_make_no_more_pages_than_one_reads():
    """64 workers and 1,000 steps, by long names: tables are cut, and say how much they leave out."""
    run = builders.run_from("[" + "wc" * 1000, num_workers=64, fetch_s=0.5, unit_s=0.01)
    shown = view(run, signals_of(run), SAMPLES["two_loaders"]().diagnosis)
    drawn = pdf.render(shown, {}, AT)
    assert drawn.first_page_is_whole
    assert drawn.pages <= 8
    assert [text for text in drawn.warnings if "notdef" not in text] == []
    assert any(table.note.endswith("39 more rows in report.json.") for table in shown.tables)


def test_the_rules_of_pdf_ua_that_can_be_read_from_the_file():
    """Tagged, with a title that is shown, a language, and a description of each figure."""
    everything = b"\n".join(streams(pdf.render(view(*SAMPLES["starving"]()), {}, AT).data))
    assert b"/Marked true" in everything
    assert b"/DisplayDocTitle true" in everything
    assert b"/Suspects true" not in everything
    figures = re.findall(rb"/S /Figure", everything)
    assert len(figures) >= 3
    assert len(re.findall(rb"/Alt ", everything)) >= len(figures)
    assert b"/S /TH" in everything
