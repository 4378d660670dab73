"""The dataset keeps what it makes in a cache that every worker has for itself, and loses at the end of each epoch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.base import (
    NEEDS_MEMORY,
    Action,
    Cause,
    Change,
    Evidence,
    Interval,
    Signal,
    Threshold,
    Treatment,
)
from loaderdoctor.causes.gates import at_least, derived, has_workers, is_torchs, waits
from loaderdoctor.values import Measured, Missing

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals
    from loaderdoctor.values import Value

EPOCHS = Threshold(2, "epochs", "In one epoch every sample is made for the first time, and no cache can help.")
STILL = Threshold(0.7, "times", "A cache that worked would have left less than this of the first epoch's work.")
NOT_LOOKED_AT = Missing("not-recorded", "Whether the dataset has a cache was not recorded then.")
ONLY_HERE = 2  # of the samples' time: what is made outside of the cache stays, and how much that is was not recorded


def has_a_cache(_signals: Signals, loader: LoaderSignals) -> str | None:
    """The name of an attribute says it, and that it is empty when the workers are started."""
    return "The dataset has no attribute that is called a cache." if loader.settings.caches == "" else None


def is_lost(_signals: Signals, loader: LoaderSignals) -> str | None:
    """Only workers that end take their caches along."""
    return (
        "The workers are kept over epochs, and their caches with them." if loader.settings.persistent_workers else None
    )


def _epochs(_signals: Signals, loader: LoaderSignals) -> Value:
    if loader.settings.caches is None:
        return NOT_LOOKED_AT
    return Measured.exact(loader.epochs, "epochs")


SEVERAL = derived("loader.epochs", "Epochs over the same samples", _epochs)
LATER = Signal("loader.making.later_epochs", "Making a batch in later epochs, of what it took in the first one")


def treat(_signals: Signals, loader: LoaderSignals) -> Treatment | tuple[Evidence, ...]:
    """Workers that stay keep their caches; what one of them has made, the others still lack."""
    workers, epochs = loader.settings.num_workers, loader.epochs
    missed = sum((1 - 1 / workers) ** epoch for epoch in range(epochs)) / epochs
    work = Interval(missed, missed, (missed + ONLY_HERE - 1) / ONLY_HERE)
    names = str(loader.settings.caches)
    advice = (
        f"Keep the workers over epochs: each fills its own copy of the dataset's {names}, and takes it along when it ends. Each then "
        "holds what it made; one memory-mapped array, filled before the first epoch, serves all of them."
    )
    place = loader.code.place()
    action = Action(
        "code",
        "Fill the cache before the workers are started, so that they share it.",
        site=place.site if place else None,
        example='# in __init__:\nself.values = np.stack([make(i) for i in range(len(self))])  # or np.load(..., mmap_mode="r")',
    )
    return Treatment(
        advice,
        Change({"persistent_workers": True}, work={"cpu_s": work}),
        actions=(action,),
        safety=NEEDS_MEMORY,
        shows=(Evidence(f"Samples that no worker has yet when it makes them, with {names} kept", missed, "share"),),
    )


CAUSE = Cause(
    id="ineffective-cache",
    title="A cache is lost with the workers at the end of each epoch",
    applies=(has_workers, is_torchs, has_a_cache, is_lost),
    gates=(waits(), at_least(SEVERAL, EPOCHS), at_least(LATER, STILL)),
    treat=treat,
    explains=("cpu-augment", "cpu-decode", "oversized-decode", "python-overhead", "tokenize-on-the-fly"),
)
