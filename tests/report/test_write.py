"""Files appear whole or not at all, and a failing PDF is a note."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from report_samples import SAMPLES, SCRIPT

from loaderdoctor import report
from loaderdoctor.errors import LoaderDoctorError
from loaderdoctor.report import pdf, templates


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_every_format_in_its_order(tmp_path):
    run, signals, diagnosis, lang = SAMPLES["starving"]()
    written = report.write(run, signals, diagnosis, tmp_path / "new", ["json", "md", "html", "pdf", "json"], lang)
    assert [path.name for path in written.files] == [
        "report.html",
        "report.pdf",
        "report.json",
        "report.md",
        "fix.patch",
    ]
    assert names(tmp_path / "new") == sorted(path.name for path in written.files)
    assert written.notes == ()
    assert (tmp_path / "new/report.pdf").read_bytes().startswith(b"%PDF-")
    assert json.loads((tmp_path / "new/report.json").read_text())["verdict"]["status"] == "starving"


def test_the_patch_applies_where_the_script_ran(tmp_path):
    run, signals, diagnosis, lang = SAMPLES["starving"]()
    (tmp_path / "train.py").write_text(SCRIPT)
    report.write(run, signals, diagnosis, tmp_path, ["json"], lang)
    subprocess.run(["git", "apply", "fix.patch"], cwd=tmp_path, check=True)
    assert "num_workers=6,\n        persistent_workers=True," in (tmp_path / "train.py").read_text()


def test_a_patch_of_an_earlier_report_does_not_stay(tmp_path):
    for name, patched in (("starving", True), ("healthy_plain", False)):
        run, signals, diagnosis, lang = SAMPLES[name]()
        report.write(run, signals, diagnosis, tmp_path, ["json"], lang)
        assert (tmp_path / "fix.patch").exists() is patched


@pytest.mark.parametrize("name", ["healthy_plain", "unknown", "advice_only", "no_loader"])
def test_no_patch_where_no_edit_is_prescribed(name, tmp_path):
    run, signals, diagnosis, lang = SAMPLES[name]()
    report.write(run, signals, diagnosis, tmp_path, ["json"], lang)
    assert names(tmp_path) == ["report.json"]


@pytest.mark.parametrize(
    ("error", "slug"),
    [
        (LoaderDoctorError("pdf-libraries-missing", "No Pango."), "pdf-libraries-missing"),
        (MemoryError(), "pdf-failed"),
        (ValueError("odd font"), "pdf-failed"),
    ],
)
def test_a_failing_pdf_is_a_note(error, slug, tmp_path, monkeypatch):
    def fail(*_):
        raise error

    monkeypatch.setattr(pdf, "render", fail)
    run, signals, diagnosis, lang = SAMPLES["healthy"]()
    written = report.write(run, signals, diagnosis, tmp_path, ["html", "pdf"], lang)
    assert [path.name for path in written.files] == ["report.html", "fix.patch"]
    assert [note[0] for note in written.notes] == [slug]
    assert slug != "pdf-libraries-missing" or "apt install libpango-1.0-0" in written.notes[0][1]


def test_missing_glyphs_are_a_note(tmp_path, monkeypatch):
    drawn = pdf.Pdf(b"%PDF-", 1, True, (".notdef glyph rendered",))
    monkeypatch.setattr(pdf, "render", lambda *_: drawn)
    run, signals, diagnosis, lang = SAMPLES["chinese"]()
    written = report.write(run, signals, diagnosis, tmp_path, ["pdf"], lang)
    assert written.files[0].read_bytes() == b"%PDF-"
    assert [note[0] for note in written.notes] == ["pdf-glyphs-missing"]


def no_room_for(names, monkeypatch):
    """Files of these names cannot be written to their end."""
    whole = Path.replace

    def replace(self, target):
        if Path(target).name in names:
            raise OSError(28, "No space left on device")
        return whole(self, target)

    monkeypatch.setattr(Path, "replace", replace)


def test_a_full_disk_leaves_the_old_file_and_no_half_one(tmp_path, monkeypatch):
    (tmp_path / "report.json").write_text("old")
    no_room_for({"report.json", "fix.patch"}, monkeypatch)
    run, signals, diagnosis, lang = SAMPLES["healthy"]()
    with pytest.raises(OSError, match="No space left"):
        report.write(run, signals, diagnosis, tmp_path, ["json"], lang)
    assert names(tmp_path) == ["report.json"]
    assert (tmp_path / "report.json").read_text() == "old"


@pytest.mark.parametrize("missing", ["report.html", "report.json", "report.md", "fix.patch"])
def test_a_disk_that_fills_up_costs_the_file_that_is_named(missing, tmp_path, monkeypatch):
    no_room_for({missing}, monkeypatch)
    run, signals, diagnosis, lang = SAMPLES["starving"]()
    written = report.write(run, signals, diagnosis, tmp_path, ["html", "json", "md"], lang)
    assert written.notes == (("report-unwritten", f"{missing} was not written: No space left on device."),)
    every = {"report.html", "report.json", "report.md", "fix.patch"}
    assert {path.name for path in written.files} == every - {missing} == set(names(tmp_path))


@pytest.mark.parametrize("umask", [0o000, 0o022])
def test_a_report_is_for_its_owner_alone(umask, tmp_path):
    before = os.umask(umask)
    try:
        written = report.write(*SAMPLES["starving"]()[:3], tmp_path / "new", ["html", "pdf", "json", "md"])
    finally:
        os.umask(before)
    assert {path.stat().st_mode & 0o777 for path in written.files} == {0o600}
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700


def test_unknown_formats_are_named(tmp_path):
    with pytest.raises(LoaderDoctorError, match="docx, odt") as raised:
        report.write(*SAMPLES["healthy"]()[:3], tmp_path, ["odt", "html", "docx"])
    assert raised.value.slug == "unknown-format"
    assert names(tmp_path) == []


def test_templates_that_are_nowhere(monkeypatch, tmp_path):
    monkeypatch.setattr(templates, "FOLDERS", (tmp_path / "a", tmp_path / "b"))
    with pytest.raises(LoaderDoctorError) as raised:
        templates.find_templates()
    assert raised.value.slug == "templates-missing"


def test_an_installed_package_finds_its_own_templates_first(monkeypatch, tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a/report.html.j2").touch()
    monkeypatch.setattr(templates, "FOLDERS", (tmp_path / "a", templates.FOLDERS[1]))
    assert templates.find_templates() == tmp_path / "a"
