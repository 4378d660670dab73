"""The real NVML bindings over a scripted driver: readings, refusals, lost GPUs, and which GPUs are the script's."""

from __future__ import annotations

import pynvml
import pytest

from loaderdoctor.sample.gpu import GpuSampler

UUIDS = ("GPU-aaaa-1", "GPU-bbbb-2", "GPU-cccc-3")


UINTS = {
    "nvmlDeviceGetClockInfo": 1410,
    "nvmlDeviceGetPowerUsage": 250_000,
    "nvmlDeviceGetEnforcedPowerLimit": 300_000,
    "nvmlDeviceGetTotalEnergyConsumption": 5_000,
    "nvmlDeviceGetCurrPcieLinkGeneration": 1,
    "nvmlDeviceGetCurrPcieLinkWidth": 8,
    "nvmlDeviceGetMaxPcieLinkGeneration": 4,
    "nvmlDeviceGetMaxPcieLinkWidth": 16,
    "nvmlDeviceGetCurrentClocksThrottleReasons": 0x4 | 0x40,
}


class Driver:
    """Stands where the bindings keep the C library: fills their out-parameters, or answers with an error code.

    A function that is in no table is missing, as from a driver that is too old for it.
    """

    def __init__(self, *, models=("A100",), errors=None, missing=()):
        self.models = models
        self.errors = dict(errors or {})
        self.missing = set(missing)
        self.calls = []

    def __getattr__(self, name):
        if name.startswith("_") or name in self.missing:
            raise AttributeError(name)
        base = name.removesuffix("_v2")
        act = getattr(type(self), f"do_{base}", None)
        if act is None and base not in UINTS:
            raise AttributeError(name)

        def function(*arguments):
            self.calls.append(base)
            if base in self.errors:
                return self.errors[base]
            if act is None:
                arguments[-1]._obj.value = UINTS[base]
            else:
                act(self, *arguments)
            return pynvml.NVML_SUCCESS

        return function

    def do_nvmlInitWithFlags(self, _flags):  # noqa: N802 - the library's name
        pass

    def do_nvmlShutdown(self):  # noqa: N802 - the library's name
        pass

    def do_nvmlErrorString(self, _code):  # noqa: N802 - the library's name
        pass

    def do_nvmlDeviceGetCount(self, count):  # noqa: N802 - the library's name
        count._obj.value = len(self.models)

    def do_nvmlDeviceGetHandleByIndex(self, index, handle):  # noqa: N802 - the library's name
        number = getattr(index, "value", index)
        handle._obj.contents = type(handle._obj)._type_()
        handle._obj.number = number

    def do_nvmlDeviceGetUUID(self, handle, text, _size):  # noqa: N802 - the library's name
        text.value = UUIDS[handle.number].encode()

    def do_nvmlDeviceGetName(self, handle, text, _size):  # noqa: N802 - the library's name
        text.value = self.models[handle.number].encode()

    def do_nvmlDeviceGetUtilizationRates(self, _handle, rates):  # noqa: N802 - the library's name
        rates._obj.gpu, rates._obj.memory = 37, 12

    def do_nvmlDeviceGetMemoryInfo(self, _handle, memory):  # noqa: N802 - the library's name
        memory._obj.used, memory._obj.total = 3 << 30, 40 << 30


@pytest.fixture
def sampler_over(monkeypatch):
    """A sampler on a driver, in an environment."""

    def make(driver, **environment):
        monkeypatch.setattr(pynvml, "nvmlLib", driver)
        monkeypatch.setattr(pynvml, "_nvmlGetFunctionPointer_cache", {})
        return GpuSampler(environment)

    return make


def uuids(sampler):
    return [gpu["uuid"] for gpu in sampler.sample([])["gpus"]]


def test_a_row_has_every_reading_in_its_unit(sampler_over):
    sampler = sampler_over(Driver())
    assert sampler.sample([1, 2]) == {
        "gpus": [
            {
                "uuid": "GPU-aaaa-1",
                "utilisation_share": 0.37,
                "memory_busy_share": 0.12,
                "memory_used_bytes": 3 << 30,
                "memory_total_bytes": 40 << 30,
                "sm_clock_hz": 1.41e9,
                "clock_limits": ["power-cap", "hardware-thermal"],
                "power_w": 250.0,
                "power_limit_w": 300.0,
                "energy_j": 5.0,
                "pcie_generation": 1,
                "pcie_width": 8,
                "pcie_generation_max": 4,
                "pcie_width_max": 16,
            }
        ]
    }
    assert sampler.notes() == []


