"""Each pass over a stream lists or looks at all files before it yields a sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.base import CHANGES_RESULTS, Action, Cause, Change, Signal, Threshold, Treatment
from loaderdoctor.causes.gates import at_least, below, has_workload, waits
from loaderdoctor.causes.order.gaps import BEFORE_FIRST_SAMPLE, EPOCH_GAPS, EXTRA, GAP_S, GAPS, has_epochs, is_stream
from loaderdoctor.causes.order.shuffle_buffer_fill import PAID_BACK, PAYS_BACK
from loaderdoctor.predict.change import BEFORE_FIRST

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals

LISTING = Threshold(0.1, "share", "Code that looks at files for less than this is not what a long start is spent on.")
_ADVICE = (
    "Look through the files once: write an index (paths, labels, sizes) beside the data, or build it in the data set's __init__, "
    "and let each pass read that."
)
_EXAMPLE = 'index = root / "index.json"\nif not index.exists():\n    index.write_text(json.dumps(scan(root)))\nself.index = json.loads(index.read_text())'


def treat(_signals: Signals, loader: LoaderSignals) -> Treatment:
    """The pass begins with its first sample; what is added to the files later is not seen before the index is built anew."""
    site = loader.order.listing_site or loader.site
    code = Action("code", _ADVICE, site=site, example=_EXAMPLE)
    return Treatment(_ADVICE, Change(lifts=(BEFORE_FIRST,)), actions=(code,), safety=CHANGES_RESULTS)


CAUSE = Cause(
    id="dataset-scan",
    title="Each pass looks through all files before it yields a sample",
    applies=(is_stream, has_epochs, has_workload),
    gates=(
        waits(),
        at_least(EPOCH_GAPS, GAPS),
        EXTRA,
        BEFORE_FIRST_SAMPLE,
        below(PAYS_BACK, PAID_BACK, if_known=True),
        at_least(
            Signal(
                "loader.order.listing_share",
                "Functions that list or ask after files, of the CPU time of making batches",
            ),
            LISTING,
        ),
    ),
    treat=treat,
    shows=(GAP_S, Signal("loader.making.first_made_s", "Making the first batch of a pass")),
    slice=EPOCH_GAPS,
)
