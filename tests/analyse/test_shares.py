"""The starved share, the steady steps and the warm-up of drawn runs."""

import builders
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loaderdoctor.analyse import signals_of
from loaderdoctor.analyse.timeline import warm_up_of
from loaderdoctor.values import Measured, Missing

EPOCH = "wc" * 20


@pytest.mark.parametrize(
    ("drawing", "share", "why"),
    [
        ("[" + "wwwc" * 40, 0.75, "three of four units wait"),
        ("[" + ".cccc" * 40, 0.0, "no wait at all"),
        ("[" + "w." * 40, 1.0, "nothing but waits"),
        ("xxxxxxxx[" + "wc" * 40 + "]xxxxxxxx", 0.5, "time outside of the loop, before its start and after its end"),
        ("[" + "w" * 50 + "c" + "wc" * 39, 0.5, "the first batch is warm-up"),
        (f"[{EPOCH}]xx[{EPOCH}]", 18 / 38, "time between two epochs counts: 36 steps after warm-up, and two units"),
        (f"[{EPOCH}|gg{EPOCH}]", (36 + 2) / (72 + 2), "building the next epoch's iterator is a wait"),
        (
            f"[{EPOCH}sss|{EPOCH}]",
            (36 + 3) / (72 + 3),
            "the last next() of an epoch, which stops the workers, is a wait",
        ),
        (f"[{EPOCH}]{{{'wwwc' * 10}}}[{EPOCH}]", (35 + 30) / (70 + 40), "evaluation counts"),
        ("[" + "wc" * 30 + "w", 0.5, "a request without an answer is no step"),
    ],
)
def test_share(drawing, share, why):
    signals = signals_of(builders.run_from(drawing))
    assert signals.starved_share.value == pytest.approx(share, abs=0.02), why


def test_the_share_is_exact_where_the_drawing_is():
    signals = signals_of(builders.run_from(f"[{EPOCH}]{{{'wwwc' * 10}}}[{EPOCH}]"))
    # 50 steps: 5 warm-up; 35 training steps of two units, 10 of evaluation of four
    assert signals.warm_up_steps == 5
    assert signals.starved_share.value == pytest.approx((35 * 1 + 10 * 3) / (35 * 2 + 10 * 4))
    assert signals.measured_s == pytest.approx(1.1)


@pytest.mark.parametrize(
    ("steps", "warm_up"),
    [(0, 0), (1, 1), (3, 3), (4, 3), (30, 3), (39, 3), (40, 4), (100, 10), (2000, 200), (9000, 200)],
)
def test_warm_up_is_the_first_tenth_within_bounds(steps, warm_up):
    assert warm_up_of(steps) == warm_up


@pytest.mark.parametrize(
    ("drawing", "count", "excluded"),
    [
        ("[" + "wc" * 40, 36, {"warm-up": 4}),
        (f"[{EPOCH}|{EPOCH}", 35, {"warm-up": 4, "first-of-epoch": 1}),
        (f"[{EPOCH}]{{wcwc}}[{EPOCH}", 35, {"warm-up": 4, "first-of-epoch": 1}),
        ("[" + "wc" * 20 + "wc{wcwc}c" + "wc" * 19, 35, {"warm-up": 4, "other-loop": 1}),
        ("[" + "wc" * 3, 0, {"warm-up": 3}),
    ],
)
def test_steady_steps_leave_out_what_is_not_steady(drawing, count, excluded):
    steps = signals_of(builders.run_from(drawing)).steps
    assert (steps.count, steps.excluded) == (count, excluded)


def test_a_steady_step_is_split_into_four_parts():
    steps = signals_of(builders.run_from("[" + "wwwc" * 40)).steps
    assert steps.median_s.value == pytest.approx(0.04)
    assert steps.samples_per_s.value == pytest.approx(8 / 0.04)
    assert [steps.data_wait_share.value, steps.h2d_share.value, steps.compute_share.value, steps.other_share.value] == (
        pytest.approx([0.75, 0, 0.25, 0])
    )
    assert steps.series[0] == pytest.approx((0.03, 0.0, 0.01))
    assert len(steps.series) == steps.count


