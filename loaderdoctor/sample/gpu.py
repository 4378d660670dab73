"""What the NVIDIA driver says of the GPUs that the script may use; it corroborates, and never decides.

Its utilisation is the share of time in which any kernel ran at all: a tiny one, or one that waits for another rank, makes
100 %.  So a low one is evidence and a high one is none.  Only calls that cost microseconds are made: no lists of processes,
which hold the driver's lock for milliseconds, and no PCIe throughput, which blocks for 20 ms.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from loaderdoctor.sample.sampler import Note

# Why the clocks are lower than they could be, by bit; the names of nvml.h in words.
CLOCK_LIMITS = {
    0x1: "idle",
    0x2: "setting",
    0x4: "power-cap",
    0x8: "hardware-slowdown",
    0x10: "sync-boost",
    0x20: "software-thermal",
    0x40: "hardware-thermal",
    0x80: "power-brake",
    0x100: "display",
}
_SM_CLOCK = 1  # NVML_CLOCK_SM
_ALL = "all"


class GpuSampler:
    """One row a second with an entry for each GPU; a reading that a GPU refuses is not asked of it again."""

    name = "gpu"

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self._environment = os.environ if environment is None else environment
        self._nvml: Any = None
        self._gpus: dict[str, Any] | None = None  # UUID -> handle; None before the first row
        self._refused: set[tuple[str, str]] = set()
        self._notes: dict[str, str] = {}

    def sample(self, _pids: Sequence[int]) -> dict[str, Any] | None:
        """{"gpus": [{"uuid", "utilisation_share", "memory_used_bytes", ...}]}; None where there is no GPU to see."""
        if self._gpus is None:
            self._gpus = self._find()
        rows = [self._row(uuid, handle) for uuid, handle in list(self._gpus.items())]
        return {"gpus": rows} if any(len(row) > 1 for row in rows) else None

    def notes(self) -> list[Note]:
        """What the driver refused."""
        return list(self._notes.items())

    def close(self) -> None:
        """Take leave of the driver."""
        if self._gpus and self._nvml is not None:
            self._ask("", "shutdown", self._nvml.nvmlShutdown)
        self._gpus = {}

    # -- which

    def _find(self) -> dict[str, Any]:
        try:
            import pynvml
        except ImportError as error:
            self._notes["gpu-unseen"] = f"The bindings of the NVIDIA driver cannot be imported: {error}."
            return {}
        self._nvml = nvml = pynvml
        try:
            nvml.nvmlInit()
        except nvml.NVMLError as error:
            if error.value != nvml.NVML_ERROR_LIBRARY_NOT_FOUND:  # without a driver there is nothing to miss
                self._notes["gpu-unseen"] = f"The NVIDIA driver does not answer: {error}."
            return {}
        count = self._ask("", "count", nvml.nvmlDeviceGetCount) or 0
        handles = [self._ask("", "handle", nvml.nvmlDeviceGetHandleByIndex, index) for index in range(count)]
        known = {self._uuid(handle): handle for handle in handles if handle is not None}
        return {uuid: known[uuid] for uuid in self._visible(list(known), known) if uuid}

    def _uuid(self, handle: Any) -> str:
        return _text(self._ask("", "uuid", self._nvml.nvmlDeviceGetUUID, handle) or "")

    def _visible(self, uuids: list[str], handles: dict[str, Any]) -> list[str]:
        """The GPUs that CUDA_VISIBLE_DEVICES leaves, by UUID.

        Its numbers count the way CUDA does, by speed first, and the driver by place: the same only among equal models,
        or where CUDA is told to.  Else all GPUs are watched.
        """
        wanted = self._environment.get("CUDA_VISIBLE_DEVICES", _ALL)
        if wanted == _ALL:
            return uuids
        by_place = self._environment.get("CUDA_DEVICE_ORDER") == "PCI_BUS_ID"
        chosen = []
        for entry in filter(None, (part.strip() for part in wanted.split(","))):
            if entry.lstrip("-").isdigit():
                if not by_place and len({self._model(handle) for handle in handles.values()}) > 1:
                    return uuids
                if not 0 <= int(entry) < len(uuids):
                    break  # CUDA itself ignores what follows a number that there is not
                chosen.append(uuids[int(entry)])
            else:
                chosen += [uuid for uuid in uuids if uuid.startswith(entry)]
        return chosen

    def _model(self, handle: Any) -> str:
        return _text(self._ask("", "name", self._nvml.nvmlDeviceGetName, handle) or "")

    # -- what

    def _row(self, uuid: str, handle: Any) -> dict[str, Any]:
        row: dict[str, Any] = {"uuid": uuid}
        nvml = self._nvml
        for field, function, arguments, shape in (
            ("utilisation", "nvmlDeviceGetUtilizationRates", (), _utilisation),
            ("memory", "nvmlDeviceGetMemoryInfo", (), _memory),
            ("clock", "nvmlDeviceGetClockInfo", (_SM_CLOCK,), _one("sm_clock_hz", 1e6)),
            ("limits", "nvmlDeviceGetCurrentClocksThrottleReasons", (), _limits),
            ("power", "nvmlDeviceGetPowerUsage", (), _one("power_w", 1e-3)),
            ("power limit", "nvmlDeviceGetEnforcedPowerLimit", (), _one("power_limit_w", 1e-3)),
            ("energy", "nvmlDeviceGetTotalEnergyConsumption", (), _one("energy_j", 1e-3)),
            ("link generation", "nvmlDeviceGetCurrPcieLinkGeneration", (), _one("pcie_generation")),
            ("link width", "nvmlDeviceGetCurrPcieLinkWidth", (), _one("pcie_width")),
            ("best link generation", "nvmlDeviceGetMaxPcieLinkGeneration", (), _one("pcie_generation_max")),
            ("best link width", "nvmlDeviceGetMaxPcieLinkWidth", (), _one("pcie_width_max")),
        ):
            if self._gpus is None or uuid not in self._gpus:
                break  # lost while we asked
            value = self._ask(uuid, field, getattr(nvml, function, None), handle, *arguments)
            if value is not None:
                row |= shape(value)
        return row

    def _ask(self, uuid: str, field: str, function: Callable[..., Any] | None, *arguments: Any) -> Any:
        """The driver's answer; None where it refuses, now or before."""
        if (uuid, field) in self._refused:
            return None
        nvml = self._nvml
        if function is None:
            self._refuse(uuid, field, "these bindings are too old")
            return None
        try:
            return function(*arguments)
        except nvml.NVMLError as error:
            if error.value in {nvml.NVML_ERROR_GPU_IS_LOST, getattr(nvml, "NVML_ERROR_RESET_REQUIRED", -1)}:
                self._lose(uuid, str(error))
            elif error.value not in {nvml.NVML_ERROR_TIMEOUT, nvml.NVML_ERROR_UNKNOWN}:  # those may pass
                self._refuse(uuid, field, str(error))
            return None

    def _refuse(self, uuid: str, field: str, why: str) -> None:
        self._refused.add((uuid, field))
        fields = sorted({field for _, field in self._refused})
        self._notes["gpu-partly-seen"] = f"The NVIDIA driver does not tell: {', '.join(fields)} ({why.lower()})."

    def _lose(self, uuid: str, why: str) -> None:
        if self._gpus is not None:
            self._gpus.pop(uuid, None)
        self._notes["gpu-lost"] = f"The driver lost a GPU during the run: {why}."


def _text(value: str | bytes) -> str:
    """Bindings of before 2022 answer in bytes."""
    return value.decode() if isinstance(value, bytes) else value


def _one(name: str, factor: float = 1) -> Callable[[Any], dict[str, Any]]:
    return lambda value: {name: value * factor}


def _utilisation(rates: Any) -> dict[str, Any]:
    return {"utilisation_share": rates.gpu / 100, "memory_busy_share": rates.memory / 100}


def _memory(info: Any) -> dict[str, Any]:
    return {"memory_used_bytes": info.used, "memory_total_bytes": info.total}


def _limits(bits: int) -> dict[str, Any]:
    return {"clock_limits": [name for bit, name in CLOCK_LIMITS.items() if bits & bit]}
