"""What it takes to move a batch from a worker to the training, as causes of the hand-over ask for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.base import Threshold
from loaderdoctor.causes.gates import derived
from loaderdoctor.values import Measured, Missing

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals
    from loaderdoctor.values import Value

MANY_PIECES = Threshold(
    32,
    "pieces",
    "A batch of a few fields has a few tensors; each more is a file, a descriptor and a dozen system calls.",
)
HANDLE_BYTES = 512  # of a message that stands for a tensor in shared memory: 330 to 480 in torch 2.1 to 2.14
PICKLED_PIECE_BYTES = (
    256  # an object of Python's with a number or two in it takes about so much to pickle and to make again
)


def moving(loader: LoaderSignals) -> Value:
    """Seconds to send and to receive one batch."""
    return _sum(loader.send_s, loader.receive_s)


def _sum(send: Value, receive: Value) -> Value:
    if not isinstance(receive, Measured):
        return receive
    if not isinstance(send, Measured):
        return send
    return Measured(send.value + receive.value, send.low + receive.low, send.high + receive.high, send.n, "s")


def _over_making(_signals: Signals, loader: LoaderSignals) -> Value:
    """Moving a batch over making it, the waits for a core left out."""
    moved, made, queued = moving(loader), loader.fetch_s, loader.fetch_run_queue_share
    if not isinstance(moved, Measured) or not isinstance(made, Measured):
        return moved if isinstance(moved, Missing) else made
    own_s = made.value * (1 - queued.value if isinstance(queued, Measured) else 1.0)
    if own_s <= 0:
        return Missing("no-making-time", "Making a batch takes no time that can be measured.")
    low, high = moved.low * made.value / made.high / own_s, moved.high * made.value / max(made.low, 1e-9) / own_s
    best = moved.value / own_s
    return Measured(best, min(best, low), max(best, high), moved.n, "times")


def _of_waits(_signals: Signals, loader: LoaderSignals) -> Value:
    """Moving batches over the waits for them: what else fills a wait, no worker more or less changes."""
    moved, step, compute = moving(loader), loader.step_s, loader.compute_s
    if not isinstance(moved, Measured):
        return moved
    if not isinstance(step, Measured) or not isinstance(compute, Measured):
        return step if isinstance(step, Missing) else compute
    wait_s = step.value - compute.value
    if wait_s <= 0:
        return Missing("no-waits", "The loader is not waited for in most of its steps.")
    best, low, high = (min(1.0, value / wait_s) for value in (moved.value, moved.low, moved.high))
    return Measured(best, low, high, moved.n, "share")


def _of_step(_signals: Signals, loader: LoaderSignals) -> Value:
    """Receiving a batch over a step: one process receives them all, one after the other."""
    received, step = loader.receive_s, loader.step_s
    if not isinstance(received, Measured) or not isinstance(step, Measured):
        return received if isinstance(received, Missing) else step
    best = received.value / step.value
    return Measured(best, min(best, received.low / step.high), max(best, received.high / step.low), received.n, "share")


def _pieces(_signals: Signals, loader: LoaderSignals) -> Value:
    """Tensors of a batch, and objects that are pickled with it."""
    tensors, message = loader.tensors_per_batch, loader.making.message_bytes
    if not isinstance(tensors, Measured) or not isinstance(message, Measured):
        return tensors
    pickled = max(0.0, message.value - HANDLE_BYTES * (tensors.value + 1)) / PICKLED_PIECE_BYTES
    return Measured.exact(tensors.value + pickled, "pieces", tensors.n)


MOVING_OVER_MAKING = derived("loader.send_s", "Moving a batch between processes, over making it", _over_making)
MOVING_OF_WAITS = derived("loader.send_s", "Moving batches between processes, of the waits for them", _of_waits)
RECEIVING = derived("loader.receive_s", "Taking a batch in, of a step", _of_step)
PIECES = derived("loader.tensors_per_batch", "Pieces of a batch: tensors, and what is pickled beside them", _pieces)
