"""What the parent saw of the machine, the disk, the workers and the device; a series that is at fault costs its own part."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.analyse.around import disk_signals, machine_signals, worker_samples
from loaderdoctor.analyse.hardware import hardware_signals
from loaderdoctor.analyse.parts import Parts, absent, with_sound_samples
from loaderdoctor.analyse.signals import DiskSignals, HardwareSignals, MachineSignals

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loaderdoctor.analyse.around import WorkerSample
    from loaderdoctor.record.run import Run
    from loaderdoctor.values import Missing

    Window = tuple[int, int]
    Around = tuple[MachineSignals, DiskSignals, Mapping[int, WorkerSample], HardwareSignals]


def around_it(run: Run, window: Window | None, pid: int, parts: Parts) -> Around:
    """What was seen from outside, without the series of samples that nothing can be made of."""

    def all_of(run: Run) -> Around:
        seen = machine_signals(run, window), disk_signals(run, window), worker_samples(run, window)
        return (*seen, hardware_signals(run, pid, window))

    try:
        return all_of(run)
    except Exception:  # noqa: BLE001 - what is at fault is looked for, and said
        run = with_sound_samples(run, all_of, parts)
    return (
        parts.of("The machine", lambda: machine_signals(run, window), lambda why: absent(MachineSignals, why)),
        parts.of("The disk", lambda: disk_signals(run, window), _no_disk),
        parts.of("The workers' samples", lambda: worker_samples(run, window), lambda _: {}),
        parts.of("The hardware", lambda: hardware_signals(run, pid, window), lambda why: absent(HardwareSignals, why)),
    )


def _no_disk(reason: Missing) -> DiskSignals:
    return absent(DiskSignals, reason, file_system=None, kind="unknown", device=None)
