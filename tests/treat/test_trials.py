"""Runs in turns: how many, what counts, and what is no comparison; the launcher is a fake that leaves drawn runs."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path

import builders
import pytest

from loaderdoctor import analyse, launch
from loaderdoctor.errors import LoaderDoctorError
from loaderdoctor.treat.again import Again
from loaderdoctor.treat.reached import Reached, reached
from loaderdoctor.treat.remedy import Remedy
from loaderdoctor.treat.trials import AS_WRITTEN, TREATED, Limits, Plan, in_turns, share_of, try_out

DRAWING = "[" + 40 * "wwc" + "]"
FASTER = "[" + 40 * "wc" + "]"
FOLDER = "/home/user"


@dataclass
class Launcher:
    """Leaves a run for each that is asked for: a drawing, how it ended, and what became of the settings."""

    treated: str = FASTER
    takes: bool = True  # whether the settings do
    returncodes: dict[int, int] = field(default_factory=dict)  # of a run by its number
    ended_by: dict[int, str] = field(default_factory=dict)
    unit_s: dict[int, float] = field(default_factory=dict)
    site: str | None = None
    asked: list[launch.Options] = field(default_factory=list)
    now_s: float = 0.0

    def __call__(self, command: launch.Command, options: launch.Options) -> launch.Launched:
        assert command.argv == ("python", "train.py")
        self.asked.append(options)
        number, trial = len(self.asked), options.trial
        forced = json.loads(trial.injected)["settings"] if trial.injected else {}
        settings = forced if self.takes else {}
        meta = {"ended_by": self.ended_by.get(number, "script"), "working_directory": FOLDER}
        run = builders.run_from(
            self.treated if trial.injected or trial.variables else DRAWING,
            unit_s=self.unit_s.get(number, builders.UNIT_S),
            settings=settings,
            meta=meta,
        )
        builders.write(run, Path(options.output))
        Path(trial.log).write_text("Traceback\nValueError: no luck.\n\n")
        self.now_s += 60
        return launch.Launched(Path(options.output), self.returncodes.get(number, 0))


@pytest.fixture
def plan(tmp_path):
    seen = analyse.signals_of(builders.run_from(DRAWING))
    remedy = Remedy(seen.loaders[0], {"num_workers": 2})
    return Plan(
        seen, remedy, Again(launch.Command(("python", "train.py"), "trial"), FOLDER, None, 60.0), tmp_path / "t"
    )


def tried(plan, launcher, **limits):
    return try_out(plan, Limits(**limits), start=launcher, clock=lambda: launcher.now_s)


def test_turns_favour_neither_kind():
    turns = in_turns()
    assert [next(turns) for _ in range(8)] == 2 * [AS_WRITTEN, TREATED, TREATED, AS_WRITTEN]


def test_runs_that_agree_are_enough_at_four(plan):
    trials = tried(plan, Launcher())
    assert [trial.kind for trial in trials.trials] == [AS_WRITTEN, TREATED, TREATED, AS_WRITTEN]
    assert trials.speedup.value == pytest.approx(1.5)
    assert share_of(trials.of(AS_WRITTEN)) > share_of(trials.of(TREATED)) > 0


def test_only_treated_runs_are_given_settings_and_variables(plan):
    launcher = Launcher()
    plan = replace(plan, remedy=replace(plan.remedy, variables={"OMP_NUM_THREADS": "1"}))
    tried(plan, launcher)
    first, second, *_ = (options.trial for options in launcher.asked)
    assert (first.injected, first.variables, first.folder) == (None, {}, FOLDER)
    assert json.loads(second.injected)["settings"] == {"num_workers": 2}
    assert second.variables == {"OMP_NUM_THREADS": "1"}


@pytest.mark.parametrize(
    ("units", "limits", "runs"),
    [
        ({}, {}, 4),
        ({1: 0.01, 4: 0.02}, {"most_runs": 6}, 6),  # they disagree: as many as are allowed
        ({1: 0.01, 4: 0.02}, {"seconds": 300}, 5),  # a minute each: the sixth would end after them
        ({}, {"most_runs": 2, "least_runs": 2}, 2),
        ({}, {"seconds": 1}, 2),  # one of each kind there must be
    ],
)
def test_there_are_as_many_runs_as_it_takes_or_as_are_allowed(plan, units, limits, runs):
    assert len(tried(plan, Launcher(unit_s=units), **limits).trials) == runs


def test_each_that_ends_is_told(plan):
    told = []
    try_out(plan, Limits(), tell=lambda trial, trials: told.append((trial.kind, len(trials.trials))), start=Launcher())
    assert told == [(AS_WRITTEN, 1), (TREATED, 2), (TREATED, 3), (AS_WRITTEN, 4)]


@pytest.mark.parametrize(("number", "enough"), [(1, False), (2, False), (3, True)])
def test_an_interrupt_ends_it_with_what_there_is(plan, number, enough):
    trials = tried(plan, Launcher(ended_by={number: "interrupt"}, returncodes={number: 130}))
    assert (trials.interrupted, trials.is_enough, len(trials.trials)) == (True, enough, number - 1)


@pytest.mark.parametrize(
    ("launcher", "slug", "says"),
    [
        (Launcher(returncodes={1: 1}, ended_by={1: "crash"}), "trial-failed", "as it is written: ValueError: no luck"),
        (Launcher(returncodes={2: -9}, ended_by={2: "signal"}), "trial-failed", "died of signal 9 with the treatment"),
        (Launcher(treated="[" + 10 * "wc" + "]"), "trial-too-short", "steps of training"),
        (Launcher(takes=False), "treatment-not-applied", "num_workers=0 all the same"),
    ],
)
def test_what_is_no_comparison_is_an_error(plan, launcher, slug, says):
    with pytest.raises(LoaderDoctorError, match=r"\S") as error:
        tried(plan, launcher)
    assert error.value.slug == slug
    assert says in error.value.sentence


def test_a_place_that_was_not_reached_is_an_error(plan):
    loader = replace(plan.remedy.loader, site=replace(plan.remedy.loader.site, line=99))
    plan = replace(plan, remedy=replace(plan.remedy, loader=loader))
    with pytest.raises(LoaderDoctorError, match=r"no loader was built at .*:99") as error:
        tried(plan, Launcher())
    assert error.value.slug == "treatment-not-applied"


def test_a_script_that_was_ended_by_us_may_end_with_any_status(plan):
    ended = dict.fromkeys(range(1, 5), "steps")
    assert len(tried(plan, Launcher(returncodes={1: 1}, ended_by=ended)).trials) == 4


def test_what_reached_the_loader_is_read_from_every_process(plan):
    ranks = [builders.run_from(DRAWING, settings={"num_workers": workers}).processes for workers in (2, 2, 0)]
    run = builders.run_of([one for processes in ranks for one in processes], ended_s=9)
    assert reached(run, plan.remedy, FOLDER, {}) == Reached(3, 2, "num_workers=0")
    assert not reached(run, plan.remedy, FOLDER, {}).is_treated
    assert reached(run, plan.remedy, FOLDER, {"batch_size": 99}) == Reached(0, 0)


def test_a_ceiling_of_which_no_batch_was_kept_is_none(plan):
    launcher = Launcher()
    with pytest.raises(LoaderDoctorError, match="No batch was kept") as error:
        tried(replace(plan, remedy=replace(plan.remedy, settings={}, is_ceiling=True)), launcher)
    assert error.value.slug == "treatment-not-applied"
    assert [json.loads(one.trial.injected)["keeps"] for one in launcher.asked if one.trial.injected] == [True]
