"""Runs drawn as series of waits: where they changed, and where they only look so."""

from dataclasses import dataclass
from itertools import pairwise

import builders
import numpy as np
import pytest

from loaderdoctor.analyse import changes, signals_of
from loaderdoctor.analyse.changes import differ, spells_between
from loaderdoctor.values import Measured

COMPUTE_S = 0.02
EPOCH = 400


@dataclass(frozen=True)
class Part:
    """So many steps that wait for a share of the time; where `every` says so, only each n-th waits, and so much longer."""

    steps: int
    share: float
    every: int = 1
    gap_s: float = 0.0  # before the first of its steps


def drawn(*parts, noise=0.3, epoch=EPOCH, seed=0, rate=COMPUTE_S):
    """Waits and times, ns, and which steps begin an epoch."""
    dice = np.random.default_rng(seed)
    waits = []
    for part in parts:
        mean_s = rate * part.share / (1 - part.share)
        own = np.where(np.arange(part.steps) % part.every == 0, mean_s * part.every, 0.0)
        own *= dice.lognormal(-(noise**2) / 2, noise, part.steps)
        own[0] += part.gap_s
        waits.append(own)
    waits_s = np.concatenate(waits)
    times_s = waits_s + rate * dice.lognormal(-(noise**2) / 8, noise / 2, len(waits_s))
    return waits_s * 1e9, times_s * 1e9, np.arange(len(waits_s)) % epoch == 0


def spells(waits_ns, times_ns, firsts):
    ends_s = np.cumsum(times_ns) / 1e9
    return spells_between(waits_ns, times_ns, firsts, np.arange(1, len(waits_ns) + 1), ends_s)


def test_a_change_between_short_epochs_is_none_of_theirs():
    """Neighbouring epochs are as short as what is looked at beside a cut, as those of a run that was thinned out."""
    for seed in range(5):
        found = spells(*drawn(*[Part(30, 0.5, gap_s=0.2)] * 8, *[Part(30, 0.2, gap_s=0.2)] * 8, epoch=30, seed=seed))
        assert [spell.from_step for spell in found[1:]] == pytest.approx([241], abs=10)


def shares(found):
    return [round(spell.starved_share.value, 2) for spell in found]


