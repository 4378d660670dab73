"""Which rung is climbed next, which one the model answers, and which is the best."""

from __future__ import annotations

from dataclasses import dataclass, replace

import builders
import pytest

from loaderdoctor.analyse.signals import LoaderSettings, StepTimes
from loaderdoctor.predict.speedup import WITHIN
from loaderdoctor.treat.trials import AS_WRITTEN
from loaderdoctor.tune.ladder import LIKELY, State, best_of, steps_of_ladder
from loaderdoctor.tune.rung import (
    BETWEEN,
    PAST_KNEE,
    PERSISTENT,
    PINNING,
    PREFETCH,
    WORKERS,
    Rung,
    Seen,
)
from loaderdoctor.values import Interval, Missing

_workers, _pinning, _prefetch, _persistent, _past_knee, _further, _neighbour, _ = steps_of_ladder()
NOT_KNOWN = Missing("not-known", "Nobody looked.")


@dataclass
class Model:
    """Promises `speedups` by number of workers, times what other settings gain."""

    speedups: tuple[float, ...] = (1.0, 2.0, 3.0, 3.02, 2.9)
    pinning: float = 1.0
    prefetch: float = 1.0
    persistent: float = 1.0
    written: int = 0

    def speedup(self, settings):
        count = settings.get("num_workers", self.written)
        best = self.speedups[min(count, len(self.speedups) - 1)]
        best *= self.pinning if settings.get("pin_memory") else 1
        best *= self.prefetch if settings.get("prefetch_factor") else 1
        best *= self.persistent if settings.get("persistent_workers") else 1
        return Interval(best, best, best)

    def step_with(self, settings):
        return 1 / self.speedup(settings).best

    def knee(self):
        return 2


def seen(step_s, workers):
    step = builders.exact(step_s, "s")
    return Seen(NOT_KNOWN, step, NOT_KNOWN, NOT_KNOWN, NOT_KNOWN, NOT_KNOWN, NOT_KNOWN, StepTimes(), workers)


def ran(name, settings, step_s, tmp="run", written=0):
    return Rung(name, settings, seen(step_s, settings.get("num_workers", written)), run_dir=tmp)


def state(*rungs, model=None, device="cpu", epochs=2, **settings):
    written = LoaderSettings(batch_size=8, **settings)
    loader = replace(builders.loader(settings=written), epochs=epochs)
    signals = builders.signals(device=builders.device(kind=device))
    first = ran(AS_WRITTEN, {}, 1.0, written=written.num_workers)
    return State(signals, loader, (first, *rungs), Model(written=written.num_workers) if model is None else model)


def test_as_many_workers_as_the_model_finds_worth_it_and_no_more():
    assert _workers(state()) == Rung(WORKERS, {"num_workers": 2})
    assert _workers(state(model=Model((1.0, 0.9, 0.8)))).why
    assert "the 2 that there are" in _workers(state(num_workers=2)).why


def test_without_a_model_there_is_one_worker_for_each_core():
    without = replace(state(), forecast=None)
    assert _workers(without).settings == {"num_workers": int(without.loader.workload.cores)}


def test_a_script_with_too_many_workers_is_told_so():
    assert _workers(state(num_workers=4)).settings == {"num_workers": 2}
    assert _workers(state(model=Model((1.0, 0.5), written=1), num_workers=1)).settings == {"num_workers": 0}


TWO = ran(WORKERS, {"num_workers": 2}, 0.4)