@pytest.mark.parametrize(
    ("visible", "order", "models", "expected"),
    [
        (None, None, ("A100", "A100"), [0, 1]),
        ("1", None, ("A100", "A100"), [1]),
        ("1,0", None, ("A100", "A100"), [1, 0]),
        ("1", None, ("T4", "A100"), [0, 1]),  # CUDA counts by speed: which one is meant cannot be told
        ("1", "PCI_BUS_ID", ("T4", "A100"), [1]),
        ("GPU-bbbb-2", None, ("T4", "A100"), [1]),
        ("GPU-c,GPU-a", None, ("T4", "A100", "A100"), [2, 0]),  # CUDA takes the beginnings of names, too
        ("0,-1,1", None, ("A100", "A100"), [0]),
    ],
)
def test_the_gpus_watched_are_those_that_the_script_may_use(sampler_over, visible, order, models, expected):
    environment = {"CUDA_VISIBLE_DEVICES": visible, "CUDA_DEVICE_ORDER": order}
    sampler = sampler_over(Driver(models=models), **{key: value for key, value in environment.items() if value})
    assert uuids(sampler) == [UUIDS[index] for index in expected]


def test_a_script_that_hides_all_gpus_has_none(sampler_over):
    sampler = sampler_over(Driver(), CUDA_VISIBLE_DEVICES="")
    assert sampler.sample([]) is None


PASSING = (pynvml.NVML_ERROR_TIMEOUT, pynvml.NVML_ERROR_UNKNOWN)
FOR_GOOD = (pynvml.NVML_ERROR_NOT_SUPPORTED, pynvml.NVML_ERROR_NO_PERMISSION, pynvml.NVML_ERROR_INVALID_ARGUMENT)
READINGS = ("nvmlDeviceGetUtilizationRates", "nvmlDeviceGetMemoryInfo", *UINTS)


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("code", FOR_GOOD)
def test_a_refused_reading_is_left_out_noted_once_and_not_asked_again(sampler_over, reading, code):
    driver = Driver(errors={reading: code})
    sampler = sampler_over(driver)
    full = 14
    for _ in range(3):
        assert len(sampler.sample([])["gpus"][0]) in (full - 1, full - 2)
    assert driver.calls.count(reading) == 1
    assert [slug for slug, _ in sampler.notes()] == ["gpu-partly-seen"]


@pytest.mark.parametrize("code", PASSING)
def test_a_reading_that_fails_in_passing_is_asked_again(sampler_over, code):
    driver = Driver(errors={"nvmlDeviceGetPowerUsage": code})
    sampler = sampler_over(driver)
    assert "power_w" not in sampler.sample([])["gpus"][0]
    driver.errors.clear()
    assert sampler.sample([])["gpus"][0]["power_w"] == 250.0
    assert sampler.notes() == []


def test_a_driver_too_old_for_a_reading_gives_the_others(sampler_over):
    sampler = sampler_over(Driver(missing=["nvmlDeviceGetTotalEnergyConsumption"]))
    row = sampler.sample([])["gpus"][0]
    assert "energy_j" not in row
    assert row["power_w"] == 250.0
    assert [slug for slug, _ in sampler.notes()] == ["gpu-partly-seen"]


def test_bindings_too_old_for_a_reading_give_the_others(sampler_over, monkeypatch):
    monkeypatch.delattr(pynvml, "nvmlDeviceGetTotalEnergyConsumption")
    row = sampler_over(Driver()).sample([])["gpus"][0]
    assert "energy_j" not in row
    assert row["power_w"] == 250.0


def test_a_lost_gpu_is_dropped_and_the_others_stay(sampler_over):
    driver = Driver(models=("A100", "A100"))
    sampler = sampler_over(driver)
    assert len(uuids(sampler)) == 2
    driver.errors["nvmlDeviceGetUtilizationRates"] = pynvml.NVML_ERROR_GPU_IS_LOST
    assert sampler.sample([]) is None
    assert [slug for slug, _ in sampler.notes()] == ["gpu-lost"]


@pytest.mark.parametrize(
    ("code", "slugs"),
    [
        (pynvml.NVML_ERROR_LIBRARY_NOT_FOUND, []),  # no NVIDIA driver here: nothing is missed
        (pynvml.NVML_ERROR_DRIVER_NOT_LOADED, ["gpu-unseen"]),
        (pynvml.NVML_ERROR_NO_PERMISSION, ["gpu-unseen"]),
        (pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH, ["gpu-unseen"]),
    ],
)
def test_a_driver_that_does_not_start_is_asked_once(sampler_over, code, slugs):
    driver = Driver(errors={"nvmlInitWithFlags": code})
    sampler = sampler_over(driver)
    assert [sampler.sample([]) for _ in range(3)] == [None, None, None]
    assert driver.calls.count("nvmlInitWithFlags") == 1
    assert [slug for slug, _ in sampler.notes()] == slugs


def test_nothing_slow_is_asked(sampler_over):
    driver = Driver()
    sampler = sampler_over(driver)
    sampler.sample([])
    sampler.sample([])
    sampler.close()
    assert not [call for call in driver.calls if "Process" in call or "PcieThroughput" in call or "Samples" in call]
    assert driver.calls[-1] == "nvmlShutdown"
