"""Settings that somebody wants to try, held against the loader that they are for before anything runs."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from loaderdoctor.errors import LoaderDoctorError
from loaderdoctor.probe.injection import NEEDS_WORKERS
from loaderdoctor.probe.layout import STARTS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from loaderdoctor.analyse.signals import LoaderSettings

MOST_WORKERS = 1024  # torch starts them one by one; more than any machine has cores is a slip of the finger
_WRITTEN: Mapping[str, Any] = {"true": True, "false": False, "none": None}


@dataclass(frozen=True)
class _Kind:
    """What a setting may be: in words, and whether a value is that."""

    words: str
    fits: Callable[[Any], bool]


def _is_whole(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


_SWITCH = _Kind("True or False", lambda value: isinstance(value, bool))
KINDS: Mapping[str, _Kind] = {
    "num_workers": _Kind(
        f"a whole number from 0 to {MOST_WORKERS}", lambda value: _is_whole(value, 0) and value <= MOST_WORKERS
    ),
    "prefetch_factor": _Kind("a whole number from 1 on", lambda value: _is_whole(value, 1)),
    "pin_memory": _SWITCH,
    "persistent_workers": _SWITCH,
    "in_order": _SWITCH,
    "timeout": _Kind("a number of seconds", lambda value: _is_whole(value, 0) or isinstance(value, float)),
    "multiprocessing_context": _Kind(f"one of {', '.join(STARTS)}", lambda value: value in STARTS),
}
REPLAYED = frozenset(KINDS) - {"timeout"}  # what a replay takes into account
# Arguments of a DataLoader that change which batches there are: runs with and without them do not train the same.
CHANGES_BATCHES = (
    "batch_size",
    "shuffle",
    "sampler",
    "batch_sampler",
    "drop_last",
    "collate_fn",
    "dataset",
    "generator",
)


def checked(words: Sequence[str], loader: LoaderSettings, *, has_device: bool) -> dict[str, Any]:
    """The settings that `words`, each like "num_workers=4", ask for.

    LoaderDoctorError `setting-unknown`, `setting-of-another-type`, `setting-refused` or `nothing-to-try`.
    """
    refuse_foreign(loader)
    settings = dict(_read(word) for word in words)
    workers = settings.get("num_workers", loader.num_workers)
    if not workers:
        for name in NEEDS_WORKERS:
            if settings.get(name):
                sentence = f"{name} needs workers, and the loader has none: add `--set num_workers=2`."
                raise _refused(sentence)
    if settings.get("in_order") is not None and loader.in_order is None:
        raise _refused("in_order is not known to the torch that the run was made with: it came with torch 2.6.")
    if settings.get("pin_memory") and not has_device:
        raise _refused("pin_memory does nothing here: the run used no device but the CPU.")
    changed = {name: value for name, value in settings.items() if value != _now(loader, name)}
    if not changed:
        raise LoaderDoctorError("nothing-to-try", "The loader has these settings already: name others with `--set`.")
    return changed


def refuse_foreign(loader: LoaderSettings) -> None:
    """LoaderDoctorError `setting-refused` for a loader that is not torch's."""
    if not loader.torch_loader:
        raise _refused("This loader is not torch's: its arguments are not known.")


def _read(word: str) -> tuple[str, Any]:
    name, equals, text = (part.strip() for part in word.partition("="))
    if name in CHANGES_BATCHES:
        sentence = f"{name} changes what is trained, not only how fast: its runs cannot be compared step by step."
        raise _refused(sentence)
    if name not in KINDS:
        close = difflib.get_close_matches(name, KINDS, n=1)
        hint = f"Did you mean {close[0]}?" if close else f"These can be tried: {', '.join(KINDS)}."
        raise LoaderDoctorError("setting-unknown", f"{name or word} is no setting that can be tried. {hint}")
    value = _value(text)
    if not equals or not KINDS[name].fits(value):
        sentence = f"{name} is {KINDS[name].words}, as in `--set {name}={_example(name)}`; not {text or 'nothing'}."
        raise LoaderDoctorError("setting-of-another-type", sentence)
    return name, value


def _value(text: str) -> Any:
    """As Python reads it; a name is a string without quotes."""
    if text.lower() in _WRITTEN:
        return _WRITTEN[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text.strip("'\"")


def _example(name: str) -> str:
    examples = {"num_workers": "4", "prefetch_factor": "4", "timeout": "60", "multiprocessing_context": "spawn"}
    return examples.get(name, "True")


def _now(loader: LoaderSettings, name: str) -> Any:
    return loader.start_method if name == "multiprocessing_context" else getattr(loader, name)


def _refused(sentence: str) -> LoaderDoctorError:
    return LoaderDoctorError("setting-refused", sentence)


def recorded_as(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings under the names that a loader's record has them; those that are taken out are not in it."""
    names = {"multiprocessing_context": "start_method"}
    return {names.get(name, name): value for name, value in settings.items() if value is not None}
