"""Which loaders there are, and what each is for: the DataLoaders built at one place with one set of settings are one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, get_type_hints

from loaderdoctor.analyse.frames import json_object, table
from loaderdoctor.analyse.signals import LoaderSettings, Site

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

    from loaderdoctor.record.run import ProcessRecords

TRAIN, EVAL = "train", "eval"
_SETTINGS = get_type_hints(LoaderSettings)


@dataclass(frozen=True)
class Loader:
    """One loader of the script; `numbers` are the DataLoader objects that it stands for."""

    id: str
    role: str
    site: Site | None
    settings: LoaderSettings
    numbers: frozenset[int]


@dataclass(frozen=True)
class _Built:
    """One DataLoader object."""

    number: int
    site: Site | None
    settings: LoaderSettings


def loaders_of(
    main: ProcessRecords, taken: Iterable[int], steps: pd.DataFrame, loops: pd.DataFrame
) -> tuple[Loader, ...]:
    """The loaders that the consumer took batches from, by their numbers, the main training loader first.

    A script that fails in its first step has a loader, and no step.
    """
    built = _built(main, taken)
    roles = _roles(built, steps, loops)
    merged: dict[tuple[Site | None, LoaderSettings, str], list[_Built]] = {}
    for one in built:
        # A data set that grows or is split anew every epoch is still the same loader.
        key = (one.site, replace(one.settings, dataset_len=None), roles[one.number])
        merged.setdefault(key, []).append(one)
    loaders = _named(
        [
            Loader("", role, site, turn[-1].settings, _numbers(turn))
            for (site, _, role), group in merged.items()
            for turn in _in_turn(group, steps)
        ]
    )
    own_ns = steps.groupby("loader")["own_ns"].sum()
    return tuple(sorted(loaders, key=lambda loader: (loader.role != TRAIN, -_sum(own_ns, loader.numbers), loader.id)))


def _in_turn(group: list[_Built], steps: pd.DataFrame) -> list[list[_Built]]:
    """One list for each loader that is in use beside the others, of the objects that took its place one after the other.

    A loader built anew every epoch is one; two that a function builds at the same line, and that are used by turns, are two.
    """
    if len(group) == 1:
        return [group]
    spans = steps.groupby("loader").agg(first_ns=("begin_ns", "min"), last_ns=("got_ns", "max"))
    used = {row.Index: (row.first_ns, row.last_ns) for row in spans.itertuples()}
    turns: list[list[_Built]] = []
    free_ns: list[float] = []  # when the last object of each list was used for the last time
    for one in sorted(group, key=lambda one: used.get(one.number, (0, 0))):
        first_ns, last_ns = used.get(one.number, (0, 0))
        at = next((k for k, free in enumerate(free_ns) if free <= first_ns), len(turns))
        if at == len(turns):
            turns.append([])
            free_ns.append(0)
        turns[at].append(one)
        free_ns[at] = last_ns
    return turns


def _numbers(group: Iterable[_Built]) -> frozenset[int]:
    return frozenset(one.number for one in group)


def _sum(values: pd.Series[Any], numbers: frozenset[int]) -> float:
    return float(values[values.index.isin(numbers)].sum())


def _built(main: ProcessRecords, numbers: Iterable[int]) -> list[_Built]:
    rows = {row.loader: row for row in table(main, "loader").itertuples(index=False)}
    built = []
    for number in sorted(numbers):
        row = rows.get(number)
        site = _site(main.texts.get(row.site_text, "")) if row else None
        built.append(_Built(number, site, _settings(main.texts.get(row.settings_text, "{}") if row else "{}")))
    return built


def _site(text: str) -> Site | None:
    file, _, line = text.rpartition(":")
    return Site(file, int(line)) if file and line.isdigit() else None


def _settings(text: str) -> LoaderSettings:
    """Those that are what they should be; `damaged_settings` tells of the others."""
    raw = json_object(text) or {}
    return LoaderSettings(**{name: value for name, value in raw.items() if _is_setting(name, value)})


def _is_setting(name: str, value: object) -> bool:
    kind = _SETTINGS.get(name)
    return kind is not None and (isinstance(value, kind) or (isinstance(value, int) and isinstance(0.0, kind)))


def damaged_settings(main: ProcessRecords) -> list[str]:
    """The loaders, by their number, and what of their settings is not what it should be."""
    found = []
    for row in table(main, "loader").itertuples(index=False):
        raw = json_object(main.texts.get(row.settings_text, "{}"))
        wrong = [name for name in _SETTINGS if raw is not None and name in raw and not _is_setting(name, raw[name])]
        if raw is None or wrong:
            found.append(f"loader {row.loader}: {', '.join(wrong) or 'all'}")
    return found


def _roles(built: Iterable[_Built], steps: pd.DataFrame, loops: pd.DataFrame) -> dict[int, str]:
    """Training is where the optimizer steps between two batches; without such steps, where gradients are enabled.

    Without those either, as in an inference script, it is the loader that takes the most time.
    """
    kinds: dict[tuple[Site | None, LoaderSettings], list[int]] = {}
    for one in built:
        kinds.setdefault((one.site, one.settings), []).append(one.number)
    optimized = steps.groupby("loader")["optimized"].sum()
    own_ns = steps.groupby("loader")["own_ns"].sum()
    with_gradients = set(loops.loc[loops["grad_enabled"] != 0, "loader"])
    groups = [frozenset(numbers) for numbers in kinds.values()]
    training = {group for group in groups if _sum(optimized, group) > 0}
    if not training:
        candidates = [group for group in groups if group & with_gradients] or groups
        training = {max(candidates, key=lambda group: _sum(own_ns, group))} if candidates else set()
    return {number: TRAIN if group in training else EVAL for group in groups for number in group}


def _named(loaders: list[Loader]) -> list[Loader]:
    """Each gets its place in the source as an id, and a number where one place built several."""
    named: list[Loader] = []
    taken: dict[str, int] = {}
    for loader in loaders:
        name = f"{PurePath(loader.site.file).name}:{loader.site.line}" if loader.site else "loader"
        taken[name] = taken.get(name, 0) + 1
        named.append(replace(loader, id=name if taken[name] == 1 else f"{name}#{taken[name]}"))
    return named
