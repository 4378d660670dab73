"""Libraries in the workers start threads of their own, more than there are CPUs for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.base import Action, Cause, Signal, Threshold, Treatment
from loaderdoctor.causes.gates import at_least, bound, derived, has_workers, known, waits
from loaderdoctor.values import Measured

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals
    from loaderdoctor.values import Value

OTHER_THREADS = Threshold(
    0.25, "share", "A worker's own helpers, which hand batches over, use less; a pool that shares its work uses more."
)
TOO_MANY = Threshold(
    1.5,
    "a CPU",
    "One thread a CPU fills the machine; half as many again is no rounding, and the training wants one too.",
)
IN_LINE = Threshold(0.1, "share", "Threads that wait less than this for a CPU do not stand in each other's way.")
HELPERS = 2  # threads of a worker that are no pool's: its main one, and the one that hands batches over
_EXAMPLE = """\
def one_thread(worker):
    torch.set_num_threads(1)   # OpenCV: cv2.setNumThreads(0)

DataLoader(..., worker_init_fn=one_thread)"""


def _threads_a_cpu(signals: Signals, loader: LoaderSignals) -> Value:
    """Threads of all workers that may compute at once, over the CPUs that the job may use."""
    threads, cpus = loader.making.worker_threads, signals.machine.cpus_allowed
    if not isinstance(threads, Measured):
        return threads
    if not isinstance(cpus, Measured):
        return cpus
    workers = loader.settings.num_workers * signals.neighbours
    low, best, high = (
        max(1.0, getattr(threads, end) - HELPERS) * workers / cpus.value for end in ("low", "value", "high")
    )
    return Measured(best, low, high, threads.n, "a CPU")


def treat(_signals: Signals, loader: LoaderSignals) -> Treatment:
    """One thread a worker: the workers are the parallelism."""
    fought = known(loader.fetch_run_queue_share) + known(loader.fetch_blocked_share)
    return Treatment(
        "Let each worker compute with one thread (torch.set_num_threads(1), cv2.setNumThreads(0) in worker_init_fn, or "
        "OMP_NUM_THREADS=1): the workers already share the CPUs.",
        bound=bound(known(loader.exposed_wait_share) * min(1.0, fought)),
        actions=(
            Action("code", "Set one thread in each worker", site=loader.site, example=_EXAMPLE),
            Action(
                "environment",
                "Before the script starts, for pools of OpenMP and MKL",
                name="OMP_NUM_THREADS",
                value="1",
            ),
        ),
    )


CAUSE = Cause(
    id="thread-oversubscription",
    title="Libraries in the workers start more threads than there are CPUs",
    applies=(has_workers,),
    gates=(
        waits(),
        at_least(
            Signal("loader.making.worker_other_threads_share", "CPU time of a worker that its other threads use"),
            OTHER_THREADS,
        ),
        at_least(derived("loader.making.worker_threads", "Threads that may compute at once", _threads_a_cpu), TOO_MANY),
        at_least(Signal("loader.fetch_run_queue_share", "Batches being made wait for a core"), IN_LINE),
    ),
    treat=treat,
    shows=(
        Signal("loader.making.worker_threads", "Threads of a worker"),
        Signal("loader.making.worker_torch_threads", "Threads of torch's own pool in it"),
        Signal("machine.cpus_allowed", "CPUs that the job may use"),
    ),
    explains=(
        *("too-few-workers", "too-many-workers", "cpu-decode", "cpu-augment", "audio-on-the-fly", "python-overhead"),
        *("slow-collate", "head-of-line", "bursty-prefetch"),
    ),
)
