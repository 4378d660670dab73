"""ipc-object-count: found where a batch of many pieces takes the training long to take in."""

from __future__ import annotations

import pytest
from ailing import answer, on_a_cpu, workers_busy
from builders import around, exact

from loaderdoctor.analyse.signals import MakingSignals
from loaderdoctor.causes.workers.hand_over import HANDLE_BYTES, MANY_PIECES, PICKLED_PIECE_BYTES
from loaderdoctor.causes.workers.ipc_object_count import FELT


def in_pieces(tensors=112, **overrides):
    """Batches of 112 tensors take 60 ms to take in, and are used in 30 ms."""
    work = {"cpu_s": 0.009, "blocked_s": 0.05, "send_s": 0.014, "receive_s": 0.06, "compute_s": 0.03, "wait_s": 0.062}
    return workers_busy(
        **{
            "work": work,
            "exposed_wait_share": around(0.67, spread=0.03),
            "receive_s": around(0.06, "s"),
            "send_s": around(0.014, "s"),
            "step_s": around(0.092, "s"),
            "worker_busy_share": around(0.3),
            "tensors_per_batch": exact(tensors, "tensors"),
            **overrides,
        }
    )


def test_found_with_code_that_packs():
    finding = answer("ipc-object-count", on_a_cpu(in_pieces()))
    assert finding.status == "found"
    assert finding.prescription.settings == {}
    assert "torch.cat" in finding.prescription.actions[0].example
    assert finding.gain.speedup.low > 1.5


@pytest.mark.parametrize(("tensors", "status"), [(MANY_PIECES.value, "found"), (MANY_PIECES.value - 1, "ruled-out")])
def test_fewer_pieces_are_another_illness(tensors, status):
    assert answer("ipc-object-count", on_a_cpu(in_pieces(tensors))).status == status


@pytest.mark.parametrize(("objects", "status"), [(40, "found"), (10, "ruled-out")])
def test_objects_that_are_pickled_are_pieces_too(objects, status):
    message = 3 * HANDLE_BYTES + objects * PICKLED_PIECE_BYTES
    one = in_pieces(2, making=MakingSignals(message_bytes=exact(message, "bytes")))
    assert answer("ipc-object-count", on_a_cpu(one)).status == status


def test_pieces_that_are_taken_in_at_once_do_no_harm():
    one = in_pieces(receive_s=exact(0.092 * FELT.value * 0.9, "s"))
    assert answer("ipc-object-count", on_a_cpu(one)).status == "ruled-out"


def test_a_wide_batch_of_few_tensors_is_another_illness():
    one = in_pieces(2, batch_bytes=exact(64 << 20, "bytes"))
    assert answer("ipc-object-count", on_a_cpu(one)).status == "ruled-out"
