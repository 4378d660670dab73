"""read-amplification: found where much more is read than is handed on, and reading is what takes the time."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ailing import answer
from builders import exact, machine
from slow_reads import LINE, disk, reading

from loaderdoctor.causes import diagnose
from loaderdoctor.causes.storage.read_amplification import AMPLIFIED, MATERIAL, READS
from loaderdoctor.values import Missing

BATCH = 32  # samples
DELIVERED = 1 << 20  # bytes of a batch


def amplified(times=50.0, *, share=0.9, delivered=DELIVERED, **overrides):
    """A run that reads so many times what it delivers, from memory."""
    reads = {
        "asked_bytes": exact(times * delivered, "bytes"),
        "reading_share": exact(share),
        "opening_share": exact(0.0),
    }
    return reading(waits_for_disk=0.0, reads=reads, batch_bytes=exact(delivered, "bytes"), **overrides)


def test_found_at_the_line_that_reads_with_a_replayed_gain():
    finding = answer("read-amplification", amplified())
    assert (finding.status, finding.gain.basis, finding.prescription.settings) == ("found", "simulated", {})
    assert finding.prescription.actions[0].site == LINE
    assert "50 times" in finding.prescription.advice


@pytest.mark.parametrize(("times", "status"), [(AMPLIFIED.value, "found"), (AMPLIFIED.value * 0.99, "ruled-out")])
def test_formats_may_be_larger_than_what_they_hold(times, status):
    assert answer("read-amplification", amplified(times)).status == status


@pytest.mark.parametrize(("size", "status"), [(MATERIAL.value, "found"), (MATERIAL.value - 1, "ruled-out")])
def test_little_is_read_in_a_moment_however_little_of_it_is_used(size, status):
    assert answer("read-amplification", amplified(size * BATCH / 1000, delivered=1000)).status == status


@pytest.mark.parametrize(("share", "status"), [(READS.value + 0.2, "found"), (READS.value - 0.01, "ruled-out")])
def test_decoding_what_was_read_is_another_illness(share, status):
    assert answer("read-amplification", amplified(share=share)).status == status


def test_a_full_disk_comes_first():
    run = reading(
        of=disk(),
        reads={"asked_bytes": exact(50 * DELIVERED, "bytes"), "reading_share": exact(0.9)},
        batch_bytes=exact(DELIVERED, "bytes"),
    )
    said = {one.cause: one for one in diagnose(run).findings}
    assert said["storage-bandwidth"].status == "found"
    assert said["read-amplification"].explained_by == "storage-bandwidth"


def test_without_stacks_there_is_no_data():
    run = reading(reads={"asked_bytes": exact(50 * DELIVERED, "bytes"), "reading_share": Missing("no-stacks", "None.")})
    assert answer("read-amplification", run).status in {"no-data", "ruled-out"}


def test_a_replay_that_other_jobs_make_unsure_is_a_bound():
    run = amplified()
    crowded = machine(cpus_allowed=exact(2, "cpus"), neighbour_allowed_cpu_share=exact(0.9))
    one = replace(run.loaders[0], workload=replace(run.loaders[0].workload, cores=2.0))
    finding = answer("read-amplification", replace(run, loaders=(one,), machine=crowded))
    assert finding.status == "found"
    assert finding.gain.speedup.low >= 1
