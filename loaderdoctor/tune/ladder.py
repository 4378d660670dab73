"""Which settings are worth a run: a rung at a time, on top of the best so far; what the model can answer is not run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from loaderdoctor.predict.choose import PREFETCH_FACTORS, SAME
from loaderdoctor.predict.costs import DEFAULT_PREFETCH
from loaderdoctor.predict.speedup import MOST_WORKERS, WITHIN
from loaderdoctor.tune.rung import BETWEEN, PAST_KNEE, PERSISTENT, PINNING, PREFETCH, WORKERS, Rung

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from loaderdoctor.analyse.signals import LoaderSignals, Signals
    from loaderdoctor.tune.forecast import Forecast

LIKELY = 0.1  # a neighbour that the model puts this close to the best may well be the best: the model errs by as much
AHEAD = 6  # workers past the knee, up to which the model is asked: it falls, or stays, from there on
# One batch ahead a worker is less than torch's own default, and was never seen to be faster.
PREFETCHES = tuple(factor for factor in PREFETCH_FACTORS if factor >= DEFAULT_PREFETCH)


@dataclass(frozen=True)
class State:
    """What is known when the next rung is chosen.  `forecast` is of the best run so far."""

    signals: Signals  # of the script as written
    loader: LoaderSignals
    rungs: tuple[Rung, ...]
    forecast: Forecast | None

    @property
    def best(self) -> Rung:
        """Of those measured, the fastest, or a leaner one that is as fast; the first one is the script as written."""
        return best_of(self.rungs)

    @property
    def settings(self) -> dict[str, Any]:
        """That the next rung stands on."""
        return dict(self.best.settings)

    def now(self, name: str) -> Any:
        """A setting as the best rung has it."""
        return self.best.settings.get(name, getattr(self.loader.settings, name))

    def ran(self, settings: Mapping[str, Any]) -> bool:
        """Whether there was a run with them, whatever came of it."""
        wanted = self.without_written(settings)
        return any(dict(rung.settings) == wanted and rung.run_dir is not None for rung in self.rungs)

    def without_written(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Only what differs from the script."""
        return {name: value for name, value in settings.items() if value != getattr(self.loader.settings, name)}

    def gain(self, settings: Mapping[str, Any]) -> float | None:
        """What the model promises of them over the best: 0.1 for a tenth faster; None where there is no model."""
        if self.forecast is None:
            return None
        return self.forecast.speedup(settings).best / self.forecast.speedup(self.settings).best - 1


Choice = Rung | None  # with `why`: not to be run; None: nothing more to say


def best_of(rungs: tuple[Rung, ...]) -> Rung:
    """The leanest of the measured ones that are as fast as the fastest: fewer workers first, then fewer settings."""
    measured = [rung for rung in rungs if rung.seen is not None]
    fastest_s = min(rung.seen.step_s.value for rung in measured if rung.seen)
    near = [rung for rung in measured if rung.seen and rung.seen.step_s.value <= fastest_s * (1 + WITHIN)]
    return min(near, key=lambda rung: (rung.seen.workers if rung.seen else 0, len(rung.settings)))


def steps_of_ladder() -> tuple[Callable[[State], Choice], ...]:
    """In their order; each sees what came of those before."""
    return (_workers, _pinning, _prefetch, _persistent, _past_knee, _further, _neighbour, _neighbour)


def _workers(state: State) -> Choice:
    wanted = _most_promising(state)
    if wanted == state.now("num_workers"):
        return Rung(WORKERS, why=f"the model finds no number of workers better than the {wanted} that there are")
    return Rung(WORKERS, state.without_written(state.settings | {"num_workers": wanted}))


def _most_promising(state: State) -> int:
    """The fewest workers that are as good as the best, by the model; without one, one for each core."""
    if state.forecast is None:
        return max(1, int(state.loader.workload.cores if state.loader.workload else 1))
    counts = range(min(MOST_WORKERS, state.forecast.knee() + AHEAD) + 1)
    steps_s = [state.forecast.step_with(_with_workers(state, count)) for count in counts]
    limit_s = min(steps_s) * (1 + WITHIN)
    return next(count for count, step_s in zip(counts, steps_s, strict=True) if step_s <= limit_s)


