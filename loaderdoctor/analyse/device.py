"""What the device's clock, the copies to it and the pin thread say, after warm-up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loaderdoctor.analyse import stats
from loaderdoctor.analyse.exposure import DEVICE, HOST
from loaderdoctor.analyse.frames import NS, in_loop, json_object, table
from loaderdoctor.analyse.shares import mean_of, share
from loaderdoctor.analyse.signals import DeviceSignals
from loaderdoctor.values import Missing, Value

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from loaderdoctor.analyse.timeline import Timeline
    from loaderdoctor.record.run import ProcessRecords

CPU = "cpu"
_READINGS = 2  # of a counter make a rate
_NO_DEVICE = Missing("no-device", "The run used no device but the CPU.")
_NO_CLOCK = Missing("no-device-clock", "The device's own clock was not available, only the host's.")
_NO_COPIES = Missing("no-copies", "No copy of a batch to the device was seen.")
_NO_PINS = Missing("no-pinning", "No batch was pinned.")
_NO_HOST_MEMORY = Missing("no-host-memory", "This version of torch does not count its pinned memory.")


def about(main: ProcessRecords) -> Mapping[str, Any]:
    """What a process said of itself: versions, threads."""
    rows = table(main, "process")
    text = main.texts.get(int(rows["about_text"].iloc[0]), "{}") if len(rows) else "{}"
    return json_object(text) or {}


def kind_of(main: ProcessRecords) -> str:
    """The kind of device that was used; `cpu` where nothing was copied to another and no other told its time."""
    if not any(kind in main.tables for kind in ("device_step", "copy")):
        return CPU
    facts = about(main)
    return "cuda" if facts.get("cuda") or facts.get("hip") else "accelerator"


def device_signals(main: ProcessRecords, timeline: Timeline, steps: pd.DataFrame, clock: str) -> DeviceSignals:
    """Signals of the process's device; `steps` are those after warm-up with their exposure."""
    kind = kind_of(main)
    reason = _NO_DEVICE if kind == CPU else _NO_CLOCK
    copies = _copies(main, steps)
    told = steps[steps["told"]] if clock == DEVICE else steps.iloc[:0]
    return DeviceSignals(
        kind=kind,
        clock=clock,
        hidden_wait_share=_of_time(steps["wait_ns"] - steps["exposed_ns"], steps) if len(told) else reason,
        copy_share=_of_time(steps["copy_ns"], steps) if len(told) else reason,
        copy_bytes_per_step=_or(_NO_DEVICE, kind, mean_of(copies["bytes"], "bytes", _NO_COPIES)),
        pinned_share=_or(_NO_DEVICE, kind, share(copies["pinned_bytes"], copies["bytes"], _NO_COPIES)),
        blocking_share=_or(_NO_DEVICE, kind, share(copies["blocking_copies"], copies["copies"], _NO_COPIES)),
        copy_bandwidth=_bandwidth(copies, kind),
        drained_share=mean_of(told["drained"], "share", reason),
        sync_share=share(told["sync_ns"], told["span_ns"], reason),
        syncs_per_step=mean_of(told["syncs"], "syncs", reason),
        pin_busy_share=_pin_busy(main, timeline),
        host_allocations_per_step=_host_allocations(main, timeline, len(steps), kind),
    )


def no_device(reason: Missing) -> DeviceSignals:
    """What is said of the device where no step was measured."""
    return DeviceSignals(
        kind=CPU,
        clock=HOST,
        hidden_wait_share=reason,
        copy_share=reason,
        copy_bytes_per_step=reason,
        pinned_share=reason,
        blocking_share=reason,
        copy_bandwidth=reason,
        drained_share=reason,
        sync_share=reason,
        syncs_per_step=reason,
        pin_busy_share=reason,
        host_allocations_per_step=reason,
    )


def _or(reason: Missing, kind: str, value: Value) -> Value:
    return reason if kind == CPU else value


def _of_time(part_ns: pd.Series[float], steps: pd.DataFrame) -> Value:
    return stats.ratio(part_ns.clip(lower=0), steps["chunk_ns"], "share")


def _copies(main: ProcessRecords, steps: pd.DataFrame) -> pd.DataFrame:
    """Copies of the steps after warm-up, a row a step, over all devices."""
    copies = table(main, "copy").astype(float)
    copies["device_ns"] = copies["device_ns"].where(copies["device_ns"] > 0)
    summed = copies.groupby(["iterator", "ordinal"], as_index=False).sum(min_count=1)
    return summed.merge(steps[["iterator", "ordinal"]].astype(float), on=["iterator", "ordinal"])


def _bandwidth(copies: pd.DataFrame, kind: str) -> Value:
    """Bytes a second while copies run, on the device's clock."""
    if kind == CPU:
        return _NO_DEVICE
    timed = copies[copies["device_ns"].notna()]
    return stats.ratio(timed["bytes"], timed["device_ns"] / NS, "bytes/s") if len(timed) else _NO_COPIES


def _pin_busy(main: ProcessRecords, timeline: Timeline) -> Value:
    """Of the time after warm-up, the share in which the pin thread copies."""
    pins = in_loop(table(main, "pin"), timeline.loops, "begin_ns")
    pins = pins[(pins["begin_ns"] >= timeline.from_ns) & (pins["end_ns"] <= timeline.to_ns)]
    if len(pins) == 0:
        return _NO_PINS
    took_ns = (pins["end_ns"] - pins["begin_ns"]).astype(float)
    ends = pins["end_ns"].to_numpy()
    between = pins["end_ns"].diff().fillna(ends[0] - timeline.from_ns).clip(lower=1).astype(float)
    return stats.ratio(took_ns.clip(upper=between), between, "share")


def _host_allocations(main: ProcessRecords, timeline: Timeline, steps: int, kind: str) -> Value:
    """New pinned blocks a step; the counter is read once a second."""
    rows = table(main, "host_memory")
    rows = rows[(rows["at_ns"] >= timeline.from_ns) & (rows["at_ns"] <= timeline.to_ns)].sort_values("at_ns")
    if kind == CPU or len(rows) < _READINGS or steps == 0:
        return _NO_DEVICE if kind == CPU else _NO_HOST_MEMORY
    seconds = rows["at_ns"].diff().iloc[1:] / NS
    steps_per_s = steps / timeline.measured_s
    return stats.ratio(rows["allocations"].diff().iloc[1:], seconds * steps_per_s, "allocations")
