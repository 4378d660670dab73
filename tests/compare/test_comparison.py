"""Two runs beside each other: whether a ratio is given, what changed, what is said."""

from __future__ import annotations

import json
from dataclasses import replace

import builders
import pytest

from loaderdoctor import analyse, causes
from loaderdoctor.analyse.signals import StepTimes
from loaderdoctor.causes.base import EXPLAINED, FOUND, RULED_OUT, Finding
from loaderdoctor.compare import FASTER, NO_DIFFERENCE, NOT_COMPARABLE, SLOWER, compare
from loaderdoctor.compare.changes import gone_and_new
from loaderdoctor.compare.ground import script_of
from loaderdoctor.compare.shown import lines, render
from loaderdoctor.pipeline import Diagnosed

WAITS, FED = "[" + 60 * "wwc" + "]", "[" + 60 * "wc" + "]"
MACHINE = {"cpu_model": "Quick 3", "cpus_present": 8, "memory_total_bytes": 64 << 30, "torch": "2.9", "python": "3.11"}


def done(drawing=WAITS, *, facts=MACHINE, settings=None, command=("python", "train.py"), sources=None, **changes):
    """A drawn run, diagnosed; `changes` are fields of its signals."""
    settings = {"dataset_len": 1000, "batch_size": 8, "dataset_type": "__main__.Rivers"} | (settings or {})
    run = builders.run_from(drawing, settings=settings, meta={"environment": facts, "command": command})
    run = replace(run, sources=sources or {})
    signals = replace(analyse.signals_of(run), **changes)
    return Diagnosed(run, signals, causes.diagnose(signals))


def slugs(comparison, *, forbids):
    return [one.slug for one in comparison.differences if one.forbids is forbids]


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        (WAITS, FED, FASTER),
        (FED, WAITS, SLOWER),
        (WAITS, WAITS, NO_DIFFERENCE),
    ],
)
def test_the_verdict_is_about_the_run_after(before, after, verdict):
    compared = compare(done(before), done(after))
    assert compared.verdict == verdict
    assert compared.speedup.paired_steps > 0
    assert compared.differences == ()


@pytest.mark.parametrize(
    ("after", "slug"),
    [
        (done(facts=MACHINE | {"cpu_model": "Slow 1"}), "machine"),
        (done(facts=MACHINE | {"cpus_present": 4}), "machine"),
        (done(facts=MACHINE | {"memory_total_bytes": 32 << 30}), "machine"),
        (done(settings={"batch_size": 16}), "batch-size"),
        (done(settings={"dataset_len": 999}), "data"),
        (done(ranks=2), "ranks"),
        (done(device=builders.device(kind="cuda")), "device"),
        (done("[" + 12 * "wwc" + "]"), "too-few-steps"),
        (done("[]"), "too-few-steps"),
    ],
)
def test_other_work_and_other_machines_give_no_ratio(after, slug):
    compared = compare(done(), after)
    assert (compared.verdict, compared.speedup) == (NOT_COMPARABLE, None)
    assert slugs(compared, forbids=True) == [slug]
    first, *rest = lines(compared)
    assert first.startswith("Not comparable")
    assert len(rest) <= 7
    assert json.loads(render(compared, "json"))["speedup"] is None


@pytest.mark.parametrize(
    ("after", "slug"),
    [
        (done(facts=MACHINE | {"torch": "9.9"}), "torch"),
        (done(facts=MACHINE | {"python": "3.99"}), "python"),
        (done(command=("python", "faster.py")), "script"),
        (done(settings={"dataset_type": "__main__.Cached"}), "data-type"),
        (done(clock="device"), "clock"),
        (done(machine=builders.machine(neighbour_allowed_cpu_share=builders.exact(0.5))), "neighbours"),
    ],
)
def test_what_may_also_be_behind_a_ratio_is_said_beside_it(after, slug):
    quiet = builders.machine(neighbour_allowed_cpu_share=builders.exact(0.0))
    before = done(machine=quiet)
    compared = compare(before, after)
    assert compared.verdict == NO_DIFFERENCE
    assert slugs(compared, forbids=False) == [slug]
    assert [line.startswith("but ") for line in lines(compared)][-1]


def test_what_is_not_known_of_a_machine_is_no_difference():
    assert compare(done(facts={}), done()).verdict == NO_DIFFERENCE


def test_settings_arguments_and_edits_are_changes():
    before = done(sources={"/a/train.py": "old"}, command=("/usr/bin/python", "/a/train.py", "--lr", "1"))
    after = done(
        sources={"/b/train.py": "new"},
        command=("/opt/python", "/b/train.py", "--lr", "2"),
        settings={"num_workers": 2, "prefetch_factor": 2, "start_method": "fork"},
    )
    seen = {change.name: (change.before, change.after) for change in compare(before, after).changes}
    assert seen == {
        "num_workers": (0, 2),
        "arguments": ("python train.py --lr 1", "python train.py --lr 2"),
        "train.py": ("as it was", "edited"),
    }


def test_the_same_command_elsewhere_is_no_change():
    compared = compare(done(command=("/a/python", "/a/train.py")), done(command=("/b/python", "/b/train.py")))
    assert compared.changes == ()


def findings(**statuses):
    rows = tuple(Finding(cause=name, status=status) for name, status in statuses.items())
    return replace(done().diagnosis, findings=rows)


def test_a_cause_that_another_one_explains_is_neither_gone_nor_new():
    before = findings(a=FOUND, b=FOUND, c=RULED_OUT, d=EXPLAINED)
    after = findings(a=RULED_OUT, b=EXPLAINED, c=FOUND, d=FOUND)
    assert gone_and_new(before, after) == (("a",), ("c",))


@pytest.mark.parametrize(
    ("command", "script"),
    [
        (("python", "/a/b/train.py", "--x"), "train.py"),
        (("torchrun", "--nproc", "2", "train.py"), "train.py"),
        (("python", "-m", "package.train"), "package.train"),
        (("/usr/bin/lightning", "fit"), "lightning"),
        ((), ""),
    ],
)
def test_a_script_is_known_by_the_name_of_its_file(command, script):
    assert script_of(command) == script


def test_eight_lines_say_it_all():
    after = done(FED, facts=MACHINE | {"torch": "3.0"}, settings={"num_workers": 1})
    told = list(lines(replace(compare(done(), after), gone=("no-workers",))))
    assert len(told) == 8
    assert told[0].startswith("B is ")
    assert [line.split()[0] for line in told[1:]] == ["speed", "step", "waiting", "run", "changed", "causes", "but"]


def test_json_has_every_number_with_its_interval_or_the_reason_why_not():
    compared = compare(done(), done(times=StepTimes((0.1,) * 60, (0,) * 60, (True,) * 60)))
    told = json.loads(render(compared, "json"))
    assert (told["schema"], told["verdict"]) == ("loaderdoctor.comparison/1", compared.verdict)
    for row in told["rows"].values():
        for side in ("before", "after"):
            assert row[side]["best"] is not None or row[side]["missing"]


def test_markdown_hides_no_text_in_its_marks():
    told = render(compare(done(), done(command=("python", "train.py", "a|b"))), "md")
    assert r"a\|b" in told
    assert told.count("\n| ") >= 4
