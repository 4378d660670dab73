"""Runs to diagnose: a CPU or a device that is fed or starves, to be varied by one signal at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from builders import around, device, exact, loader, signals, steps, workload

from loaderdoctor.analyse.signals import CodeSignals, HotPlace, LoaderSettings, Site
from loaderdoctor.causes import engine, get

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import DeviceSignals, LoaderSignals, Signals
    from loaderdoctor.causes.base import Finding

WORKERS = LoaderSettings(batch_size=32, num_workers=2, prefetch_factor=2, persistent_workers=True, start_method="fork")


def answer(cause: str, run: Signals) -> Finding:
    """What one cause says of the run's main loader."""
    return engine.answer(get(cause), run, run.loaders[0])


def workers_busy(count: int = 2, *, wait: float = 0.33, cores: float = 8.0, **overrides: Any) -> LoaderSignals:
    """A loader whose workers are all busy: batches of 30 ms, mostly of waiting, are used in 10 ms."""
    settings = LoaderSettings(**{**vars_of(WORKERS), "num_workers": count, **overrides.pop("settings", {})})
    work = {"cpu_s": 0.005, "blocked_s": 0.025, "wait_s": 0.01 * wait / (1 - wait), **overrides.pop("work", {})}
    given = {
        "exposed_wait_share": around(wait, spread=0.03),
        "workload": workload(settings=settings, cores=cores, epochs=1, batches=200, batch_bytes=1000, **work),
        "settings": settings,
        "epochs": 1,
        "epoch_gap_share": exact(0.0),
    }
    return loader(**{**given, **overrides})


def fed(count: int = 2, **overrides: Any) -> LoaderSignals:
    """A loader that is hardly waited for: batches of 3 ms are used in 10 ms."""
    work = {"cpu_s": 0.003, "blocked_s": 0.0, "wait_s": 0.0, **overrides.pop("work", {})}
    return workers_busy(
        count,
        wait=0.005,
        work=work,
        **{"worker_busy_share": around(0.15), "ready_median": exact(4, "batches"), **overrides},
    )


def computing(
    count: int = 2, *, cores: float = 2.0, places: tuple[HotPlace, ...] = (), **shares: float
) -> LoaderSignals:
    """Workers that compute all the time on all cores; `shares` are those of their code (decode=0.8), the others are 0."""
    names = ("decode", "resize", "transform", "tokenize", "audio", "video", "python", "array")
    code = {f"{name}_share": around(shares.get(name, 0.0), spread=0.02) for name in names}
    one = workers_busy(count, wait=0.5, cores=cores, work={"cpu_s": 0.03, "blocked_s": 0.0})
    oversize = {"oversize": exact(shares["oversize"], "times")} if "oversize" in shares else {}
    return replace(one, code=CodeSignals(**code, **oversize, places=places))


def hot(kind: str, share: float = 0.8, calls: str = "") -> HotPlace:
    """A place in the data set's own code."""
    return HotPlace(kind, "Photos.__getitem__", Site("/home/user/photos.py", 41), calls, around(share))


def on_a_cpu(one: LoaderSignals, *others: LoaderSignals, share: float | None = None, **overrides: Any) -> Signals:
    """A run on a CPU of these loaders; `share` is the starved share, that of the first loader if left out."""
    starved = share if share is not None else one.exposed_wait_share.value
    plain = {
        "starved_share": around(starved, spread=0.03),
        "measured_s": 180 * 0.01 / (1 - starved),
        "steps": steps(data_wait_share=exact(starved), compute_share=exact(1 - starved)),
    }
    return signals(loaders=(one, *others), **{**plain, **overrides})


def gpu(**overrides: Any) -> DeviceSignals:
    """A GPU that is fed: pinned copies that do not block, hardly felt, and a host that runs ahead."""
    healthy = {
        "kind": "cuda",
        "clock": "device",
        "hidden_wait_share": exact(0.01),
        "copy_share": exact(0.001),
        "copy_bytes_per_step": exact(20e6, "bytes"),
        "pinned_share": exact(1.0),
        "blocking_share": exact(0.0),
        "copy_bandwidth": exact(1e10, "bytes/s"),
        "drained_share": exact(0.02),
        "sync_share": exact(0.01),
        "syncs_per_step": exact(0.02, "syncs"),
        "pin_busy_share": exact(0.05),
        "host_allocations_per_step": exact(0.0, "allocations"),
    }
    return device(
        **{
            **healthy,
            **{name: exact(value) if isinstance(value, float) else value for name, value in overrides.items()},
        }
    )


def on_a_gpu(one: LoaderSignals, **device_signals: Any) -> Signals:
    """A run of one loader on a GPU: its waits and copies are what the device waits for."""
    its_gpu = gpu(**device_signals)
    wait, copy = one.exposed_wait_share.value, its_gpu.copy_share.value
    return on_a_cpu(
        one,
        share=wait + copy,
        clock="device",
        device=its_gpu,
        steps=steps(data_wait_share=exact(wait), h2d_share=exact(copy), compute_share=exact(1 - wait - copy)),
    )


def vars_of(settings: LoaderSettings) -> dict[str, Any]:
    """The settings as keyword arguments."""
    return dict(vars(settings))
