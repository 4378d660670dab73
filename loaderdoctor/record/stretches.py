"""The stretches of a long run that are looked at in detail, joined to one time without the gaps between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Times = npt.NDArray[np.int64]

NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Stretches:
    """Times from `begin_ns` to before `end_ns`, in order and apart from each other.

    What comes before the first one is taken to be in it: a run's start is always looked at.  The last one may end NEVER.
    """

    begin_ns: Times
    end_ns: Times

    @classmethod
    def of(cls, spans: Sequence[tuple[int, int]]) -> Stretches:
        """Of spans in order; those that touch become one."""
        joined: list[list[int]] = []
        for begin, end in spans:
            if joined and begin <= joined[-1][1]:
                joined[-1][1] = max(joined[-1][1], end)
            elif begin < end:
                joined.append([begin, end])
        begins, ends = np.asarray(joined, dtype=np.int64).reshape(-1, 2).T
        return cls(begins.copy(), ends.copy())

    @property
    def is_broken(self) -> bool:
        """Whether there are gaps."""
        return len(self.begin_ns) > 1

    def common(self, other: Stretches) -> Stretches:
        """What is in both."""
        first = np.searchsorted(other.end_ns, self.begin_ns, side="right")
        after = np.searchsorted(other.begin_ns, self.end_ns, side="left")
        met = [(one, number) for one in range(len(self.begin_ns)) for number in range(first[one], after[one])]
        mine, theirs = np.asarray(met, dtype=np.int64).reshape(-1, 2).T
        begin_ns = np.maximum(self.begin_ns[mine], other.begin_ns[theirs])
        end_ns = np.minimum(self.end_ns[mine], other.end_ns[theirs])
        return Stretches.of(list(zip(begin_ns.tolist(), end_ns.tolist(), strict=True)))

    @property
    def spans(self) -> list[tuple[int, int]]:
        """Each as (begin, end), ns."""
        return list(zip(self.begin_ns.tolist(), self.end_ns.tolist(), strict=True))

    @property
    def length_ns(self) -> int:
        """All of them together."""
        return int((self.end_ns - self.begin_ns).sum())

    def place(self, times: Times) -> Times:
        """In which stretch each time is; -1 in a gap."""
        at = np.searchsorted(self.begin_ns, times, side="right") - 1
        inside = (at < 0) | (times < self.end_ns[at.clip(min=0)])
        return np.where(inside, at.clip(min=0), -1)

    def joined(self, times: Times) -> Times:
        """Each time as if there were no gaps; one in a gap is where the next stretch begins.  0 and below stand for none."""
        at = np.searchsorted(self.begin_ns, times, side="right") - 1
        gaps = np.append(0, np.cumsum(self.begin_ns[1:] - self.end_ns[:-1]))
        inner = np.minimum(times, self.end_ns[at.clip(min=0)])
        moved: Times = np.where(at < 0, times, inner - gaps[at.clip(min=0)])
        return np.where(times > 0, moved, times)

    def ended(self, end_ns: int) -> int:
        """When a run that ended then ended without its gaps."""
        return int(self.joined(np.asarray([end_ns]))[0])

    def apart(self, joined_ns: int) -> int:
        """The time of the run that `joined` made this one of."""
        return int(self.apart_all(np.asarray([joined_ns]))[0])

    def apart_all(self, joined_ns: Times) -> Times:
        """The times of the run that `joined` made these of."""
        lengths = np.append(0, np.cumsum(self.end_ns - self.begin_ns)[:-1])
        at = (np.searchsorted(self.begin_ns[0] + lengths, joined_ns, side="right") - 1).clip(min=0)
        times: Times = self.begin_ns[at] + joined_ns - self.begin_ns[0] - lengths[at]
        return times

    def evenly(self, share: float, parts: int) -> Stretches:
        """So much of them in so many parts, spread evenly from the first moment to the last one."""
        whole = self.length_ns
        part = share * whole / parts
        starts = np.linspace(0, whole - part, parts)
        return Stretches.of([span for start in starts.tolist() for span in self._within(int(start), int(start + part))])

    def _within(self, start_ns: int, end_ns: int) -> list[tuple[int, int]]:
        """The spans of the run that a piece of the joined time comes from; counted from its beginning."""
        spans, before = [], 0
        for begin, end in self.spans:
            low, high = max(start_ns, before), min(end_ns, before + end - begin)
            if low < high:
                spans.append((begin + low - before, begin + high - before))
            before += end - begin
        return spans
