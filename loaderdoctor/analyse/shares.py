"""Values from columns of records: measured where there are any, else missing with the reason that is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.analyse import stats

if TYPE_CHECKING:
    import pandas as pd

    from loaderdoctor.values import Missing, Value

NS = 1e9


def mean_s(times_ns: pd.Series[float], missing: Missing) -> Value:
    """Mean of times in ns, in s; unknown ones aside."""
    known = times_ns.dropna()
    return stats.mean(known / NS, "s") if len(known) else missing


def median_s(times_ns: pd.Series[float], missing: Missing) -> Value:
    """Median of times in ns, in s; unknown ones aside."""
    known = times_ns.dropna()
    return stats.median(known / NS, "s") if len(known) else missing


def mean_of(values: pd.Series[float], unit: str, missing: Missing) -> Value:
    """Mean of known values."""
    known = values.dropna()
    return stats.mean(known, unit) if len(known) else missing


def share(part: pd.Series[float], whole: pd.Series[float], missing: Missing) -> Value:
    """sum(part) / sum(whole) over the rows in which both are known."""
    known = part.notna() & whole.notna()
    if not known.any() or float(whole[known].sum()) <= 0:
        return missing
    return stats.ratio(part[known], whole[known], "share")
