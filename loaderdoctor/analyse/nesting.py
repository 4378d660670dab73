"""The time that each of several stretches has to itself, where they lie within each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt


def own_times(begin_ns: npt.NDArray[np.int64], end_ns: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Of each stretch, the time in which it is the one that began last of those still going on."""
    order = np.lexsort((-end_ns, begin_ns))
    own = np.zeros(len(begin_ns), dtype=np.int64)
    ends, begins = end_ns.tolist(), begin_ns.tolist()
    open_places: list[int] = []
    now_ns = 0

    def advance(to_ns: int) -> None:
        nonlocal now_ns
        while open_places and now_ns < to_ns:
            place = open_places[-1]
            until_ns = min(ends[place], to_ns)
            if until_ns > now_ns:
                own[place] += until_ns - now_ns
                now_ns = until_ns
            if ends[place] <= to_ns:
                open_places.pop()
        now_ns = max(now_ns, to_ns)

    for place in order.tolist():
        advance(begins[place])
        open_places.append(place)
    if ends:
        advance(max(ends))
    return own
