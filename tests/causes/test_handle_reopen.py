"""handle-reopen: found where a reader that is the same for every sample is built for each."""

from __future__ import annotations

import pytest
from ailing import answer
from builders import exact
from slow_reads import LINE, reading

from loaderdoctor.causes import diagnose
from loaderdoctor.causes.storage.handle_reopen import OPENS
from loaderdoctor.values import Missing


def reopening(share=0.8, **reads):
    given = {"opening_share": exact(share), "opening_site": LINE, "opening_call": "zipfile.ZipFile", **reads}
    return reading(
        waits_for_disk=0.0, reads={"reading_share": exact(0.05), **given}, batch_bytes=exact(1 << 20, "bytes")
    )


def test_found_at_the_line_that_opens_with_what_it_calls():
    finding = answer("handle-reopen", reopening())
    assert (finding.status, finding.gain.basis, finding.prescription.settings) == ("found", "simulated", {})
    action = finding.prescription.actions[0]
    assert action.site == LINE
    assert "zipfile.ZipFile" in action.example


def test_it_takes_the_place_of_what_it_reads_and_of_too_few_workers():
    said = {
        one.cause: one
        for one in diagnose(reopening(asked_bytes=exact(50 << 20, "bytes"), reading_share=exact(0.5))).findings
    }
    assert said["handle-reopen"].status == "found"
    assert said["read-amplification"].explained_by == "handle-reopen"
    assert said["too-few-workers"].explained_by == "handle-reopen"


@pytest.mark.parametrize(("share", "status"), [(OPENS.value + 0.1, "found"), (OPENS.value - 0.01, "ruled-out")])
def test_what_opens_quickly_may_open_often(share, status):
    assert answer("handle-reopen", reopening(share)).status == status


def test_many_files_that_are_opened_once_each_are_another_illness():
    finding = answer("handle-reopen", reopening(0.0, opening_site=None, opening_call=""))
    assert (finding.status, finding.evidence[0].value) == ("ruled-out", 0.0)


def test_code_that_was_not_kept_gives_no_data():
    assert answer("handle-reopen", reopening(opening_share=Missing("no-source", "Not kept."))).status == "no-data"
