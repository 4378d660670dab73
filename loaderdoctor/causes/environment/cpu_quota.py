"""A control group or a scheduler grants fewer CPUs than the machine shows, and stops what wants more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.base import Action, Cause, Signal, Threshold, Treatment
from loaderdoctor.causes.gates import at_least, below, bound, derived, known, waits
from loaderdoctor.values import Measured

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals
    from loaderdoctor.values import Value

ALL_OF_THEM = Threshold(1.0, "share", "A job that was granted every CPU is held back by none.")
HELD_BACK = Threshold(
    0.1, "share", "What is stopped, or stands in line, for less of its time than this has CPUs enough for its work."
)


def _granted(signals: Signals, _loader: LoaderSignals) -> Value:
    allowed, present = signals.machine.cpus_allowed, signals.machine.cpus_present
    if not isinstance(allowed, Measured):
        return allowed
    if not isinstance(present, Measured):
        return present
    return Measured.exact(min(1.0, allowed.value / max(1.0, present.value)), "share")


def _held_back(signals: Signals, loader: LoaderSignals) -> Value:
    """Stopped for a quota; without one, in line for the CPUs of a narrow grant where more processes want them."""
    stopped, in_line, allowed = (
        signals.machine.throttled_share,
        loader.fetch_run_queue_share,
        signals.machine.cpus_allowed,
    )
    by_quota = signals.machine.facts.get("cpus_allowed_by") == "quota"
    processes = loader.settings.num_workers + 1
    if by_quota or not isinstance(allowed, Measured) or not isinstance(in_line, Measured):
        return stopped
    return in_line if processes > allowed.value else Measured.exact(0.0, "share")


def treat(signals: Signals, loader: LoaderSignals) -> Treatment:
    """More CPUs, or as many workers and threads as there are."""
    cpus = known(signals.machine.cpus_allowed)
    return Treatment(
        f"Ask for more CPUs (docker --cpus, limits.cpu, --cpus-per-task and srun -c), or size workers and their threads to the "
        f"{cpus:g} that are granted.",
        bound=bound(known(loader.exposed_wait_share) * (1 - known(_granted(signals, loader), 1.0))),
        actions=(
            Action("system", "Ask the scheduler or the container's limits for more CPUs", name="cpus"),
            Action("environment", "So many threads as are granted, at most", name="OMP_NUM_THREADS", value="1"),
        ),
    )


CAUSE = Cause(
    id="cpu-quota",
    title="The job is granted fewer CPUs than it sees",
    gates=(
        waits(),
        below(derived("machine.cpus_allowed", "CPUs granted, of those that the machine has", _granted), ALL_OF_THEM),
        at_least(derived("machine.throttled_share", "Held back for want of granted CPUs", _held_back), HELD_BACK),
    ),
    treat=treat,
    shows=(
        Signal("machine.cpus_allowed", "CPUs that the job may use"),
        Signal("machine.cpus_present", "CPUs of the machine"),
        Signal("machine.throttled_share", "Periods of the quota in which the job was stopped"),
    ),
    explains=("too-many-workers",),
)
