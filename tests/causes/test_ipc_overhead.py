"""ipc-overhead: found where a batch takes longer to move than to make."""

from __future__ import annotations

import pytest
from ailing import answer, on_a_cpu, workers_busy
from builders import around, exact

from loaderdoctor.causes.workers.hand_over import MANY_PIECES
from loaderdoctor.causes.workers.ipc_overhead import FILLS


def cheap(**overrides):
    """Batches of 0.15 ms take 1.9 ms to move, and are used in 1.4 ms."""
    work = {"cpu_s": 0.00015, "blocked_s": 0.0, "send_s": 0.0004, "receive_s": 0.0014, "compute_s": 0.0014}
    return workers_busy(
        **{
            "work": {**work, "wait_s": 0.0019},
            "exposed_wait_share": around(0.57, spread=0.03),
            "fetch_s": around(0.00015, "s"),
            "send_s": around(0.0004, "s"),
            "receive_s": around(0.0014, "s"),
            "step_s": around(0.0033, "s"),
            "compute_s": around(0.0014, "s"),
            "worker_busy_share": around(0.04),
            **overrides,
        }
    )


def test_found_and_cured_without_workers():
    finding = answer("ipc-overhead", on_a_cpu(cheap(), measured_s=180 * 0.0033))
    assert finding.status == "found"
    assert finding.prescription.settings == {"num_workers": 0, "persistent_workers": False}
    assert finding.gain.speedup.low > 1.2


@pytest.mark.parametrize(("made_s", "status"), [(0.0017, "found"), (0.0019, "ruled-out")])
def test_batches_that_take_longer_to_make_than_to_move_are_not_it(made_s, status):
    one = cheap(fetch_s=exact(made_s, "s"), fetch_run_queue_share=exact(0.0))
    assert answer("ipc-overhead", on_a_cpu(one)).status == status


def test_a_replay_that_is_no_faster_rules_it_out():
    one = cheap(work={"cpu_s": 0.02, "blocked_s": 0.0, "send_s": 0.0004, "receive_s": 0.0014, "compute_s": 0.03})
    assert answer("ipc-overhead", on_a_cpu(one)).status == "ruled-out"


def test_many_pieces_are_another_illness():
    finding = answer("ipc-overhead", on_a_cpu(cheap(tensors_per_batch=exact(112, "tensors"))))
    assert (finding.status, finding.evidence[0].threshold) == ("ruled-out", MANY_PIECES.value)


def test_a_sampler_that_fills_the_waits_is_another_illness():
    finding = answer("ipc-overhead", on_a_cpu(cheap(step_s=exact(0.02, "s"))))
    assert (finding.status, finding.evidence[0].threshold) == ("ruled-out", FILLS.value)


def test_a_loader_without_workers_moves_nothing():
    assert answer("ipc-overhead", on_a_cpu(workers_busy(0))).status == "not-applicable"


def test_hand_overs_that_wait_for_a_core_are_another_illness():
    assert answer("ipc-overhead", on_a_cpu(cheap(fetch_run_queue_share=exact(0.8)))).status == "ruled-out"
