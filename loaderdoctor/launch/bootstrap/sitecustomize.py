"""Runs at the start of every Python below `loaderdoctor profile`: steps out of the way, and loads the probe when needed.

Valid for any Python that may inherit the environment; older ones than the probe supports are left alone.
"""

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))
_PROBE = "_loaderdoctor_probe"
_STARTS_WORKERS = "multiprocessing"
_OF_THE_START = ("sitecustomize", "usercustomize")  # asked for in every process


class _ProbeOnDemand(object):  # noqa: UP004 - Python 2 reads this too
    """A finder that finds nothing; at the first import from outside the standard library it loads the probe.

    What imports nothing from there and starts no workers does not train, and pays next to nothing for us.
    """

    def __init__(self, run):
        self._run = run

    def find_spec(self, name, path=None, target=None):
        if "." in name or name in _OF_THE_START:
            return None
        if name in sys.stdlib_module_names and name != _STARTS_WORKERS:
            return None
        try:
            sys.meta_path.remove(self)
            _load_probe(self._run)
        except Exception:  # whatever is wrong with us is no matter of the script's
            return None
        return sys.meta_path[0].find_spec(name, path, target)  # the probe's finder came too late to be asked for this


def _load_probe(run):
    path, hidden = sys.path[:], _hide_the_scripts_own()
    before = set(sys.modules)
    try:
        sys.path[:] = [entry for entry in path if _is_standard(entry)]
        from importlib.util import module_from_spec, spec_from_file_location

        folder = os.path.join(os.path.dirname(os.path.dirname(_HERE)), "probe")
        spec = spec_from_file_location(_PROBE, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder])
        probe = sys.modules[_PROBE] = module_from_spec(spec)
        spec.loader.exec_module(probe)
        probe.standard.keep_hidden([name for name in probe.standard.LATER if _is_beside(name, path)])
        steps, seconds = _number("LOADERDOCTOR_STEPS", int), _number("LOADERDOCTOR_SECONDS", float)
        windows, injected = _number("LOADERDOCTOR_WINDOWS", _two_durations), os.environ.get("LOADERDOCTOR_INJECTED")
        window = _number("LOADERDOCTOR_TRACE_WINDOW", int)
        probe.install(run, steps, seconds, window, windows=windows, injected=injected)
    except Exception:
        sys.modules.pop(_PROBE, None)
        raise
    finally:
        sys.path[:] = path
        for name in set(sys.modules) - before:
            if _is_beside(name.partition(".")[0], path):  # the script's own import of it finds the script's file
                del sys.modules[name]
        sys.modules.update(hidden)


def _is_standard(entry):
    library = os.path.dirname(os.path.abspath(os.__file__))
    return bool(entry) and "-packages" not in entry and (entry.startswith(library) or entry.endswith(".zip"))


def _is_beside(name, path):
    """Whether the script has a file of this name of the standard library's, where it would be found first."""
    for entry in path:
        if _is_standard(entry):
            return False
        place = os.path.join(entry or os.curdir, name)
        if os.path.exists(place + ".py") or os.path.isdir(place):
            return name in sys.stdlib_module_names
    return False


def _hide_the_scripts_own():
    """Take the script's modules that have a name of the standard library's away for a moment."""
    hidden = {}
    for name in sys.stdlib_module_names & set(sys.modules):
        file = getattr(sys.modules[name], "__file__", None)
        if file is not None and not _is_standard(os.path.abspath(file)):
            hidden[name] = sys.modules.pop(name)
    return hidden


def _two_durations(text):
    every_s, for_s = text.split(":")
    return int(float(every_s) * 1e9), int(float(for_s) * 1e9)


def _number(name, kind):
    try:
        return kind(os.environ[name])
    except (KeyError, ValueError):
        return None


def _run_the_hidden_one():
    """Import the sitecustomize that this one hides, as if this one were not there."""
    sys.path[:] = [path for path in sys.path if os.path.abspath(path or os.curdir) != _HERE]
    ours = sys.modules.pop("sitecustomize", None)
    try:
        __import__("sitecustomize")
    except ImportError as error:
        if getattr(error, "name", "sitecustomize") != "sitecustomize":
            raise
        sys.modules["sitecustomize"] = ours


if os.environ.get("LOADERDOCTOR_RUN") and sys.version_info >= (3, 10):
    sys.meta_path.insert(0, _ProbeOnDemand(os.environ["LOADERDOCTOR_RUN"]))
_run_the_hidden_one()
