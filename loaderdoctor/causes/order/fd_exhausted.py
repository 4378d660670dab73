"""The process runs out of descriptors: each tensor that comes from a worker holds one, and they are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.base import Action, Cause, Gain, Interval, Signal, Threshold, Treatment
from loaderdoctor.causes.gates import at_least, has_workers

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals

NEAR_LIMIT = Threshold(
    0.8, "share", "Descriptors are counted once a second or so: the last ones before the limit are not seen."
)
NO_FASTER = Gain(Interval(1.0, 1.0, 1.0), "bound")  # it runs at all, which is no speed
_ADVICE = (
    "Keep no batches: copy what is kept (tensor.clone(), .item()) and let the batch go. Else hand tensors over by name in place of "
    "descriptors, or raise the limit with ulimit -n."
)
_EXAMPLE = (
    'torch.multiprocessing.set_sharing_strategy("file_system")  # first thing in the script, and in worker_init_fn'
)


def treat(_signals: Signals, loader: LoaderSignals) -> Treatment:
    """Fewer of them, or more allowed."""
    code = Action("code", _ADVICE, site=loader.site, example=_EXAMPLE)
    return Treatment(_ADVICE, gain=NO_FASTER, actions=(code,))


CAUSE = Cause(
    id="fd-exhausted",
    title="The process runs out of file descriptors",
    applies=(has_workers,),
    gates=(
        at_least(Signal("broken.descriptors_share", "Descriptors that a process had open, of its limit"), NEAR_LIMIT),
    ),
    treat=treat,
    shows=(Signal("loader.tensors_per_batch", "Tensors in a batch, each with a descriptor of its own"),),
    scope="run",
)
