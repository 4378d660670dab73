"""Other programs keep the CPUs busy that the workers stand in line for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from loaderdoctor import predict
from loaderdoctor.causes.base import Action, Cause, Evidence, Gain, Interval, Signal, Threshold, Treatment
from loaderdoctor.causes.gates import WORTH, at_least, bound, derived, known, waits
from loaderdoctor.values import Measured

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals
    from loaderdoctor.values import Value

A_CPU = Threshold(
    0.5, "cpus", "Every machine has programs that wake up now and then; half a CPU all the time is a job."
)
IN_LINE = Threshold(0.25, "share", "Batches that wait less for a CPU are not what others hold up.")
OTHERS_PART = Threshold(
    0.3, "share", "Of the busy CPUs; where this job itself uses more than the rest, it stands in its own way."
)


def _other_cpus(signals: Signals, _loader: LoaderSignals) -> Value:
    others, allowed = signals.machine.neighbour_allowed_cpu_share, signals.machine.cpus_allowed
    if not isinstance(others, Measured):
        return others
    if not isinstance(allowed, Measured):
        return allowed
    low, high = others.low * allowed.value, others.high * allowed.value  # a burst between two looks is no job
    return Measured(low, low, high, others.n, "cpus")


def _part_of_others(signals: Signals, _loader: LoaderSignals) -> Value:
    others, own = signals.machine.neighbour_allowed_cpu_share, signals.machine.cpu_busy_share
    if not isinstance(others, Measured):
        return others
    if not isinstance(own, Measured):
        return own
    busy = others.low + own.value
    share = others.low / busy if busy > 0 else 0.0
    return Measured(share, share, share, others.n, "share")


def treat(signals: Signals, loader: LoaderSignals) -> Treatment | tuple[Evidence, ...]:
    """A machine of its own: the gain is a replay without the others."""
    workload = predict.workload_of(signals, loader)
    gain = bound(known(loader.exposed_wait_share) * known(loader.fetch_run_queue_share))
    if workload is not None:
        other_s = predict.elsewhere_s(signals, workload)
        alone_s = predict.replay(replace(workload, neighbour_cores=0.0), {}).total_s + other_s
        best = (predict.replay(workload, {}).total_s + other_s) / alone_s if alone_s > 0 else 1.0
        if best < WORTH.value:
            return (Evidence("Replayed without the others", best, "times as fast", WORTH.value),)
        gain = Gain(Interval(1.0, best, best ** (1 + predict.MODEL_ERROR)), "simulated")
    return Treatment(
        "Run the job where nothing else computes, or bind both to CPUs of their own (taskset); while others take the CPUs, the "
        "numbers of this report are those of a shared machine.",
        gain=gain,
        actions=(Action("system", "Stop or move what else computes here; see who it is with top"),),
    )


CAUSE = Cause(
    id="noisy-neighbour",
    title="Other jobs on this machine take the CPUs",
    gates=(
        waits(),
        at_least(
            derived("machine.neighbour_allowed_cpu_share", "CPUs that others keep busy at least", _other_cpus), A_CPU
        ),
        at_least(Signal("loader.fetch_run_queue_share", "Batches being made wait for a core"), IN_LINE),
        at_least(
            derived("machine.cpu_busy_share", "Part of others in the busy CPUs at least", _part_of_others), OTHERS_PART
        ),
    ),
    treat=treat,
    shows=(
        Signal("machine.cpu_busy_share", "CPUs that this job keeps busy"),
        Signal("machine.stolen_cpu_share", "CPU time that the host took"),
    ),
)
