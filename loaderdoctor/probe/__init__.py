"""The probe: inside the training process and its workers, it records what the input pipeline does.

It is loaded on its own, without the rest of loaderdoctor, and imports the standard library only.  It adds no thread, lock
or child to the script's processes, prints nothing, keeps no object of the script alive, and lets no error of its own out.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from . import standard
from .faults import pass_on

if TYPE_CHECKING:
    from types import ModuleType

    from .imports import ImportHook

_hook: ImportHook | None = None  # one a process, whatever is recorded when

WHY_EXIT = 0  # end.why


def install(
    run_dir: str,
    steps: int | None = None,
    seconds: float | None = None,
    trace_window: int | None = None,
    *,
    windows: tuple[int, int] | None = None,
    injected: str | None = None,
) -> None:
    """Record this process into `run_dir`, which has a folder `records`, from now on; while it records, does nothing.

    `steps` and `seconds` end the script after so many steps or seconds of training, `trace_window` only after so many more
    steps under torch's profiler.  `windows` are (every, for) in ns: so much of each so much is recorded in detail.  `injected`
    is what a trial forces on one loader, as JSON (injection.Injection).
    """
    global _hook
    from . import state

    if state.probe is not None:
        return
    state.probe = state.Probe(run_dir, steps, seconds, trace_window, windows=windows, injected=injected)
    if _hook is not None:
        return
    from .imports import ImportHook

    _hook = ImportHook()
    sys.meta_path.insert(0, _hook)
    atexit: Any = standard.standard("atexit")
    atexit.register(_at_exit)
    _hook.on_import("multiprocessing.process", _patch_processes)
    _hook.on_import("torch.utils.data.dataloader", _patch_torch)
    _hook.on_import("torchdata.stateful_dataloader.stateful_dataloader", _patch_torchdata)
    from . import foreign_loaders

    for name in foreign_loaders.CLASSES:
        _hook.on_import(name, _patch_foreign)


def uninstall() -> None:
    """End the recording; the hooks stay, and do nothing."""
    from . import state

    probe, state.probe = state.probe, None
    if probe is not None:
        probe.end(WHY_EXIT)
        probe.writer.close()


def _at_exit() -> None:
    from . import state

    try:
        if state.probe is not None:
            state.probe.end(WHY_EXIT)
    except Exception as error:
        pass_on(error)
        return


def _patch_processes(module: ModuleType) -> None:
    from ._importlib_bootstrap import worker

    worker.patch(module)


def _patch_torch(module: Any) -> None:
    """The hooks of a loader, all of them or none."""
    from . import state
    from ._importlib_bootstrap import fetch, iteration, pin

    parts: Any = module._utils
    if not (iteration.is_supported(module) and fetch.is_supported(parts.fetch) and pin.is_supported(parts.pin_memory)):
        if state.probe is not None:
            version = sys.modules["torch"].__version__
            state.probe.note(
                "unsupported-torch", f"torch {version} has a DataLoader that is not known: nothing was measured."
            )
        return
    iteration.patch(module)
    fetch.patch(parts.fetch)
    pin.patch(parts.pin_memory)


def _patch_torchdata(module: Any) -> None:
    from ._importlib_bootstrap import iteration

    iteration.patch_loader(module.StatefulDataLoader)
    iteration.patch_workers_iterator(module._StatefulMultiProcessingDataLoaderIter)


def _patch_foreign(module: ModuleType) -> None:
    from ._importlib_bootstrap import foreign

    foreign.patch(module)