def _with_workers(state: State, count: int) -> dict[str, Any]:
    """The settings of the best with so many workers; torch refuses prefetch_factor and persistent_workers without any."""
    if count:
        return state.without_written(state.settings | {"num_workers": count})
    kept = {name: value for name, value in state.settings.items() if name == "pin_memory"}
    return state.without_written(kept | {"num_workers": 0})


def _pinning(state: State) -> Choice:
    if state.signals.device.kind == "cpu":
        return Rung(PINNING, why="the run used no device but the CPU, so that no batch is copied to one")
    if state.now("pin_memory"):
        return Rung(PINNING, why="the script has it already")
    return _if_promised(state, PINNING, {"pin_memory": True})


def _prefetch(state: State) -> Choice:
    if not state.now("num_workers"):
        return Rung(PREFETCH, why="there are no workers that could fetch ahead")
    now = state.now("prefetch_factor") or DEFAULT_PREFETCH
    others = [factor for factor in PREFETCHES if factor > now]
    if not others:
        return Rung(PREFETCH, why=f"the script has {now} already")
    best = max(others, key=lambda factor: (state.gain(state.settings | {"prefetch_factor": factor}) or 0.0, -factor))
    return _if_promised(state, PREFETCH, {"prefetch_factor": best})


def _persistent(state: State) -> Choice:
    if not state.now("num_workers"):
        return Rung(PERSISTENT, why="there are no workers to keep")
    if state.now("persistent_workers"):
        return Rung(PERSISTENT, why="the script has it already")
    if state.loader.epochs <= 1:
        return Rung(PERSISTENT, why="the runs have one epoch, and it saves between epochs")
    return _if_promised(state, PERSISTENT, {"persistent_workers": True})


def _if_promised(state: State, name: str, added: dict[str, Any]) -> Rung:
    settings = state.without_written(state.settings | added)
    gain = state.gain(settings)
    if gain is not None and gain < SAME:
        said = ", ".join(f"{one}={value!r}" for one, value in added.items())
        return Rung(name, settings, why=f"the model promises {100 * gain:+.1f} % of {said}: not run")
    return Rung(name, settings)


def _past_knee(state: State) -> Choice:
    """Half as many workers again, to see the falling side, or that there is none yet."""
    count = state.now("num_workers")
    wanted = min(MOST_WORKERS, count + max(1, count // 2))
    settings = _with_workers(state, wanted)
    if wanted == count or state.ran(settings):
        return Rung(PAST_KNEE, why=f"{count} workers were run already, and were no better")
    return Rung(PAST_KNEE, settings)


def _further(state: State) -> Choice:
    """Where it was no falling side, on."""
    last = state.rungs[-1]
    if last.name != PAST_KNEE or last.seen is None or state.best is not last:
        return None
    return _past_knee(state)


def _neighbour(state: State) -> Choice:
    """A number of workers beside the best that the model cannot tell from it, the most promising one first."""
    count = state.now("num_workers")
    options = [_with_workers(state, other) for other in (count - 1, count + 1) if 0 <= other <= MOST_WORKERS]
    likely = [
        (gain, settings)
        for settings in options
        for gain in [state.gain(settings)]
        if gain is not None and gain > -LIKELY and not state.ran(settings)
    ]
    return Rung(BETWEEN, max(likely, key=lambda one: one[0])[1]) if likely else None


def curve(forecast: Forecast, to: int) -> Iterator[tuple[int, float, float, float]]:
    """For each number of workers, how many times as fast as written the model says it is: low, best, high."""
    for count in range(to + 1):
        told = forecast.speedup({"num_workers": count})
        yield count, told.low, told.best, told.high