@pytest.mark.parametrize(
    ("choose", "known", "settings", "why"),
    [
        (_pinning, state(TWO), {}, "no device but the CPU"),
        (_pinning, state(TWO, device="cuda", pin_memory=True), {}, "has it already"),
        (_pinning, state(TWO, device="cuda"), {"num_workers": 2, "pin_memory": True}, "not run"),
        (
            _pinning,
            state(TWO, device="cuda", model=Model(pinning=1.1)),
            {"num_workers": 2, "pin_memory": True},
            "",
        ),
        (_prefetch, state(), {}, "no workers"),
        (_prefetch, state(TWO), {"num_workers": 2, "prefetch_factor": 4}, "not run"),
        (_prefetch, state(TWO, prefetch_factor=8), {}, "has 8 already"),
        (_prefetch, state(TWO, model=Model(prefetch=1.5)), {"num_workers": 2, "prefetch_factor": 4}, ""),
        (_persistent, state(), {}, "no workers"),
        (_persistent, state(TWO, epochs=1), {}, "one epoch"),
        (_persistent, state(TWO, model=Model(persistent=1.3)), {"num_workers": 2, "persistent_workers": True}, ""),
        (_persistent, state(TWO, persistent_workers=True), {}, "has it already"),
    ],
)
def test_only_what_makes_sense_and_is_promised_is_run(choose, known, settings, why):
    rung = choose(known)
    assert (dict(rung.settings), bool(rung.why)) == (settings, bool(why))
    assert why in rung.why


def test_without_a_model_what_makes_sense_is_run():
    without = replace(state(TWO), forecast=None)
    assert [choose(without).why for choose in (_prefetch, _persistent)] == ["", ""]


@pytest.mark.parametrize(
    ("rungs", "wanted"),
    [
        ((), 1),
        ((TWO,), 3),
        ((ran(WORKERS, {"num_workers": 8}, 0.4),), 12),
        ((ran(WORKERS, {"num_workers": 32}, 0.4),), None),  # as many as there may be
        ((TWO, ran(BETWEEN, {"num_workers": 3}, 0.5)), None),  # run already
    ],
)
def test_the_falling_side_is_looked_for(rungs, wanted):
    rung = _past_knee(state(*rungs))
    assert rung.settings.get("num_workers") == wanted
    assert bool(rung.why) == (wanted is None)


def test_where_it_does_not_fall_yet_it_goes_on():
    faster, slower = (ran(PAST_KNEE, {"num_workers": 3}, step_s) for step_s in (0.3, 0.5))
    assert _further(state(TWO, faster)).settings == {"num_workers": 4}
    assert _further(state(TWO, slower)) is None
    assert _further(state(TWO)) is None


def test_without_workers_go_settings_that_need_them():
    both = ran(PERSISTENT, {"num_workers": 1, "persistent_workers": True}, 0.5)
    model = Model((1.0, 1.0, 0.5))
    assert _neighbour(state(both, model=model)) is None, "as written was run"
    fewer = replace(state(both, model=Model((1.0, 1.0, 0.5), written=2), num_workers=2))
    assert _neighbour(fewer).settings == {"num_workers": 0}


def test_a_neighbour_is_run_where_the_model_cannot_tell_it_from_the_best():
    near, far = (Model((1.0, factor * 3, 3.0, 2.0)) for factor in (1 - LIKELY / 2, 1 - LIKELY * 2))
    assert _neighbour(state(TWO, model=near)).settings == {"num_workers": 1}
    assert _neighbour(state(TWO, model=far)) is None
    assert _neighbour(state(TWO, ran(BETWEEN, {"num_workers": 1}, 0.5), model=near)) is None


def test_the_best_is_the_leanest_of_those_that_are_as_fast():
    first = ran(AS_WRITTEN, {}, 1.0, written=8)
    four, six = (
        ran(name, {"num_workers": n}, s) for name, n, s in ((WORKERS, 4, 0.5), (PAST_KNEE, 6, 0.5 - WITHIN / 4))
    )
    assert best_of((first, four, six)) is four
    assert best_of((first, four, replace(six, seen=seen(0.4, 6)))).name == PAST_KNEE
    assert best_of((replace(first, seen=seen(0.5, 8)), four)) is four, "eight workers are written, four do"
    assert best_of((first, Rung(PINNING, why="no"), Rung(PREFETCH, {"num_workers": 1}, why="it failed"))) is first
