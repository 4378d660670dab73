"""The interpreter, not any computation, takes the time of each sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.base import Cause, Evidence, Interval, Signal, Treatment
from loaderdoctor.causes.cpu_work.cures import AT_WORK, BUSY, COMPUTED, COMPUTING, MAIN_PART, less_work
from loaderdoctor.causes.gates import at_least, waits

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals

INTERPRETED = Signal("loader.code.python_share", "Interpreted code, of the CPU time of making a batch")
LEFT = Interval(0.02, 0.1, 0.5)  # reported: five to seventy times as fast
ADVICE = (
    "Do the work for whole arrays, and once: loops over numbers, dict and list items, pandas rows, deepcopy and parsing take a "
    "hundred times as long as the same work of one numpy call. What does not change belongs into __init__."
)
EXAMPLE = """\
# in __init__, once, instead of here for every sample:
self.columns = {name: frame[name].to_numpy() for name in frame}  # no .iloc, no json.loads, no deepcopy later
# here: one call for the whole array
counts = np.bincount(keys, minlength=buckets)  # instead of a loop over keys"""


def treat(signals: Signals, loader: LoaderSignals) -> Treatment | tuple[Evidence, ...]:
    """Arrays instead of loops, at the hottest place."""
    what = ADVICE, loader.code.place("python", "own"), EXAMPLE
    return less_work(signals, loader, loader.code.python_share, LEFT, what)


CAUSE = Cause(
    id="python-overhead",
    title="Interpreted Python takes the time of each sample",
    gates=(waits(), at_least(INTERPRETED, MAIN_PART), at_least(BUSY, AT_WORK), at_least(COMPUTING, COMPUTED)),
    treat=treat,
)
