"""What the model says of settings that were not run, from the runs that were."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from loaderdoctor import predict
from loaderdoctor.predict import Change
from loaderdoctor.values import Interval

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loaderdoctor.analyse.signals import LoaderSettings, LoaderSignals, Signals, Workload

TUNED = ("num_workers", "prefetch_factor", "pin_memory", "persistent_workers")


@dataclass(frozen=True)
class Forecast:
    """Replays one run under other settings.  `written` are those of the script, which other settings differ from."""

    workload: Workload
    other_s: float
    step_s: float  # of the run that is replayed: all time over all steps of training
    written: LoaderSettings

    @classmethod
    def of(cls, signals: Signals, loader: LoaderSignals, step_s: float, written: LoaderSettings) -> Forecast | None:
        """None where the run has nothing to replay."""
        workload = predict.workload_of(signals, loader)
        if workload is None:
            return None
        return cls(workload, predict.elsewhere_s(signals, workload), step_s, written)

    def speedup(self, settings: Mapping[str, Any]) -> Interval:
        """Over the run that is replayed."""
        whole = {name: settings.get(name, getattr(self.written, name)) for name in TUNED}
        changed = {name: value for name, value in whole.items() if value != getattr(self.workload.settings, name)}
        return predict.speedup(self.workload, Change(changed), self.other_s) if changed else Interval(1.0, 1.0, 1.0)

    def step_with(self, settings: Mapping[str, Any]) -> float:
        """Seconds."""
        return self.step_s / self.speedup(settings).best

    def memory_bytes(self, settings: Mapping[str, Any]) -> int | None:
        """That the settings would take on the host."""
        return predict.memory_bytes(self.workload, settings)

    def knee(self) -> int:
        """Workers from which on more would gain next to nothing."""
        return predict.fewest_workers(self.workload)
