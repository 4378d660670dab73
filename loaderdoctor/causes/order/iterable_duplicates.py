"""A stream is not shared out: every worker yields all of it, and each sample is trained on once a worker."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.base import CHANGES_RESULTS, Action, Cause, Gain, Interval, Signal, Threshold, Treatment
from loaderdoctor.causes.gates import at_least, has_workers
from loaderdoctor.causes.order.gaps import is_stream

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals

REPEATED = Threshold(
    0.5, "share", "Batches of two workers are equal byte for byte by no accident, and one repeats many times."
)
AS_FAST = Gain(Interval(1.0, 1.0, 1.0), "simulated")  # a step takes as long; an epoch has fewer of them
_ADVICE = (
    "Share the stream out in its __iter__: each worker (of each rank) takes every n-th file or sample, by get_worker_info() and the "
    "rank. As it is, an epoch has each sample once for every worker."
)
_EXAMPLE = "info = torch.utils.data.get_worker_info()\nfirst, every = (info.id, info.num_workers) if info else (0, 1)\nfor sample in itertools.islice(self.samples(), first, None, every):\n    yield sample"


def has_several(_signals: Signals, loader: LoaderSignals) -> str | None:
    """One worker repeats nobody."""
    return None if loader.settings.num_workers > 1 else "One worker has nobody to share the stream with."


def treat(_signals: Signals, loader: LoaderSignals) -> Treatment:
    """Each worker its part."""
    code = Action("code", _ADVICE, site=loader.site, example=_EXAMPLE)
    return Treatment(_ADVICE, gain=AS_FAST, actions=(code,), safety=CHANGES_RESULTS)


CAUSE = Cause(
    id="iterable-duplicates",
    title="Every worker yields the whole stream, so samples repeat",
    applies=(has_workers, is_stream, has_several),
    gates=(
        at_least(
            Signal(
                "loader.order.repeated_share", "First batches of a pass that another worker made byte for byte as well"
            ),
            REPEATED,
        ),
    ),
    treat=treat,
    shows=(Signal("loader.making.samples_per_epoch", "Samples that were made in an epoch"),),
)
