"""What was changed between two runs, and which causes went and came."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from loaderdoctor.causes.base import EXPLAINED, FOUND
from loaderdoctor.report.page_one import facts_of
from loaderdoctor.report.privacy import shown_command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loaderdoctor.analyse.signals import LoaderSignals
    from loaderdoctor.causes.base import Diagnosis
    from loaderdoctor.pipeline import Diagnosed
    from loaderdoctor.record import Run

# Of a loader; what it loads and of which type it is are no settings, and are told elsewhere.
SETTINGS = (
    "batch_size",
    "num_workers",
    "prefetch_factor",
    "pin_memory",
    "persistent_workers",
    "in_order",
    "start_method",
    "drop_last",
    "timeout",
    "batched_fetch",
    "sampler",
    "collate",
)
FACTS = ("torch_threads", "cpus_allowed", "sharing_strategy", "working_directory_file_system")


@dataclass(frozen=True)
class Change:
    """A setting, a fact of the environment or the script, before and after."""

    name: str
    before: Any
    after: Any
    loader: str | None = None  # whose setting it is; None: the main training loader's, or no loader's


def changes(before: Diagnosed, after: Diagnosed) -> tuple[Change, ...]:
    """The main loader's first."""
    return (*_settings(before, after), *_facts(before, after), *_script(before.run, after.run))


def gone_and_new(before: Diagnosis, after: Diagnosis) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Ids of causes that were found before and are not there now, and the other way round; one that is explained is there."""
    return _beyond(before, after), _beyond(after, before)


def _beyond(one: Diagnosis, other: Diagnosis) -> tuple[str, ...]:
    there = {finding.cause for finding in other.findings if finding.status in {FOUND, EXPLAINED}}
    return tuple(
        dict.fromkeys(
            finding.cause for finding in one.findings if finding.status == FOUND and finding.cause not in there
        )
    )


def _settings(before: Diagnosed, after: Diagnosed) -> Iterator[Change]:
    for index, (old, new) in enumerate(_same_loaders(before, after)):
        was, now = asdict(old.settings), asdict(new.settings)
        for name in SETTINGS:
            if was[name] != now[name] and not _follows(name, was, now):
                yield Change(name, was[name], now[name], new.id if index else None)


def _follows(name: str, was: dict[str, Any], now: dict[str, Any]) -> bool:
    """Whether torch sets it by itself as there are workers, or are none."""
    return name in {"prefetch_factor", "start_method"} and None in {was[name], now[name]}


def _same_loaders(before: Diagnosed, after: Diagnosed) -> Iterator[tuple[LoaderSignals, LoaderSignals]]:
    """Pairs by role and order: the lines at which a script builds them move as it is edited."""
    for role in ("train", "eval"):
        sides = ([one for one in done.signals.loaders if one.role == role] for done in (before, after))
        yield from zip(*sides, strict=False)


def _facts(before: Diagnosed, after: Diagnosed) -> Iterator[Change]:
    old, new = (facts_of(done.run, done.signals) for done in (before, after))
    for name in FACTS:
        if None not in {old.get(name), new.get(name)} and old[name] != new[name]:
            yield Change(name, old[name], new[name])


def _script(before: Run, after: Run) -> Iterator[Change]:
    words = [_arguments(run) for run in (before, after)]
    if words[0] != words[1]:
        yield Change("arguments", " ".join(words[0]), " ".join(words[1]))
    was, now = ({PurePath(path).name: text for path, text in run.sources.items()} for run in (before, after))
    for name in sorted(set(was) & set(now)):
        if was[name] != now[name]:
            yield Change(name, "as it was", "edited")


def _arguments(run: Run) -> list[str]:
    """Without what may differ between two places of the same thing: interpreters, folders of the script."""
    words = shown_command(run.meta.command, run.meta.working_directory)
    return [PurePath(word).name if index < 2 else word for index, word in enumerate(words)]  # noqa: PLR2004 - interpreter, script
