"""The process is bound to CPUs that are far from its device, and its copies cross from one socket to the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.base import Action, Cause, Signal, Threshold, Treatment
from loaderdoctor.causes.gates import EXPOSED_COPIES, at_least, below, bound, known

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals

COPIES_MATTER = Threshold(0.1, "share", "Where copies are less of the time, binding was measured to gain nothing.")
NEAR = Threshold(
    0.25, "share", "A process that may run on more of the device's own CPUs than this is not bound away from it."
)
GAINED = 0.5  # of the copies' time: twice the speed and more was measured on the right node, in public reports


def treat(signals: Signals, _loader: LoaderSignals) -> Treatment:
    """The process beside its device."""
    return Treatment(
        "Bind each rank and its memory to the node of its device (numactl --cpunodebind=N --membind=N).",
        bound=bound(known(signals.device.copy_share) * GAINED),
        actions=(Action("system", "numactl --cpunodebind=N --membind=N python train.py; nvidia-smi topo -m names N"),),
        doubts=("How fast the copies would be from the other node is not in a recording.",),
    )


CAUSE = Cause(
    id="numa-misplacement",
    title="The process is bound away from its device",
    gates=(
        at_least(EXPOSED_COPIES, COPIES_MATTER),
        below(Signal("hardware.cpus_near_device", "CPUs of the process that are near its device"), NEAR),
    ),
    treat=treat,
    shows=(Signal("device.copy_bandwidth", "Speed of the copies"),),
    slice=EXPOSED_COPIES,
    scope="run",
)
