"""One rung of the ladder: settings, and what came of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from loaderdoctor.treat.trials import AS_WRITTEN

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from loaderdoctor.analyse.signals import StepTimes
    from loaderdoctor.values import Interval, Measured, Value

WORKERS, PINNING, PREFETCH = "workers", "pinning", "prefetch"
PERSISTENT, PAST_KNEE, BETWEEN = "persistent", "past-the-knee", "between"
NAMES: Mapping[str, str] = {
    AS_WRITTEN: "as written",
    WORKERS: "+ workers",
    PINNING: "+ pinning",
    PREFETCH: "+ prefetch",
    PERSISTENT: "+ persistent workers",
    PAST_KNEE: "past the knee",
    BETWEEN: "beside the best",
}


@dataclass(frozen=True)
class Seen:
    """What one run measured, after warm-up; `samples_per_s` of all ranks, gaps between epochs and evaluations included."""

    samples_per_s: Value
    step_s: Measured  # all time over all steps of training: what rungs are ranked by
    starved_share: Value
    device_share: Value  # of the time, in which the driver saw the device busy
    worker_cores: Value  # busy with the workers of this loader
    memory_bytes: Value  # that the workers and the batches they hold ready take on the host
    others_share: Value  # of the CPUs, taken by other jobs meanwhile
    times: StepTimes
    workers: int


@dataclass(frozen=True)
class Rung:
    """`settings` is what differs from the script.  `seen` is None where nothing ran, or nothing counts: then `why` says so."""

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    seen: Seen | None = None
    why: str = ""
    promised: Interval | None = None  # speed-up over the script as written, told before it ran
    run_dir: Path | None = None
