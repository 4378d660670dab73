"""Runs at the start of every Python below `loaderdoctor profile`: steps out of the way, and loads the probe.

Valid for any Python that may inherit the environment; older ones than the probe supports are left alone.
"""

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def _without_us(paths):
    return [path for path in paths if os.path.abspath(path or os.curdir) != _HERE]


def _run_the_hidden_one():
    """Import the sitecustomize that this one hides, as if this one were not there."""
    sys.path[:] = _without_us(sys.path)
    ours = sys.modules.pop("sitecustomize", None)
    try:
        __import__("sitecustomize")
    except ImportError as error:
        if getattr(error, "name", "sitecustomize") != "sitecustomize":
            raise
        sys.modules["sitecustomize"] = ours


def _number(name, kind):
    try:
        return kind(os.environ[name])
    except (KeyError, ValueError):
        return None


def _load_probe():
    run = os.environ.get("LOADERDOCTOR_RUN")
    if not run or sys.version_info < (3, 10):
        return
    from importlib.util import module_from_spec, spec_from_file_location

    folder = os.path.join(os.path.dirname(os.path.dirname(_HERE)), "probe")
    name = "_loaderdoctor_probe"
    spec = spec_from_file_location(name, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder])
    probe = sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(probe)
        probe.install(run, _number("LOADERDOCTOR_STEPS", int), _number("LOADERDOCTOR_SECONDS", float))
    except Exception:
        sys.modules.pop(name, None)  # the script runs without us


try:
    _load_probe()
except Exception:  # whatever is wrong with us is no matter of the script's
    pass
_run_the_hidden_one()
