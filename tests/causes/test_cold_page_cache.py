"""cold-page-cache: found where only the first pass over the data is slow, and waits there alone."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ailing import answer, on_a_cpu, workers_busy
from slow_reads import passes

from loaderdoctor.analyse.signals import PassSignals
from loaderdoctor.causes import diagnose
from loaderdoctor.causes.gates import STARVES
from loaderdoctor.causes.storage.cold_page_cache import FIRST, SLOWER
from loaderdoctor.values import Missing


def cold(first_s=0.03, later_s=0.001, first_waits=0.99, disk_shares=(1.0, 0.0), wait=0.33):
    return on_a_cpu(workers_busy(wait=wait, passes=passes(first_s, later_s, first_waits, disk_shares)))


def test_found_as_a_phase_that_no_setting_cures():
    finding = answer("cold-page-cache", cold())
    assert (finding.status, finding.prescription.settings, finding.gain.basis) == ("found", {}, "bound")
    assert finding.prescription.advice.startswith("Nothing for a long training")


def test_settings_that_would_cure_the_first_pass_are_not_prescribed():
    diagnosis = diagnose(cold())
    assert diagnosis.cause == "cold-page-cache"
    assert not any(one.prescription.settings for one in diagnosis.findings if one.status == "found")


def test_what_the_dataset_keeps_itself_is_filled_by_code():
    kept = answer("cold-page-cache", cold(disk_shares=(0.0, 0.0)))
    assert (kept.status, kept.prescription.actions[0].kind) == ("found", "code")


@pytest.mark.parametrize(("times", "status"), [(SLOWER.value, "found"), (SLOWER.value * 0.99, "ruled-out")])
def test_passes_that_take_alike_are_alike(times, status):
    assert answer("cold-page-cache", cold(0.01 * times, 0.01)).status == status


@pytest.mark.parametrize(("share", "status"), [(FIRST.value, "found"), (FIRST.value - 0.01, "ruled-out")])
def test_waits_in_every_pass_are_another_illness(share, status):
    assert answer("cold-page-cache", cold(first_waits=share, wait=0.2)).status == status


def test_later_passes_that_starve_on_their_own_are_another_illness():
    finding = answer("cold-page-cache", cold(first_waits=0.85, wait=0.6))
    assert (finding.status, finding.evidence[0].threshold) == ("ruled-out", STARVES.value)


def test_one_pass_says_nothing_of_others():
    one = workers_busy(passes=replace(PassSignals(), first_made_s=Missing("one-epoch", "One pass.")))
    assert answer("cold-page-cache", on_a_cpu(one)).status == "no-data"
