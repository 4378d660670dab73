"""The whole run in phases that add up to it, and the time that each step had to itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from loaderdoctor.analyse.loaders import EVAL, TRAIN
from loaderdoctor.analyse.nesting import own_times
from loaderdoctor.analyse.signals import Phase
from loaderdoctor.analyse.unasked import NO_LOADER
from loaderdoctor.probe.layout import CONTINUED, NEXT_BATCH

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from loaderdoctor.analyse.timeline import Timeline

START_UP, FIRST_BATCH, EPOCH_GAP, OTHER = "start-up", "first-batch", "epoch-gap", "other"
ONCE = (START_UP, FIRST_BATCH)
ORDER = (START_UP, FIRST_BATCH, TRAIN, EPOCH_GAP, EVAL, OTHER)


@dataclass(frozen=True)
class Segment:
    """A stretch of the consumer's time; stretches nest, and the innermost one has the time."""

    begin_ns: int
    end_ns: int
    label: str
    wait_ns: int = 0


def phases_of(timeline: Timeline, roles: Mapping[int, str], began_ns: int, ended_ns: int) -> tuple[Phase, ...]:
    """The phases from the run's start to its end, in the order of a run; `roles` of loaders by number.

    Waits are on the host's clock.  Time of checkpoints is not told apart: it is in `other`, or in the step that makes one.
    """
    segments = _segments(timeline, roles)
    begin_ns = np.clip([s.begin_ns for s in segments], began_ns, ended_ns).astype(np.int64)
    end_ns = np.clip([s.end_ns for s in segments], began_ns, ended_ns).astype(np.int64)
    own_ns = own_times(begin_ns, end_ns)
    seconds = dict.fromkeys(ORDER, 0.0)
    waits = dict.fromkeys(ORDER, 0.0)
    for segment, own in zip(segments, own_ns.tolist(), strict=True):
        seconds[segment.label] += own / 1e9
        waits[segment.label] += segment.wait_ns / 1e9
    whole_s = (ended_ns - began_ns) / 1e9
    seconds[START_UP] = (int(begin_ns.min()) - began_ns) / 1e9 if segments else whole_s
    seconds[OTHER] = max(0.0, whole_s - sum(seconds.values()))
    return tuple(
        Phase(name, seconds[name], seconds[name] / whole_s if whole_s > 0 else 0.0, waits[name])
        for name in ORDER
        if seconds[name] > 0
    )


def as_long(phases: Sequence[Phase], whole_s: float) -> tuple[Phase, ...]:
    """The phases of stretches of a run as those of the run; what comes once, its start, is as long as it was."""
    once_s = sum(phase.seconds for phase in phases if phase.name in ONCE)
    again_s = sum(phase.seconds for phase in phases) - once_s
    scale = (whole_s - once_s) / again_s if again_s > 0 else 1.0
    factors = [1.0 if phase.name in ONCE else scale for phase in phases]
    return tuple(
        Phase(phase.name, phase.seconds * k, phase.seconds * k / whole_s if whole_s > 0 else 0.0, phase.data_wait_s * k)
        for phase, k in zip(phases, factors, strict=True)
    )


def _segments(timeline: Timeline, roles: Mapping[int, str]) -> list[Segment]:
    """Building iterators, waiting in next(), working on batches, and ending loops."""
    gaps = _gap_labels(timeline, roles)
    segments = [
        Segment(row.begin_ns, row.end_ns, gaps[loop], row.end_ns - row.begin_ns)
        for loop, row in zip(timeline.loops.index, timeline.loops.itertuples(), strict=True)
        if loop in gaps
    ]
    mine = timeline.calls[timeline.calls["thread"] == timeline.thread]
    firsts = ~mine["loop"].duplicated() & mine["loop"].map(timeline.loops["how"] != CONTINUED)
    for call, is_first in zip(mine.itertuples(), firsts, strict=True):
        role = roles.get(call.loader, EVAL)
        ended = call.status != NEXT_BATCH
        # A loop that another thread began has no gap: it was not this thread that waited for its iterator.
        gap = gaps.get(call.loop, EPOCH_GAP if role == TRAIN else EVAL)
        label = gap if is_first else EPOCH_GAP if ended and role == TRAIN else role
        segments.append(Segment(call.begin_ns, call.end_ns, label, 0 if ended else call.end_ns - call.begin_ns))
    steps = timeline.steps
    segments += [
        Segment(got_ns, end_ns, TRAIN if loader == NO_LOADER else roles.get(loader, EVAL))
        for got_ns, end_ns, loader in zip(steps["got_ns"], steps["end_ns"], steps["loader"], strict=True)
    ]
    return segments


def _gap_labels(timeline: Timeline, roles: Mapping[int, str]) -> dict[int, str]:
    """What the time until the first batch of each loop of the consumer is called."""
    labels: dict[int, str] = {}
    loops = timeline.loops[timeline.loops["thread"] == timeline.thread]
    for loop, loader in zip(loops.index, loops["loader"], strict=True):
        role = roles.get(loader, EVAL)
        labels[loop] = FIRST_BATCH if not labels else EPOCH_GAP if role == TRAIN else EVAL
    return labels
