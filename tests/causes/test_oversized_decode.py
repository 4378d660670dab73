"""oversized-decode: most of the decoded pixels are thrown away, which explains that decoding takes the CPUs."""

from __future__ import annotations

import pytest
from ailing import answer, computing, hot, on_a_cpu

from loaderdoctor.causes import diagnose
from loaderdoctor.causes.cpu_work.cures import MAIN_PART
from loaderdoctor.causes.cpu_work.oversized_decode import LARGE


def oversized(times=60.0, **shares):
    given = {"decode": 0.5, "resize": 0.3, **shares}
    return on_a_cpu(computing(oversize=times, places=(hot("decode", calls="Image.convert"),), **given))


def test_found_with_the_way_of_the_decoder_itself():
    finding = answer("oversized-decode", oversized())
    assert finding.status == "found"
    assert finding.gain.speedup.best > 1.3
    assert "draft" in finding.prescription.actions[0].example


def test_it_explains_decoding_and_shrinking_is_no_transform():
    run = diagnose(oversized(decode=0.4, resize=0.55))
    status = {one.cause: (one.status, one.explained_by) for one in run.findings}
    assert run.cause == "oversized-decode"
    assert status["cpu-decode"] == ("explained", "oversized-decode")
    assert status["cpu-augment"][0] == "ruled-out"


@pytest.mark.parametrize(("times", "first"), [(LARGE.value, "oversized-decode"), (LARGE.value - 0.1, "cpu-decode")])
def test_images_hardly_larger_than_what_is_used_are_plain_decoding(times, first):
    run = diagnose(oversized(times, decode=0.8, resize=0.1))
    assert run.cause == first


def test_sizes_that_were_not_seen_are_no_data():
    finding = answer("oversized-decode", on_a_cpu(computing(decode=0.6, resize=0.2)))
    assert finding.status == "no-data"


@pytest.mark.parametrize(("decode", "status"), [(MAIN_PART.value, "found"), (MAIN_PART.value - 0.02, "ruled-out")])
def test_a_small_part_of_the_work_is_not_it(decode, status):
    assert answer("oversized-decode", oversized(decode=decode, resize=0.01)).status == status
