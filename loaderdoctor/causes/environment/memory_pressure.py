"""Memory is short: processes wait while the kernel swaps or gathers pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.base import Action, Cause, Signal, Threshold, Treatment
from loaderdoctor.causes.gates import at_least, bound, known, waits

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals

SHORT = Threshold(0.05, "share", "Below, tasks wait for memory no longer than two runs of one script differ.")
PRESSURE = Signal("machine.memory_pressure_share", "Time in which some task waited for memory")


def treat(signals: Signals, loader: LoaderSignals) -> Treatment:
    """Hold less: fewer workers, shallower prefetch, bounded caches."""
    return Treatment(
        "Hold less memory: fewer workers, a smaller prefetch_factor, bounded caches, state that workers share; or ask for more.",
        bound=bound(min(known(loader.exposed_wait_share), known(signals.machine.memory_pressure_share))),
        actions=(
            Action(
                "code", "Fewer batches on their way", site=loader.site, example="DataLoader(..., prefetch_factor=1)"
            ),
            Action("system", "Raise the memory limit of the job, or move what else fills the machine"),
        ),
    )


CAUSE = Cause(
    id="memory-pressure",
    title="Memory is short, and every process waits for it",
    gates=(waits(), at_least(PRESSURE, SHORT)),
    treat=treat,
    shows=(
        Signal("machine.swapped_bytes_per_s", "Moved to and from swap"),
        Signal("machine.memory_available_bytes", "Memory that was left"),
        Signal("machine.memory_limit_bytes", "Memory that the job may use"),
    ),
)
