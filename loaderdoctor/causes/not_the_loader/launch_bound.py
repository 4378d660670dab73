"""The host cannot launch kernels as fast as the device runs them; the loaders keep up."""

from __future__ import annotations

from loaderdoctor.causes.base import Cause, Signal
from loaderdoctor.causes.gates import at_least, below
from loaderdoctor.causes.not_the_loader.fed import DRAINED, FED, HOST_BEHIND, SYNCED

SYNCS = Signal("device.syncs_per_step", "Waits of the host for the device")

CAUSE = Cause(
    id="launch-bound",
    title="The host launches kernels more slowly than the device runs them; the data keeps up",
    gates=(FED, below(SYNCS, SYNCED), at_least(HOST_BEHIND, DRAINED)),
    scope="run",
    is_limit=True,
)
