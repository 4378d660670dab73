"""Records this very process, for notebooks and loops that are not a script of their own."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loaderdoctor.errors import LoaderDoctorError
from loaderdoctor.launch.child import SHELL_SIGNAL, environment
from loaderdoctor.launch.ending import main_processes, silence
from loaderdoctor.launch.run import Options, begin, end, machine
from loaderdoctor.probe import control

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

PROBE_NAME = "_loaderdoctor_probe"  # as the bootstrap names it: a process has one probe, however it got there
PROBE_FOLDER = Path(__file__).parents[1] / "probe"
ENDED = ("script", 0)
NOT_SAMPLED = (
    "The run was recorded from inside its own process, and a thread that samples would disturb it: disks, memory and "
    "neighbours were not watched. `loaderdoctor profile` watches them."
)


def recorder() -> Path | None:
    """The run directory into which `loaderdoctor profile` records this process already; None where it does not."""
    run_dir = os.environ.get("LOADERDOCTOR_RUN")
    return Path(run_dir) if run_dir else None


class Recording:
    """One recording of this process: its run directory from the start, complete after `running`."""

    def __init__(self, output: str | None) -> None:
        """Make the run directory.  LoaderDoctorError `output-unusable`."""
        self.fault: LoaderDoctorError | None = None
        self.run_dir, self._meta = begin(sys.orig_argv, _name(), Options(output=output))

    @contextmanager
    def running(self) -> Iterator[None]:
        """Record what this process and its workers do until the context is left; what ends it passes through.

        Afterwards `fault` says where the run could not be kept whole.
        """
        notes: list[Mapping[str, str]] = [*self._meta.notes, {"slug": "not-sampled", "text": NOT_SAMPLED}]
        facts = machine(notes)
        probe = _probe()
        how = ENDED
        try:
            with _environment(environment(self.run_dir)):
                probe.install(str(self.run_dir))
                yield
        except BaseException as error:
            how = _how(error)
            raise
        finally:
            probe.uninstall()
            control.Control.open(str(self.run_dir)).set_word(
                control.ENDED, 1
            )  # workers that stay record nothing any more
            self._end(how, facts, notes)

    def _end(self, how: tuple[str, int], facts: Mapping[str, Any], notes: Sequence[Mapping[str, str]]) -> None:
        ended_by, exit_code = how
        processes = main_processes(self.run_dir)
        meta = replace(
            self._meta,
            ended_by=ended_by,
            exit_code=exit_code,
            environment=facts,
            notes=(*notes, *silence(processes)),
        )
        try:
            end(self.run_dir, meta, processes)
        except LoaderDoctorError as fault:
            self.fault = fault


def _how(error: BaseException) -> tuple[str, int]:
    """(RunMeta.ended_by, RunMeta.exit_code) of a block that this error left."""
    if isinstance(error, KeyboardInterrupt):
        return "interrupt", SHELL_SIGNAL + signal.SIGINT
    if isinstance(error, SystemExit) and not error.code:
        return ENDED
    return "crash", 1


def _name() -> str:
    file = getattr(sys.modules["__main__"], "__file__", None)
    return Path(file).stem if file else "notebook"


def _probe() -> Any:
    """The probe of this process, loaded apart from this package just as in a process that does not have it."""
    if PROBE_NAME not in sys.modules:
        spec = spec_from_file_location(
            PROBE_NAME, PROBE_FOLDER / "__init__.py", submodule_search_locations=[str(PROBE_FOLDER)]
        )
        assert spec is not None  # noqa: S101 - a path was given
        assert spec.loader is not None  # noqa: S101 - the same
        probe = sys.modules[PROBE_NAME] = module_from_spec(spec)
        spec.loader.exec_module(probe)
    return sys.modules[PROBE_NAME]


@contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    """Have these variables for a while: workers that are started afresh inherit the way to the probe."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
