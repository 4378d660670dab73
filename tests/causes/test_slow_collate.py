"""slow-collate: the script's own collate function takes longer than the samples."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ailing import answer, computing, hot, on_a_cpu
from builders import around

from loaderdoctor.causes.cpu_work.slow_collate import DEFAULT, MOST_OF_IT


def collating(share=0.9, collate="__main__.pad", **shares):
    one = computing(places=(hot("collate"),), **shares)
    settings = replace(one.settings, collate=collate)
    fetch, collated = around(0.03, "s", 0.01), around(0.03 * share, "s", 0.01)
    return on_a_cpu(replace(one, settings=settings, fetch_s=fetch, collate_s=collated))


def test_found_at_the_function_that_pads():
    finding = answer("slow-collate", collating())
    assert (finding.status, finding.prescription.settings) == ("found", {})
    assert finding.gain.speedup.best > 1.3
    assert finding.prescription.actions[0].site.line == 41


@pytest.mark.parametrize(
    ("share", "status"), [(MOST_OF_IT.value + 0.01, "found"), (MOST_OF_IT.value - 0.01, "ruled-out")]
)
def test_a_small_part_of_the_work_is_not_it(share, status):
    finding = answer("slow-collate", collating(share))
    assert finding.status == status


def test_torchs_own_is_as_slow_as_samples_are_many():
    assert answer("slow-collate", collating(collate=f"{DEFAULT}default_collate")).status == "not-applicable"


def test_samples_that_take_the_time_are_another_illness():
    finding = answer("slow-collate", collating(0.02, transform=0.9))
    assert (finding.status, finding.evidence[0].threshold) == ("ruled-out", MOST_OF_IT.value)