CHANGED = {  # the parts; the steps at which they change
    "healthy, then starving": ([Part(4000, 0.01), Part(4000, 0.6)], [4000]),
    "starving, then healthy": ([Part(1000, 0.5), Part(7000, 0.0)], [1000]),
    "a spell in the middle": ([Part(3000, 0.02), Part(1000, 0.5), Part(4000, 0.02)], [3000, 4000]),
    "ever worse": ([Part(2000, 0.02), Part(2000, 0.3), Part(2000, 0.6)], [2000, 4000]),
    "starving, then much more so": ([Part(2000, 0.4), Part(2000, 0.8)], [2000]),
    "in a short run": ([Part(60, 0.01), Part(60, 0.6)], [60]),
    "late": ([Part(9000, 0.01), Part(800, 0.7)], [9000]),
    "by bursts": ([Part(4000, 0.02), Part(4000, 0.4, every=10)], [4000]),
    "only the first epoch": ([Part(EPOCH, 0.6), *[Part(EPOCH, 0.02)] * 9], [EPOCH]),
    "only the first of two epochs": ([Part(EPOCH, 0.6), Part(EPOCH, 0.02)], [EPOCH]),
    "within an epoch": ([*[Part(EPOCH, 0.02)] * 4, Part(100, 0.02), Part(300, 0.6), *[Part(EPOCH, 0.6)] * 5], [1700]),
    "with gaps between epochs": (
        [*[Part(EPOCH, 0.02, gap_s=1.0)] * 5, *[Part(EPOCH, 0.5, gap_s=1.0)] * 5],
        [2000],
    ),
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("case", CHANGED)
def test_a_change_is_told_where_it_is(case, seed):
    parts, cuts = CHANGED[case]
    series = drawn(*parts, seed=seed)
    found = spells(*series)
    steps = len(series[0])
    assert [spell.from_step for spell in found[1:]] == pytest.approx(cuts, abs=10)
    assert (found[0].from_step, found[-1].to_step) == (1, steps)
    for before, after in pairwise(found):
        assert (before.to_step + 1, before.to_s) == (after.from_step, after.from_s)


UNCHANGED = {
    "healthy": [Part(8000, 0.01)],
    "healthy, without any wait": [Part(8000, 0.0)],
    "starving all the time": [Part(8000, 0.6)],
    "in bursts all the time": [Part(8000, 0.4, every=12)],
    "in long bursts": [Part(2000, 0.5, every=40)],
    "a gap before each epoch": [Part(EPOCH, 0.02, gap_s=5.0)] * 10,
    "a gap before each of two epochs": [Part(EPOCH, 0.02, gap_s=5.0)] * 2,
    "each epoch begins slowly": [Part(150, 0.6), Part(250, 0.02)] * 10,
    "both epochs begin slowly": [Part(150, 0.6), Part(250, 0.02)] * 2,
    "each epoch ends slowly": [Part(300, 0.02), Part(100, 0.7)] * 6,
    "a little worse": [Part(4000, 0.5), Part(4000, 0.55)],
    "worse, and not worth a word": [Part(4000, 0.005), Part(4000, 0.03)],
    "one long hitch": [Part(4000, 0.02), Part(4000, 0.02, gap_s=60.0)],
    "a short spell": [Part(4000, 0.02), Part(40, 0.6), Part(4000, 0.02)],
    "too short to tell": [Part(15, 0.02), Part(15, 0.6)],
    "noise": [Part(8000, 0.2)],
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("case", UNCHANGED)
def test_what_only_looks_like_a_change_is_none(case, seed):
    series = drawn(*UNCHANGED[case], seed=seed)
    (only,) = spells(*series)
    assert only.starved_share.value == pytest.approx(series[0].sum() / series[1].sum())
    assert (only.from_step, only.to_step) == (1, len(series[0]))


def test_noise_that_remembers_gives_hardly_any():
    """Waits that drift for hundreds of steps, as those on a shared disk do."""
    told = 0
    for seed in range(40):
        dice = np.random.default_rng(seed)
        drift = np.convolve(dice.normal(size=6000), np.ones(120) / 120**0.5, "valid")
        waits_ns = 5e6 * np.exp(0.35 * drift)
        told += len(spells(waits_ns, waits_ns + 2e7, np.zeros(len(waits_ns), dtype=bool))) - 1
    assert told <= 4


def test_nothing_is_told_of_no_steps():
    assert spells(*(np.empty(0) for _ in range(3))) == ()


def share(low, value, high):
    return Measured(value, low, high, 100, "share")


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        (share(0.0, 0.01, 0.02), share(0.5, 0.6, 0.7), True),
        (share(0.5, 0.6, 0.7), share(0.0, 0.01, 0.02), True),
        (share(0.0, 0.01, 0.5), share(0.5, 0.6, 0.7), False),  # the intervals touch
        (share(0.0, 0.005, 0.01), share(0.05, 0.054, 0.06), False),  # no five points
        (share(0.0, 0.004, 0.01), share(0.05, 0.055, 0.06), True),
        (share(0.5, 0.5, 0.5), share(0.65, 0.65, 0.65), False),  # waiting over working: 1 and 1.86
        (share(0.5, 0.5, 0.5), share(0.68, 0.68, 0.68), True),  # 1 and 2.13
        (share(0.9, 0.9, 0.9), share(1.0, 1.0, 1.0), True),
    ],
)
def test_when_two_shares_differ(one, other, apart):
    assert differ(one, other) is apart


def test_a_whole_run():
    run = builders.run_from("[" + ".cc" * 100 + "wwcc" * 100 + "]")
    one, other = signals_of(run).spells
    assert shares((one, other)) == pytest.approx([0.0, 0.5], abs=0.05)
    assert one.to_step == pytest.approx(100, abs=12)
    assert other.to_step in {199, 200}
    assert 0 < one.from_s < one.to_s == other.from_s < other.to_s <= 6.1


def test_evaluations_count_no_steps():
    run = builders.run_from("[" + (".c" * 30 + "{" + ".c" * 10 + "}") * 4 + "]")
    (only,) = signals_of(run).spells
    assert only.to_step in {119, 120}


def test_the_cuts_are_those_with_the_least_spread():
    values = np.array([0.0] * 6 + [1.0] * 5 + [0.5] * 4)
    assert changes._partition(values, 2, 0.01) == [6, 11]
    assert changes._partition(values, 6, 0.01) == [6]
    assert changes._partition(values, 2, 100.0) == []
