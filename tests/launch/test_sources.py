"""Which source texts a run keeps: of the files that build loaders, and of the script's own that hold their datasets."""

from __future__ import annotations

import json
import os
from dataclasses import replace

from builders import Records

from loaderdoctor.launch.ending import MOST_SOURCE_BYTES, gather_sources


def kept(tmp_path, settings, site=""):
    records = Records(100)
    records.put("loader", loader=1, site_text=records.text(site), settings_text=records.text(settings))
    gather_sources(tmp_path, [records.done()])
    return json.loads((tmp_path / "sources.json").read_text(encoding="utf-8"))


def test_the_builders_and_the_datasets_files_are_kept(tmp_path):
    train, data = tmp_path / "train.py", tmp_path / "data.py"
    train.write_text("DataLoader(data)\n", encoding="utf-8")
    data.write_text("class Data: ...\n", encoding="utf-8")
    found = kept(tmp_path, json.dumps({"dataset_files": [str(data), str(tmp_path / "gone.py")]}), f"{train}:1")
    assert found == {str(train): "DataLoader(data)\n", str(data): "class Data: ...\n"}


def test_what_nobody_wrote_by_hand_is_left_out(tmp_path):
    large = tmp_path / "large.py"
    large.write_bytes(b"#" * (MOST_SOURCE_BYTES + 1))
    assert kept(tmp_path, json.dumps({"dataset_files": [str(large)]})) == {}


def test_a_file_that_was_written_while_it_ran_is_no_longer_what_ran(tmp_path):
    train = tmp_path / "train.py"
    train.write_text("DataLoader(data)\n", encoding="utf-8")
    records = Records(100)
    records.put("loader", loader=1, site_text=records.text(f"{train}:1"), settings_text=records.text("{}"))
    process = records.done()

    def kept_by(began_ns):
        gather_sources(tmp_path, [replace(process, header={**process.header, "unix_ns": began_ns})])
        return json.loads((tmp_path / "sources.json").read_text(encoding="utf-8"))

    written_ns = train.stat().st_mtime_ns
    assert kept_by(written_ns - 1) == {}
    assert kept_by(written_ns + 1) == {str(train): "DataLoader(data)\n"}
    train.write_text("# edited\n", encoding="utf-8")
    os.utime(train, ns=(written_ns + 9, written_ns + 9))
    assert kept_by(written_ns + 1) == {str(train): "DataLoader(data)\n"}  # as the report before had it


def test_settings_that_were_half_written_cost_nothing(tmp_path):
    assert kept(tmp_path, '{"dataset_files": ["/home') == {}