def test_the_median_step_ignores_an_evaluation_inside_one():
    drawing = "[" + "wc" * 20 + "wc{" + "wc" * 50 + "}c" + "wc" * 19
    assert signals_of(builders.run_from(drawing)).steps.median_s.value == pytest.approx(0.02)


@pytest.mark.parametrize(
    ("drawing", "step_end", "why"),
    [
        ("[wc" + "wc" * 10 + "wccb" + "xxxx", 2, "left by break: the optimizer's step ends it, not the exit"),
        ("[wc" + "wc" * 10 + "wccb" + "xxxx[wc]", 2, "nor the next loop"),
        ("[wc" + "wc" * 10 + "wcc]" + "xxxx", 2, "the loop's end ends it"),
    ],
)
def test_the_last_step_ends_where_the_script_left_it(drawing, step_end, why):
    compute_s = signals_of(builders.run_from(drawing)).loaders[0].workload.compute_s
    assert compute_s[11] == pytest.approx(step_end * builders.UNIT_S), why


def test_a_killed_run_counts_up_to_its_last_whole_step():
    signals = signals_of(builders.run_from("[" + "wwwc" * 30 + "wwwcc!"))
    assert signals.loaders[0].batches == 30
    assert signals.starved_share.value == pytest.approx(0.75)


def test_a_run_that_is_all_warm_up_has_no_share():
    share = signals_of(builders.run_from("[wcwc")).starved_share
    assert isinstance(share, Missing)
    assert share.slug == "no-measured-steps"


def test_a_share_that_swings_has_a_wider_interval_than_one_that_does_not():
    even = signals_of(builders.run_from("[" + "wc" * 80)).starved_share
    bursts = signals_of(builders.run_from("[" + (".c" * 9 + "wwwwwwwwwwc") * 8)).starved_share
    assert even.high - even.low < 1e-9
    assert bursts.high - bursts.low > 0.05


def test_what_a_script_repeats_by_design_widens_nothing():
    drawing = ("[" + ".c" * 20 + "]{" + "wwc" * 10 + "}") * 4
    share = signals_of(builders.run_from(drawing)).starved_share
    assert share.high - share.low < 0.01


LOOPS = st.lists(
    st.tuples(
        st.sampled_from(["[{}]", "{{{}}}"]),
        st.lists(st.sampled_from(["wc", "wwc", ".cc", "w"]), min_size=1, max_size=9),
    ),
    min_size=1,
    max_size=6,
).map(lambda loops: "".join(frame.format("".join(steps)) + "x" for frame, steps in loops))


@settings(max_examples=25, deadline=None)
@given(LOOPS)
def test_parts_add_up_whatever_the_script_does(drawing):
    run = builders.run_from(drawing)
    signals = signals_of(run)
    whole_s = (run.meta.ended_ns - run.meta.started_ns) / 1e9
    assert sum(phase.seconds for phase in signals.phases) == pytest.approx(whole_s)
    assert sum(phase.share for phase in signals.phases) == pytest.approx(1.0)
    assert all(phase.data_wait_s <= phase.seconds + 1e-9 for phase in signals.phases)
    if isinstance(signals.starved_share, Measured):
        share = signals.starved_share
        assert 0 <= share.low <= share.value <= share.high <= 1
        of_loaders = sum(loader.exposed_wait_share.value for loader in signals.loaders)
        assert of_loaders == pytest.approx(share.value)
    if isinstance(signals.steps.data_wait_share, Measured):
        steps = signals.steps
        parts = [steps.data_wait_share, steps.h2d_share, steps.compute_share, steps.other_share]
        assert sum(part.value for part in parts) == pytest.approx(1.0)
        assert steps.count + sum(steps.excluded.values()) == signals.loaders[0].batches
