"""Intervals for series of steps that depend on each other: neighbours wait together, epochs begin together.

A ratio of sums gets its 95 % interval from a moving-block bootstrap: blocks of neighbouring steps are drawn with
replacement, long enough that what happens in one says little about the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from loaderdoctor.values import Measured

if TYPE_CHECKING:
    import numpy.typing as npt

    Series = npt.NDArray[np.float64]

RESAMPLES = 400  # the ends of a 95 % interval are then stable to a tenth of its width
SEED = 0  # equal runs give equal reports
MOST_ROWS = 2000  # longer series are added up in stretches first: a bootstrap over more tells nothing new
LEAST_BLOCKS = 8  # with fewer, a bootstrap cannot tell how much blocks differ
Z_95 = 1.96
_ROUNDING = 1e-20  # of the sum of squares: below it, a series differs only by how its values were rounded


def ratio(
    numerator: npt.ArrayLike, denominator: npt.ArrayLike, unit: str, kinds: npt.ArrayLike | None = None
) -> Measured:
    """sum(numerator) / sum(denominator) with its interval; the denominator's sum must be above 0.

    `kinds` says of each step what it is, such as the first of an epoch, or an evaluation's.  A script makes each kind as
    often as it is written to: every resample has as many of each.
    """
    above, below = np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    best, n = float(above.sum() / below.sum()), len(above)
    of_kind = np.zeros(n) if kinds is None else np.asarray(kinds)
    dice = np.random.default_rng(SEED)
    drawn = sum(_resampled(above[of_kind == kind], below[of_kind == kind], best, dice) for kind in np.unique(of_kind))
    drawn_above, drawn_below = np.asarray(drawn)
    positive = drawn_below > 0
    low, high = (
        np.percentile(drawn_above[positive] / drawn_below[positive], [2.5, 97.5]) if positive.any() else (best,) * 2
    )
    return Measured(best, min(best, float(low)), max(best, float(high)), n, unit)


def mean(values: npt.ArrayLike, unit: str) -> Measured:
    """The mean with its interval; there must be a value."""
    series = np.asarray(values, dtype=np.float64)
    return ratio(series, np.ones(len(series)), unit)


def median(values: npt.ArrayLike, unit: str) -> Measured:
    """The median, between the order statistics that hold it in 19 of 20 samples; there must be a value."""
    series = np.asarray(values, dtype=np.float64)
    n = len(series)
    independent = max(1.0, n / block_length(series - np.median(series)))
    half = Z_95 * 0.5 / independent**0.5
    low, high = np.quantile(series, [max(0.0, 0.5 - half), min(1.0, 0.5 + half)])
    return Measured(float(np.median(series)), float(low), float(high), n, unit)


def proportion(share: float, n: float) -> Measured:
    """A share of n > 0 observations with its Wilson interval."""
    spread = Z_95**2 / n
    centre = (share + spread / 2) / (1 + spread)
    half = Z_95 * (share * (1 - share) / n + spread / (4 * n)) ** 0.5 / (1 + spread)
    return Measured(share, max(0.0, min(share, centre - half)), min(1.0, max(share, centre + half)), int(n), "share")


def block_length(residuals: Series) -> int:
    """Twice the number of steps over which the series remembers, at least 1, short enough for LEAST_BLOCKS blocks."""
    n = len(residuals)
    centred = residuals - residuals.mean()
    variance = float(centred @ centred)
    most = max(1, n // LEAST_BLOCKS)
    if variance <= _ROUNDING * float(residuals @ residuals):
        return 1
    noise = 2 / n**0.5  # a correlation below this is what independent steps show by chance
    memory = 1.0
    for lag in range(1, most):
        correlation = float(centred[:-lag] @ centred[lag:]) / variance
        if correlation < noise:
            break
        memory += 2 * correlation
    return min(most, int(np.ceil(2 * memory)) if memory > 1 else 1)


def _stretches(series: Series) -> Series:
    per_row = -(-len(series) // MOST_ROWS)
    return np.add.reduceat(series, np.arange(0, len(series), per_row)) if per_row > 1 else series


def _resampled(above: Series, below: Series, best: float, dice: np.random.Generator) -> Series:
    """Sums (2, RESAMPLES) of both series over blocks that wrap around, the same blocks for both."""
    above, below = _stretches(above), _stretches(below)
    n, length = len(above), block_length(above - best * below)
    starts = dice.integers(0, n, (RESAMPLES, max(1, round(n / length))))
    weight = n / (starts.shape[1] * length)  # blocks seldom fit exactly, and each kind of step keeps its part
    return np.stack([weight * _block_sums(series, length)[starts].sum(axis=1) for series in (above, below)])


def _block_sums(series: Series, length: int) -> Series:
    sums = np.concatenate([[0.0], np.cumsum(np.concatenate([series, series[: length - 1]]))])
    blocks: Series = sums[length:] - sums[:-length]
    return blocks
