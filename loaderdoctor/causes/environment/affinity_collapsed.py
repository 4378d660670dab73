"""Workers may run on fewer CPUs than the machine grants, and stand in line there while others idle."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from loaderdoctor import predict
from loaderdoctor.causes.base import Action, Cause, Evidence, Gain, Interval, Signal, Threshold, Treatment
from loaderdoctor.causes.gates import NO_SLOWER, WORTH, at_least, below, bound, derived, has_workers, known, waits
from loaderdoctor.values import Measured

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals
    from loaderdoctor.values import Value

ALL_OF_THEM = Threshold(1.0, "share", "Any CPU that the job may use, and its workers may not, is one too few.")
IN_LINE = Threshold(0.25, "share", "Workers that wait less for a CPU than this have enough of those that they may use.")
IDLE = Threshold(0.1, "share", "With fewer CPUs to have than this, a wider mask would find them taken.")
FAIR = 0.5  # of what others use: the scheduler shares a CPU between those that want it
_EXAMPLE = """\
mask = os.sched_getaffinity(0)           # before the library is opened
codec = Codec()
os.sched_setaffinity(0, mask)            # and again after it: workers inherit it"""


def _granted(signals: Signals, loader: LoaderSignals) -> Value:
    """CPUs of a worker's mask over those that the job was started with."""
    own, allowed = loader.making.worker_cpus, signals.machine.cpus_allowed
    if not isinstance(own, Measured):
        return own
    if not isinstance(allowed, Measured):
        return allowed
    share = min(1.0, own.value / max(1.0, allowed.value))
    return Measured(share, share, share, own.n, "share")


def _idle(signals: Signals, _loader: LoaderSignals) -> Value:
    """CPUs that this job would have under a wider mask: idle ones, and its share of those that others use."""
    own, others = signals.machine.cpu_busy_share, signals.machine.neighbour_allowed_cpu_share
    if not isinstance(own, Measured):
        return own
    taken = known(others) * FAIR
    low, best, high = (max(0.0, 1.0 - getattr(own, end) - taken) for end in ("high", "value", "low"))
    return Measured(best, low, high, own.n, "share")


def treat(signals: Signals, loader: LoaderSignals) -> Treatment | tuple[Evidence, ...]:
    """The mask that the process was started with; the gain is the recorded work on all granted CPUs."""
    gain = _on_all_cpus(signals, loader)
    if gain is None:
        gain = bound(known(loader.exposed_wait_share) * known(loader.fetch_run_queue_share))
    elif gain.speedup.best < WORTH.value or gain.speedup.low < NO_SLOWER.value:
        return (Evidence("Replayed on all CPUs", gain.speedup.best, "times as fast", WORTH.value),)
    return Treatment(
        "Give the process its CPUs back before the loader starts its workers (os.sched_setaffinity), or stop the library "
        "that binds it; for OpenMP, set OMP_PROC_BIND=false.",
        gain=gain,
        actions=(
            Action("code", "Restore the mask before the loader is built", site=loader.site, example=_EXAMPLE),
            Action("environment", "Where OpenMP binds the process", name="OMP_PROC_BIND", value="false"),
        ),
    )


def _on_all_cpus(signals: Signals, loader: LoaderSignals) -> Gain | None:
    """A replay knows of no masks: it runs the work on all CPUs that were granted, with the others' jobs there and without."""
    workload = predict.workload_of(signals, loader)
    if workload is None:
        return None
    other_s = predict.elsewhere_s(signals, workload)
    now_s = predict.recorded_s(workload) + other_s
    quiet = replace(workload, neighbour_cores=0.0)
    shared_s, alone_s = (predict.replay(one, {}).total_s + other_s for one in (workload, quiet))
    if min(shared_s, alone_s) <= 0:
        return None
    shared, alone = max(1.0, now_s / shared_s), max(1.0, now_s / alone_s)
    error = predict.MODEL_ERROR
    return Gain(Interval(shared ** (1 - error), (shared * alone) ** 0.5, alone ** (1 + error)), "simulated")


CAUSE = Cause(
    id="affinity-collapsed",
    title="The workers may run on fewer CPUs than the machine grants",
    applies=(has_workers,),
    gates=(
        waits(),
        below(
            derived("loader.making.worker_cpus", "CPUs of a worker's mask, of those that were granted", _granted),
            ALL_OF_THEM,
        ),
        at_least(Signal("loader.fetch_run_queue_share", "Batches being made wait for a core"), IN_LINE),
        at_least(derived("machine.cpu_busy_share", "CPUs that could be had meanwhile", _idle), IDLE),
    ),
    treat=treat,
    shows=(
        Signal("loader.making.worker_cpus", "CPUs that a worker may run on"),
        Signal("machine.cpus_allowed", "CPUs that the job may use"),
    ),
    explains=(
        *("too-few-workers", "too-many-workers", "thread-oversubscription", "cpu-quota", "cpu-decode", "cpu-augment"),
        *("python-overhead", "noisy-neighbour", "head-of-line", "bursty-prefetch", "audio-on-the-fly", "slow-collate"),
    ),
)
