"""A long run is replayed by a sample of its batches: every epoch's head, blocks of its body, each with a weight."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import Workload

MOST_BATCHES = 2000  # a what-if table of thirty rows then takes about a second
HEAD = 64  # batches of an epoch kept whole: by then its start-up and the filling of the queues are over
BLOCK = 32  # batches kept side by side, longer than any queue that a block starts with


@dataclass(frozen=True)
class Kept:
    """One batch to replay: its place in the workload, and how many batches of the run it stands for."""

    index: int
    weight: float


def kept(workload: Workload, most: int = MOST_BATCHES) -> tuple[Kept, ...]:
    """At most about `most` batches that stand for all of them; every batch with weight 1 where there are no more."""
    everything = range(len(workload.batches))
    if len(everything) <= most:
        return tuple(Kept(index, 1.0) for index in everything)
    epochs = [list(group) for _, group in groupby(everything, key=lambda index: workload.batches[index].epoch)]
    chosen = _spread(epochs, max(1, most // (2 * HEAD)))
    room = most // len(chosen)
    scale = len(everything) / sum(len(epoch) for epoch in chosen)
    return tuple(Kept(one.index, one.weight * scale) for epoch in chosen for one in _of_epoch(epoch, room))


def _of_epoch(epoch: list[int], room: int) -> list[Kept]:
    if len(epoch) <= room:
        return [Kept(index, 1.0) for index in epoch]
    head, body = epoch[:HEAD], epoch[HEAD:]
    blocks = [body[start : start + BLOCK] for start in range(0, len(body), BLOCK)]
    sample = [index for block in _spread(blocks, max(1, (room - HEAD) // BLOCK)) for index in block]
    weight = len(body) / len(sample)
    return [Kept(index, 1.0) for index in head] + [Kept(index, weight) for index in sample]


def _spread(items: list[list[int]], most: int) -> list[list[int]]:
    if len(items) <= most:
        return items
    return [items[int((place + 0.5) * len(items) / most)] for place in range(most)]
