"""The PDF: one first page, no complaint of the renderer, the same bytes each time, and its attachments inside."""

import builtins
import logging
import re
import zlib
from dataclasses import replace

import pytest
from report_samples import SAMPLES

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
