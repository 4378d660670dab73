"""When a run changed: the steps at which its share of waiting became another one, and the spells between them.

The steps after warm-up are added up in blocks.  The cuts that leave least spread within the spells, at a price for each, are found
exactly (optimal partitioning, the method that PELT speeds up; so few blocks need no speed).  A cut is believed where the shares
beside it differ by more than their intervals, and by enough to matter, and where it is not what every epoch does.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from loaderdoctor.analyse import stats
from loaderdoctor.analyse.frames import NS
from loaderdoctor.analyse.numbering import numbers_of
from loaderdoctor.analyse.signals import Spell

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    import pandas as pd

    from loaderdoctor.analyse.loaders import Loader
    from loaderdoctor.record.run import ProcessRecords
    from loaderdoctor.values import Measured

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]

MOST_BLOCKS = 200  # more would place a cut more finely than anyone reads it
LEAST_BLOCK = 8  # steps: a rhythm of workers, a slow batch in every few, is no change
LEAST_STEPS = 20  # of a spell, as many as a verdict takes
LEAST_PART = 0.05  # of all steps: what lasts for less is a hitch, which has causes of its own
LEAST_DIFFERENCE = 0.05  # of the time: the share from which on a run is called starving
LEAST_RATIO = 2.0  # of waiting to working: neighbours on a machine come and go, and change a run by less
SMOOTHED = 5  # blocks: a gap between epochs is one long step, however long, and the batches after it fill up again
LEAST_SPREAD = 0.005  # of a block's share, where steps are as equal as drawn ones
THIRD_OF_NORMAL = 0.4307  # of a standard deviation: within it lies a third of normal values
PRICE = 4.0  # of a cut, in variances of a block and logarithms of their number: twice what a chance cut saves


def spells_of(steps: pd.DataFrame, main: ProcessRecords, loader: Loader | None, began_ns: int) -> tuple[Spell, ...]:
    """The spells of one process, whose steps come with their exposure; `loader` is its main training loader."""
    measured, seen = steps[steps["measured"]], main.seen
    numbers = loader.numbers if loader is not None else ()
    ends_ns = [int(end) if seen is None else seen.apart(int(end)) for end in measured["end_ns"]]
    return spells_between(
        np.minimum(measured["exposed_ns"] + measured["copy_ns"], measured["chunk_ns"]).to_numpy(dtype=float),
        measured["chunk_ns"].to_numpy(dtype=float),
        (measured["is_first"] & measured["loader"].isin(numbers)).to_numpy(),
        numbers_of(steps, main, numbers)[steps["measured"].to_numpy()],
        (np.asarray(ends_ns, dtype=float) - began_ns) / NS,
    )


def spells_between(
    waits_ns: Floats, times_ns: Floats, firsts: npt.NDArray[np.bool_], steps: Ints, at_s: Floats
) -> tuple[Spell, ...]:
    """The spells of steps after warm-up, in order: one where the run stayed as it was, none where it had no steps.

    `firsts` tells the first step of each epoch, `steps` their numbers in the run, `at_s` when each ended, from the run's start.
    """
    if not len(waits_ns) or times_ns.sum() <= 0:
        return ()
    cuts = _placed(_sound(_candidates(waits_ns, times_ns), waits_ns, times_ns), waits_ns, times_ns)
    cuts = _sound(_not_regular(cuts, waits_ns, times_ns, firsts), waits_ns, times_ns)
    ends = [*cuts, len(waits_ns)]
    begins = [0, *cuts]
    before_s = float(at_s[0] - times_ns[0] / NS)
    return tuple(
        Spell(
            from_step=int(steps[begin]),
            to_step=int(steps[end - 1]),
            from_s=before_s if begin == 0 else float(at_s[begin - 1]),
            to_s=float(at_s[end - 1]),
            starved_share=_share(waits_ns, times_ns, begin, end),
        )
        for begin, end in zip(begins, ends, strict=True)
    )


def _size(count: int) -> int:
    """Steps of a block."""
    return max(LEAST_BLOCK, -(-count // MOST_BLOCKS))


def _least(count: int) -> int:
    return max(LEAST_STEPS, int(np.ceil(LEAST_PART * count)))


def _candidates(waits_ns: Floats, times_ns: Floats) -> list[int]:
    """Where new spells may begin."""
    count = len(waits_ns)
    size = _size(count)
    starts = np.arange(0, count - size + 1, size)  # what is left at the end belongs to the last one
    blocks = len(starts)
    least = -(-_least(count) // size)
    if blocks < 2 * least:
        return []
    rough = np.add.reduceat(waits_ns, starts) / np.maximum(np.add.reduceat(times_ns, starts), 1.0)
    values = _smoothed(rough.clip(0.0, 1.0))
    variance = max(LEAST_SPREAD**2, _variance(rough, 1), _variance(values, least))
    return [int(starts[cut]) for cut in _partition(values, least, PRICE * variance * float(np.log(blocks)))]


def _variance(values: Floats, length: int) -> float:
    """Of a value, by what neighbouring means of so many differ by; few changes do not move it, and memory within them counts."""
    sums = np.concatenate([[0.0], np.cumsum(values)])
    means = (sums[length:] - sums[:-length]) / length
    differences = np.abs(means[length:] - means[:-length])
    return length / 2 * float(np.quantile(differences, 1 / 3) / THIRD_OF_NORMAL) ** 2


def _smoothed(values: Floats) -> Floats:
    """Running medians, which keep the edges."""
    half = min(SMOOTHED // 2, (len(values) - 1) // 2)
    padded = np.pad(values, half, mode="edge")
    medians: Floats = np.median(np.lib.stride_tricks.sliding_window_view(padded, 2 * half + 1), axis=1)
    return medians


def _partition(values: Floats, least: int, price: float) -> list[int]:
    """The cuts into parts of at least so many values with the least squares within parts, and a price a cut."""
    sums = np.concatenate([[0.0], np.cumsum(values)])
    squares = np.concatenate([[0.0], np.cumsum(values**2)])
    count = len(values)
    best, last = np.full(count + 1, np.inf), np.zeros(count + 1, dtype=np.int64)
    best[0] = -price
    for end in range(least, count + 1):
        begins = np.arange(0, end - least + 1)
        within = squares[end] - squares[begins] - (sums[end] - sums[begins]) ** 2 / (end - begins)
        totals = best[begins] + within + price
        last[end] = int(totals.argmin())
        best[end] = totals[last[end]]
    cuts, end = [], count
    while (end := int(last[end])) > 0:
        cuts.append(end)
    return cuts[::-1]


def _placed(cuts: Sequence[int], waits_ns: Floats, times_ns: Floats) -> list[int]:
    """Each at the very step, within the blocks by which a smoothed edge may be off: where what is beyond the mean of both shares turns."""
    reach = SMOOTHED * _size(len(waits_ns))
    placed = []
    for cut, (before, after) in zip(cuts, _beside(cuts, waits_ns, times_ns), strict=True):
        begin, end = max(1, cut - reach), min(len(waits_ns), cut + reach)
        beyond = np.cumsum(waits_ns[begin:end] - (before + after) / 2 * times_ns[begin:end])
        turn = int((beyond if after > before else -beyond).argmin())
        placed.append(begin + turn + 1 if 0 < turn < end - begin - 1 else cut)
    return sorted(set(placed))


def _beside(cuts: Sequence[int], waits_ns: Floats, times_ns: Floats) -> list[tuple[float, float]]:
    """The shares of the spells before and after each cut."""
    ends = [0, *cuts, len(waits_ns)]
    shares = [float(waits_ns[a:b].sum() / max(1.0, times_ns[a:b].sum())) for a, b in pairwise(ends)]
    return list(pairwise(shares))


def _not_regular(cuts: Sequence[int], waits_ns: Floats, times_ns: Floats, firsts: npt.NDArray[np.bool_]) -> list[int]:
    """Without those that most other epochs have at the same place."""
    starts = np.flatnonzero(firsts)
    waits_ns, times_ns = (np.where(firsts, 0.0, one) for one in (waits_ns, times_ns))  # every epoch has a gap
    window = _least(len(waits_ns)) // 2
    kept = []
    for cut, (before, after) in zip(cuts, _beside(cuts, waits_ns, times_ns), strict=True):
        begun = (
            int(np.searchsorted(starts, cut + window // 2, side="right")) - 1
        )  # a block may end just before an epoch does
        if begun < 0:
            kept.append(cut)
            continue
        own = after - before
        places = np.delete(starts, begun) + cut - starts[begun]
        others = [
            _jump(waits_ns, times_ns, int(place), window)
            for place in places
            if window <= place <= len(waits_ns) - window
        ]
        alike = sum(jump * own > 0 and abs(jump) >= abs(own) / 2 for jump in others)
        if not others or alike < len(others) / 2:
            kept.append(cut)
    return kept


def _jump(waits_ns: Floats, times_ns: Floats, at: int, window: int) -> float:
    """What the share of waiting rises by there."""
    begin, end = max(0, at - window), at + window
    before, after = (waits_ns[a:b].sum() / max(1.0, times_ns[a:b].sum()) for a, b in ((begin, at), (at, end)))
    return float(after - before)


def _sound(cuts: Sequence[int], waits_ns: Floats, times_ns: Floats) -> list[int]:
    """Without those whose both sides do not differ: the weakest one goes first, for its sides are one spell then."""
    kept = list(cuts)
    while kept:
        ends = [0, *kept, len(waits_ns)]
        shares = [_share(waits_ns, times_ns, begin, end) for begin, end in pairwise(ends)]
        weak = [
            (abs(before.value - after.value), cut)
            for cut, before, after in zip(kept, shares, shares[1:], strict=False)
            if not differ(before, after)
        ]
        if not weak:
            break
        kept.remove(min(weak)[1])
    return kept


def differ(one: Measured, other: Measured) -> bool:
    """Whether two shares are so far apart that chance does not do it, and that it matters."""
    low, high = sorted((one, other), key=lambda share: share.value)
    if low.high >= high.low or high.value - low.value < LEAST_DIFFERENCE:
        return False
    return high.value * (1 - low.value) >= LEAST_RATIO * low.value * (1 - high.value)


def _share(waits_ns: Floats, times_ns: Floats, begin: int, end: int) -> Measured:
    return stats.ratio(waits_ns[begin:end], np.maximum(times_ns[begin:end], 1.0), "share")
