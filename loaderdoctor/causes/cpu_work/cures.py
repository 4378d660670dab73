"""What the causes of CPU work ask alike, and their cures: less work at a place in the code, weighed against more workers."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from loaderdoctor import predict
from loaderdoctor.causes.base import Action, Change, Evidence, Interval, Threshold, Treatment
from loaderdoctor.causes.engine import is_worth, simulated
from loaderdoctor.causes.gates import counted, derived, known
from loaderdoctor.predict import part_scaled
from loaderdoctor.values import Measured

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import HotPlace, LoaderSignals, Signals
    from loaderdoctor.values import Value

COMPUTED = Threshold(0.5, "share", "Where most of the making is waiting, less computing shortens little of it.")
MAIN_PART = Threshold(0.3, "share", "A part smaller than this, even gone entirely, leaves most of the work as it is.")
AS_GOOD = 0.95  # of the code's gain: more workers on free cores that gain as much ask for no other code
# The factors of what is left of the work, from the best case to the poorest, come from public reports of such cures.


def _computed(_signals: Signals, loader: LoaderSignals) -> Value:
    """Waits for a core are no other kind of work: they say that there is too much of it."""
    cpu, queued = loader.fetch_cpu_share, known(loader.fetch_run_queue_share)
    if not isinstance(cpu, Measured) or queued >= 1:
        return cpu
    low, best, high = (min(1.0, end / (1 - queued)) for end in (cpu.low, cpu.value, cpu.high))
    return Measured(best, low, high, cpu.n, cpu.unit)


COMPUTING = derived("loader.fetch_cpu_share", "Making a batch is computing, waits for a core aside", _computed)


def _busy(_signals: Signals, loader: LoaderSignals) -> Value:
    return loader.worker_busy_share if loader.settings.num_workers else Measured.exact(1.0, "share")


BUSY = derived("loader.worker_busy_share", "Who makes batches does so, of its time", _busy)
AT_WORK = Threshold(
    0.75, "share", "Workers that idle for more than a quarter of their time keep up: something else is waited for."
)


def less_work(
    signals: Signals,
    loader: LoaderSignals,
    share: Value,
    left: Interval,
    what: tuple[str, HotPlace | None, str],  # advice, place, example
) -> Treatment | tuple[Evidence, ...]:
    """The cure of a share of the CPU work of which `left` remains; none where more workers on free cores do as well."""
    advice, place, example = what
    change = Change(work={"cpu_s": part_scaled(1.0, known(share), left)})
    other = _by_workers(signals, loader, change)
    if other is not None:
        return (other,)
    return Treatment(
        f"In {_where(place)}: {advice}" if place else advice,
        change,
        actions=(Action("code", advice, site=place.site if place else None, example=example),),
        shows=(placed(place),) if place else (),
    )


def _where(place: HotPlace) -> str:
    """The function with its file and line."""
    name = PurePath(place.site.file.replace("\\", "/")).name
    return f"{place.function} ({name}:{place.site.line})"


def placed(place: HotPlace) -> Evidence:
    """Where the work is done, and its share of the CPU time of making a batch."""
    through = f" (through {place.calls})" if place.calls else ""
    return Evidence(f"{_where(place)}{through}, of the CPU time of making a batch", known(place.share), "share")


def _by_workers(signals: Signals, loader: LoaderSignals, change: Change) -> Evidence | None:
    """What more workers gain, where cores are free for them and they gain as much as the change of the code."""
    workload = predict.workload_of(signals, loader)
    if workload is None or not loader.settings.torch_loader:
        return None
    workers = predict.fewest_workers(workload)
    if workers <= loader.settings.num_workers:
        return None
    by_workers = simulated(signals, workload, Change({"num_workers": workers}))
    by_code = simulated(signals, workload, change)
    if not is_worth(by_workers) or by_workers.speedup.best < by_code.speedup.best * AS_GOOD:
        return None
    text = f"Cores are free: {counted(workers)} gain as much as less work would"
    return Evidence(text, by_workers.speedup.best, "times as fast", by_code.speedup.best)
