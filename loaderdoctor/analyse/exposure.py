"""How much of each wait the device noticed: by the device's own clock where it was recorded, else the host's wait itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from loaderdoctor.analyse.frames import table
from loaderdoctor.analyse.unasked import is_asked
from loaderdoctor.probe.layout import METHOD_WITNESS

if TYPE_CHECKING:
    import numpy.typing as npt

    from loaderdoctor.analyse.timeline import Timeline
    from loaderdoctor.record.run import ProcessRecords

DEVICE, HOST = "device", "host"
LEAST_COVERAGE = 0.5  # of the steps; where the device's clock told of fewer, it began late or broke off
_TOLD = ["wait_low_ns", "device_wait_ns", "wait_high_ns", "copy_ns", "device_step_ns", "drained", "sync_ns", "syncs"]


def with_exposure(timeline: Timeline, main: ProcessRecords) -> tuple[str, pd.DataFrame]:
    """The clock, and the steps with exposed_ns between low_ns and high_ns, copy_ns, device_step_ns and `told`.

    On the device's clock chunk_ns is the device's time too.

    `told`: the device's clock measured this very step; drained, sync_ns and syncs are NaN elsewhere.
    """
    device_steps = _device_steps(main)
    steps = timeline.steps.merge(device_steps, on=["iterator", "ordinal"], how="left")
    steps["told"] = steps["device_wait_ns"].notna()
    if len(steps) == 0 or float(steps["every"].sum()) < LEAST_COVERAGE * int(is_asked(steps).sum()):
        wait_ns = steps["wait_ns"].astype(float)
        unknown = dict.fromkeys(["device_step_ns", "drained", "sync_ns", "syncs"], np.nan)
        return HOST, steps.assign(
            exposed_ns=wait_ns, low_ns=wait_ns, high_ns=wait_ns, copy_ns=0.0, told=False, **unknown
        )
    own = timeline.calls[timeline.calls["thread"] == timeline.thread]
    return DEVICE, _on_device(steps, Lag.of(own, device_steps))


def _device_steps(main: ProcessRecords) -> pd.DataFrame:
    """What the busiest device told, once a batch."""
    told = table(main, "device_step")
    if len(told):
        busiest = told.groupby("device")["step_ns"].sum().idxmax()
        told = told[told["device"] == busiest]
    told = told.rename(columns={"wait_ns": "device_wait_ns", "step_ns": "device_step_ns"})
    told = told.drop_duplicates(["iterator", "ordinal"], keep="last").astype(float)
    # A witness sees whether the queue was empty, and for how long only within bounds; it has no copies and no steps.
    told.loc[told["method"] == METHOD_WITNESS, ["copy_ns", "device_step_ns"]] = np.nan
    told[_TOLD] = told[_TOLD].where(told[_TOLD] >= 0)
    return told.astype({"iterator": np.int64, "ordinal": np.int64})[["iterator", "ordinal", "every", *_TOLD]]


def _on_device(steps: pd.DataFrame, lag: Lag) -> pd.DataFrame:
    """Exposed waits; those of steps in between two measured ones by the shares of the measured ones of their loader."""
    next_ns = steps["wait_ns"] - steps["build_ns"]
    told = steps["told"]
    shares = {}
    for name in ("wait_low_ns", "device_wait_ns", "wait_high_ns"):
        part = _by_loader(steps[name], steps) / _by_loader(next_ns.where(told), steps)
        shares[name] = steps[name].fillna(next_ns * part.fillna(1.0 if name == "wait_high_ns" else 0.0).clip(upper=1.0))
    lags_ns = lag.at(steps["end_ns"])
    # Building an iterator is a wait too.  The device had nothing to do at its end where its queue was empty by then.
    built_ns = steps["build_ns"].astype(float)
    return steps.assign(
        exposed_ns=shares["device_wait_ns"] + built_ns.where(steps["drained"] > 0, 0.0),
        low_ns=shares["wait_low_ns"],
        high_ns=shares["wait_high_ns"] + built_ns,
        copy_ns=as_nearest(steps["copy_ns"], steps["loader"]).fillna(0.0),
        chunk_ns=(steps["chunk_ns"] + np.diff(lags_ns, prepend=0.0)).clip(lower=1.0),
        device_step_ns=(steps["end_ns"] - steps["begin_ns"] + lags_ns - lag.at(steps["begin_ns"])).clip(lower=1.0),
    )


@dataclass(frozen=True)
class Lag:
    """How far the device is behind the host at each request of any loader, ns: work that is queued and not done yet.

    While its queue fills, and to the end where it never is full, a host launches faster than the device works.  Shares are
    of the device's time, so what the lag grows by in a step is added to the host's time of that step.
    """

    requests_ns: npt.NDArray[np.int64]
    behind_ns: npt.NDArray[np.float64]

    @classmethod
    def of(cls, calls: pd.DataFrame, device_steps: pd.DataFrame) -> Lag:
        """From the device's time of each step, and from requests that found its queue empty; never below zero."""
        calls = calls.sort_values("begin_ns").merge(device_steps, on=["iterator", "ordinal"], how="left")
        requests_ns = calls["begin_ns"].to_numpy()
        host_ns = np.append(np.diff(requests_ns).astype(float), np.nan)
        grows_ns = _nearest(calls["device_step_ns"] - host_ns).fillna(0.0).to_numpy()
        behind_ns, lag_ns = np.zeros(len(calls)), 0.0
        for place, (drained, grown_ns) in enumerate(zip(calls["drained"] > 0, grows_ns, strict=True)):
            behind_ns[place] = lag_ns = 0.0 if drained else lag_ns
            lag_ns = max(0.0, lag_ns + grown_ns)
        return cls(requests_ns, behind_ns)

    def at(self, times_ns: pd.Series[int]) -> npt.NDArray[np.float64]:
        """At the last request that is no later."""
        last = np.searchsorted(self.requests_ns, times_ns.to_numpy(), side="right") - 1
        behind_ns: npt.NDArray[np.float64] = self.behind_ns[last.clip(min=0)]
        return behind_ns


def as_nearest(values: pd.Series[float], loaders: pd.Series[int]) -> pd.Series[float]:
    """Unknown values as that of the nearest known step of the same loader; NaN where it has none.

    So each known step stands for its neighbours alone: not those that were heard one and all for the rest of the run, nor
    one during warm-up for later ones; and an interval over blocks sees that neighbours share one value.
    """
    return values.groupby(loaders, sort=False).transform(_nearest)


def _nearest(values: pd.Series[float]) -> pd.Series[float]:
    known = np.flatnonzero(values.notna().to_numpy())
    if len(known) == 0:
        return values
    places = np.arange(len(values))
    after = known[np.searchsorted(known, places).clip(max=len(known) - 1)]
    before = known[(np.searchsorted(known, places, side="right") - 1).clip(min=0)]
    nearest = np.where(np.abs(after - places) < np.abs(places - before), after, before)
    return pd.Series(values.to_numpy()[nearest], index=values.index)


def _by_loader(values: pd.Series[float], steps: pd.DataFrame) -> pd.Series[float]:
    return values.groupby(steps["loader"]).transform("sum").replace(0.0, np.nan)
