"""Each batch crosses between processes as many small tensors or objects, and each of them costs by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.base import Action, Cause, Change, Interval, Signal, Threshold, Treatment
from loaderdoctor.causes.gates import at_least, has_workers, has_workload, is_torchs, value_of, waits
from loaderdoctor.causes.workers.hand_over import MANY_PIECES, PIECES, RECEIVING
from loaderdoctor.values import Measured

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals

FELT = Threshold(0.1, "share", "Receiving less of each step than this hides nothing that is worth an edit.")
PACKED = Interval(
    2.0, 8.0, 16.0
)  # tensors of a batch that is packed: a tensor a field, and one that says where each begins
EXAMPLE = """\
def collate(samples):                       # one tensor a field, and where each sample begins
    boxes = [s["boxes"] for s in samples]
    return torch.cat(boxes), torch.tensor([len(b) for b in boxes])
# after next(): boxes.split(lengths.tolist())"""


def treat(signals: Signals, loader: LoaderSignals) -> Treatment:
    """Pack it: what is paid by the piece falls with their number."""
    pieces = value_of(PIECES, signals, loader)
    count = pieces.value if isinstance(pieces, Measured) else MANY_PIECES.value
    left = Interval(*(min(1.0, kept / count) for kept in (PACKED.low, PACKED.best, PACKED.high)))
    advice = (
        "Let the collate function pack each field of the batch into one tensor, with the lengths of its parts, and split it "
        "after it has arrived."
    )
    return Treatment(
        advice,
        Change(work={"send_s": left, "receive_s": left}),
        actions=(Action("code", advice, name=loader.settings.collate, site=loader.site, example=EXAMPLE),),
    )


CAUSE = Cause(
    id="ipc-object-count",
    title="Each batch crosses between processes in many pieces",
    applies=(has_workers, is_torchs, has_workload),
    gates=(waits(), at_least(PIECES, MANY_PIECES), at_least(RECEIVING, FELT)),
    treat=treat,
    shows=(
        Signal("loader.tensors_per_batch", "Tensors of a batch"),
        Signal("loader.batch_bytes", "Bytes of all of them"),
        Signal("loader.receive_s", "Taking a batch in, in the training process"),
        Signal("loader.send_s", "Sending it"),
        Signal("loader.ready_empty_share", "Requests that found no batch ready"),
    ),
    explains=("ipc-overhead", "too-few-workers"),
)
