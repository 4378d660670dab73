"""The device, or the CPU that computes, is what takes the time; the loaders keep up."""

from __future__ import annotations

from loaderdoctor.causes.base import Cause, Signal, Threshold
from loaderdoctor.causes.gates import at_least, below
from loaderdoctor.causes.not_the_loader.fed import DRAINED, FED, HOST_BEHIND

COMPUTING = Threshold(0.8, "share", "Below it, copies or other work of the step take a part that is worth a look.")
COMPUTE = Signal("steps.compute_share", "Computing, of a step")

CAUSE = Cause(
    id="gpu-bound",
    title="The device, or the CPU that computes, takes the time; the data keeps up",
    gates=(FED, below(HOST_BEHIND, DRAINED, if_known=True), at_least(COMPUTE, COMPUTING)),
    slice=COMPUTE,
    scope="run",
    is_limit=True,
)
