"""Samples that lie in memory are taken one by one and stacked again, where one indexing would give the whole batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.analyse.signals import Site
from loaderdoctor.causes.base import Action, Cause, Change, Interval, Signal, Threshold, Treatment
from loaderdoctor.causes.cpu_work.slow_collate import collating, has_its_own
from loaderdoctor.causes.gates import at_least, below, derived, has_workload, is_torchs, waits
from loaderdoctor.values import Measured, Missing

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals
    from loaderdoctor.values import Value

FINE = Threshold(
    150e-6, "s", "A sample that takes less is a few dozen calls of Python's; one that is computed or read takes more."
)
COMPUTES = Threshold(0.5, "share", "Samples that are waited for do not lie in memory.")
IN_MEMORY = Threshold(64 << 10, "bytes", "Data that lies in memory is not read; some files of the system are.")
COLLATED = Threshold(
    0.5,
    "share",
    "Where the script's own collate_fn takes most of a batch, that is what takes long, and not how samples are taken.",
)
NAMED = Threshold(0.5, "share", "Where a library decodes or transforms the samples, that is what takes the time.")
LEFT = Interval(
    0.03, 0.1, 0.3
)  # of the CPU time: gathering a batch at once was reported, and measured, 3 to 30 times faster
EXAMPLE = """\
def __getitems__(self, rows):
    rows = torch.as_tensor(rows)
    return self.inputs[rows], self.targets[rows]
# and DataLoader(..., collate_fn=lambda batch: batch)"""
_OWN = "__getitem__"


def _takes_one_by_one(_signals: Signals, loader: LoaderSignals) -> str | None:
    settings = loader.settings
    if settings.dataset_kind == "iterable":
        return "The dataset is a stream: it has no samples to take at once."
    if settings.batched_fetch:
        return "The dataset makes all samples of a batch in one call."
    return None


def _per_sample(_signals: Signals, loader: LoaderSignals) -> Value:
    """Making a batch, its collating with it, over its samples; waits for a core left out."""
    made, samples, queued = loader.fetch_s, loader.making.samples, loader.fetch_run_queue_share
    if not isinstance(made, Measured) or not isinstance(samples, Measured):
        return made if isinstance(made, Missing) else samples
    scale = (1 - queued.value if isinstance(queued, Measured) else 1.0) / samples.value
    return Measured(made.value * scale, made.low * scale, made.high * scale, made.n, "s")


def _computing(_signals: Signals, loader: LoaderSignals) -> Value:
    """CPU time of making a batch, of its time without waits for a core."""
    cpu, queued = loader.fetch_cpu_share, loader.fetch_run_queue_share
    if not isinstance(cpu, Measured):
        return cpu
    scale = 1 / max(1e-9, 1 - (queued.value if isinstance(queued, Measured) else 0.0))
    best, low, high = (min(1.0, value * scale) for value in (cpu.value, cpu.low, cpu.high))
    return Measured(best, low, high, cpu.n, cpu.unit)


def _in_libraries(_signals: Signals, loader: LoaderSignals) -> Value:
    """Of making a batch: reading, decoding and transforming by libraries that are known."""
    made = loader.fetch_s
    if not isinstance(made, Measured):
        return made
    named = [stage.seconds_per_batch for stage in loader.stages if stage.name in {"read", "decode", "transform"}]
    seconds = sum(value.value for value in named if isinstance(value, Measured))
    return Measured.exact(min(1.0, seconds / made.value) if made.value > 0 else 0.0, "share", made.n)


def _own_collating(signals: Signals, loader: LoaderSignals) -> Value:
    """Of making a batch; torch's own collating is a part of what one indexing saves."""
    return Measured.exact(0.0, "share") if has_its_own(signals, loader) else collating(signals, loader)


_TORCHS = ("torch.", "torchvision.")
SAMPLE = derived("loader.sample_s", "One sample, its part of the collating with it", _per_sample)
COMPUTING = derived("loader.fetch_cpu_share", "Making a batch is computing", _computing)
LIBRARIES = derived(
    "loader.fetch_s", "Making a batch is work of libraries that read, decode and transform", _in_libraries
)


OWN_COLLATING = derived(
    "loader.collate_s", "The script's own collate_fn, of the time of making a batch", _own_collating
)


def treat(_signals: Signals, loader: LoaderSignals) -> Treatment:
    """One call for the whole batch: its cost is paid once, and the bytes are gathered by compiled code."""
    advice = (
        f"Give {_whose(loader.settings.dataset_type)} a __getitems__ that takes a whole batch by one indexing, and a collate_fn "
        "that leaves it as it is."
    )
    return Treatment(
        advice,
        Change(work={"cpu_s": LEFT}),
        actions=(Action("code", advice, name=_OWN, site=_own_site(loader), example=EXAMPLE),),
    )


def _whose(dataset_type: str) -> str:
    """What is to have it: a class of torch is not the script's to change."""
    name = dataset_type.rpartition(".")[2]
    if dataset_type.startswith(_TORCHS):
        return f"a subclass of {name}"
    return name or "the dataset"


def _own_site(loader: LoaderSignals) -> Site | None:
    """Where the dataset makes a sample, if it was seen; else where the loader is built."""
    return next(
        (Site(hot.file, hot.line) for hot in loader.hot_functions if hot.function.endswith(_OWN) and hot.line),
        loader.site,
    )


CAUSE = Cause(
    id="per-sample-fetch",
    title="Data that lies in memory is fetched one sample at a time",
    applies=(is_torchs, has_workload, _takes_one_by_one),
    gates=(
        waits(),
        below(SAMPLE, FINE),
        at_least(COMPUTING, COMPUTES),
        below(Signal("loader.making.read_bytes", "Bytes read for a batch"), IN_MEMORY, if_known=True),
        below(LIBRARIES, NAMED),
        below(OWN_COLLATING, COLLATED, if_known=True),
    ),
    treat=treat,
    shows=(
        Signal("loader.fetch_s", "Making a batch"),
        Signal("loader.making.samples", "Samples of a batch"),
        Signal("loader.collate_s", "Stacking them, of that"),
    ),
    explains=("no-workers", "too-few-workers", "slow-collate", "python-overhead"),
)
