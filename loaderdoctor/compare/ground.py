"""What two runs do not have in common: what forbids a ratio of their speeds, and what must be said beside one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from loaderdoctor.report import figures
from loaderdoctor.report.page_one import facts_of
from loaderdoctor.values import value_or_none

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from loaderdoctor.pipeline import Diagnosed

FEWEST_STEPS = 20  # of training after warm-up, as for a verdict: fewer could be overturned by one block of slow steps
SAME_BATCH = 0.01  # an epoch's last batch may be smaller, and runs need not end with one
SAME_MEMORY = 0.02  # one machine's kernels keep a little more or less of it for themselves
LOADED = 0.1  # of the CPUs, taken by other jobs in one run and not in the other: as much as a speed-up worth having
GIB = 1 << 30


@dataclass(frozen=True)
class Difference:
    """A slug, half a sentence, and whether a ratio of speeds would say nothing because of it."""

    slug: str
    text: str
    forbids: bool


def differences(before: Diagnosed, after: Diagnosed) -> tuple[Difference, ...]:
    """Those that forbid a ratio first."""
    found = [
        *_too_short(before, after),
        *_of_work(before, after),
        *_of_machine(before, after),
        *_of_setting(before, after),
    ]
    return tuple(sorted(found, key=lambda one: not one.forbids))


def _too_short(before: Diagnosed, after: Diagnosed) -> Iterator[Difference]:
    for name, done in (("A", before), ("B", after)):
        steps = done.signals.training_steps
        if steps < FEWEST_STEPS:
            text = f"{name} has {steps} training steps after warm-up, of {FEWEST_STEPS} that are needed"
            yield Difference("too-few-steps", text, forbids=True)


def _of_work(before: Diagnosed, after: Diagnosed) -> Iterator[Difference]:
    """A step of one run is not a step of the other."""
    old, new = before.signals, after.signals
    if old.main is None or new.main is None:
        return
    sizes = tuple(one.main.settings.batch_size for one in (old, new) if one.main)
    samples = [value_or_none(one.main.making.samples) for one in (old, new) if one.main]
    if None in sizes and None not in samples:
        sizes = tuple(samples)  # type: ignore[arg-type]  # none of them is None
    if None not in sizes and abs(sizes[0] - sizes[1]) > SAME_BATCH * sizes[0]:  # type: ignore[operator]  # as above
        yield Difference("batch-size", f"the batch size is {sizes[0]:g} and {sizes[1]:g}", forbids=True)
    lengths = old.main.settings.dataset_len, new.main.settings.dataset_len
    if lengths[0] != lengths[1]:
        yield Difference("data", f"the data set has {_count(lengths[0])} and {_count(lengths[1])}", forbids=True)
    elif old.main.settings.dataset_type != new.main.settings.dataset_type:
        types = (one.rpartition(".")[2] for one in (old.main.settings.dataset_type, new.main.settings.dataset_type))
        yield Difference("data-type", "the data set is {} and {}".format(*types), forbids=False)
    if old.ranks != new.ranks:
        yield Difference("ranks", f"{old.ranks} and {new.ranks} processes train", forbids=True)


def _count(length: int | None) -> str:
    return "a length that is not known" if length is None else f"{length:,} samples"


def _of_machine(before: Diagnosed, after: Diagnosed) -> Iterator[Difference]:
    old, new = (facts_of(done.run, done.signals) for done in (before, after))
    kinds = before.signals.device.kind, after.signals.device.kind
    if kinds[0] != kinds[1]:
        yield Difference("device", f"the device is {kinds[0]} and {kinds[1]}", forbids=True)
    elif _known_and_unequal(_names(old), _names(new)):
        yield Difference("device", f"the device is {_names(old)} and {_names(new)}", forbids=True)
    if any(_known_and_unequal(old.get(key), new.get(key)) for key in ("cpu_model", "architecture", "cpus_present")) or (
        _is_other_memory(old.get("memory_total_bytes"), new.get("memory_total_bytes"))
    ):
        yield Difference("machine", f"another machine ({_machine(old)}; {_machine(new)})", forbids=True)


def _names(facts: Mapping[str, Any]) -> str | None:
    gpus = facts.get("gpus") or facts.get("device_name") or facts.get("gpu")
    if not gpus:
        return None
    if isinstance(gpus, (list, tuple)):
        return ", ".join(str(gpu.get("name", gpu)) if isinstance(gpu, dict) else str(gpu) for gpu in gpus)
    return str(gpus)


def _known_and_unequal(old: object, new: object) -> bool:
    return old is not None and new is not None and old != new


def _is_other_memory(old: Any, new: Any) -> bool:
    return bool(old and new and abs(old - new) > SAME_MEMORY * old)


def _machine(facts: Mapping[str, Any]) -> str:
    memory = facts.get("memory_total_bytes")
    parts = [
        facts.get("cpu_model"),
        f"{facts['cpus_present']} CPUs" if facts.get("cpus_present") else None,
        f"{memory / GIB:.0f} GiB" if memory else None,
    ]
    return ", ".join(str(part) for part in parts if part) or "not known"


def _of_setting(before: Diagnosed, after: Diagnosed) -> Iterator[Difference]:
    """What a ratio may have to do with besides what was changed on purpose."""
    old, new = (facts_of(done.run, done.signals) for done in (before, after))
    for key, name in (("torch", "torch"), ("python", "Python"), ("cuda", "CUDA")):
        if _known_and_unequal(old.get(key), new.get(key)):
            yield Difference(key, f"{name} is {old[key]} and {new[key]}", forbids=False)
    scripts = script_of(before.run.meta.command), script_of(after.run.meta.command)
    if scripts[0] != scripts[1]:
        yield Difference("script", f"the script is {scripts[0]} and {scripts[1]}", forbids=False)
    if before.signals.clock != after.signals.clock:
        text = f"waits are on the clock of the {before.signals.clock} and of the {after.signals.clock}"
        yield Difference("clock", text, forbids=False)
    loads = [value_or_none(done.signals.machine.neighbour_allowed_cpu_share) for done in (before, after)]
    known = [load for load in loads if load is not None]
    if len(known) == len(loads) and abs(known[0] - known[1]) >= LOADED:
        text = f"other jobs took {figures.share(known[0])} and {figures.share(known[1])} of the CPUs"
        yield Difference("neighbours", text, forbids=False)


def script_of(command: Sequence[str]) -> str:
    """What a command runs, by the name of its file: two checkouts hold the same script."""
    for word in command:
        if word.endswith(".py"):
            return PurePath(word).name
    if "-m" in command[:-1]:
        return command[command.index("-m") + 1]
    return PurePath(command[0]).name if command else ""
