"""The pictures behind the first page: what they draw is what was recorded, and their numbers stand behind them."""

from dataclasses import replace

import builders
import pytest
import report_samples
from drawn_runs import WORKER_PID
from report_samples import SAMPLES

from loaderdoctor.analyse import signals_of
from loaderdoctor.analyse.signals import LoaderSettings, Phase
from loaderdoctor.causes.base import Diagnosis, Gain
from loaderdoctor.record.run import Samples
from loaderdoctor.report.curve import curve
from loaderdoctor.report.flow import flow
from loaderdoctor.report.lanes import MOST_LANES, lanes
from loaderdoctor.report.sheet import WIDTH, shortened, stairs, width_of
from loaderdoctor.report.spent import spent
from loaderdoctor.report.view import view
from loaderdoctor.report.watched import MOST_POINTS, watched
from loaderdoctor.report.words import Words
from loaderdoctor.values import Interval

WORDS = Words()
STEPS = 40


def marks(picture, shape, kind=None):
    return [mark for mark in picture.marks if mark.shape == shape and kind in {None, mark.kind}]


def bars(picture, kind):
    """Of all marks of this kind: (x, y, width, height)."""
    flat = [number for mark in marks(picture, "bars", kind) for number in mark.at]
    return [tuple(flat[start : start + 4]) for start in range(0, len(flat), 4)]


def texts(picture):
    return [mark.text for mark in marks(picture, "text")]


def test_a_stretch_is_the_one_that_waits_as_the_whole_does():
    """A quiet half, a half that waits, and between them one step in which both meet."""
    run = builders.run_from("[" + ".c" * 60 + "wc" * 60)
    seen = signals_of(run).stretch
    assert seen.wait_share == pytest.approx(signals_of(run).starved_share.value, abs=0.1)


def test_lanes_draw_each_step_and_each_batch_that_was_made():
    run = builders.run_from("[" + "wwc" * STEPS, num_workers=2, ready=[1] * (STEPS + 1))
    picture = lanes(signals_of(run), WORDS)
    waits, uses = bars(picture, "wait"), bars(picture, "compute")
    assert len(uses) >= 10
    assert sum(bar[2] for bar in waits) == pytest.approx(2 * sum(bar[2] for bar in uses), rel=0.15)
    assert {"training", "worker 0", "worker 1", "ready batches", "top 1 batch"} <= set(texts(picture))
    assert len(picture.data.rows) == len(uses)
    asked, got = (picture.data.columns.index(one) for one in picture.data.columns if one.label in {"Asked for", "Got"})
    assert all(float(row[got].split()[0]) >= float(row[asked].split()[0]) for row in picture.data.rows)


def test_without_workers_the_making_has_a_lane_of_its_own_and_nothing_lies_ready():
    run = builders.run_from("[" + "wc" * STEPS)
    picture = lanes(signals_of(run), WORDS)
    assert "making" in texts(picture)
    assert "ready batches" not in texts(picture)


def test_a_system_that_cannot_count_says_so():
    run = builders.run_from("[" + "wc" * STEPS, num_workers=2, ready=[-1] * (STEPS + 1))
    picture = lanes(signals_of(run), WORDS)
    assert "This system cannot say how many batches wait in a queue." in texts(picture)


def test_many_workers_are_cut_and_counted():
    run = builders.run_from("[" + "wc" * 200, num_workers=64, fetch_s=1.0, unit_s=0.02)
    picture = lanes(signals_of(run), WORDS)
    drawn = [text for text in texts(picture) if text.startswith("worker ")]
    assert len(drawn) == MOST_LANES
    assert "workers more are not drawn." in picture.caption


def test_a_run_without_steps_has_no_lanes():
    assert lanes(SAMPLES["starving"]().signals, WORDS) is None


def test_the_lanes_are_of_the_rank_that_the_report_is_about():
    run = builders.ranks_from(["[" + ".c" * STEPS, "[" + "wc" * STEPS], num_workers=2)
    signals = signals_of(run)
    seen = signals.stretch
    assert seen.rank == (signals.main.workers[0].pid - WORKER_PID) // 1000
    assert f"This is rank {seen.rank}." in lanes(signals, WORDS).caption


def settled(**changes):
    sample = SAMPLES["starving"]()
    (loader,) = sample.signals.loaders
    return replace(sample.signals, loaders=(replace(loader, settings=replace(loader.settings, **changes)),))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, {"sampler", "2 workers", "ready batches", "pin thread", "copy to device", "training step"}),
        ({"num_workers": 0}, {"sampler", "training process", "copy to device", "training step", "num_workers=0"}),
        ({"pin_memory": False}, {"off: not pinned", "pin_memory=False"}),
        ({"prefetch_factor": 4}, {"prefetch_factor=4"}),
    ],
)
def test_the_way_of_a_batch_names_who_handles_it_and_the_setting(changes, said):
    picture = flow(settled(**changes), WORDS)
    assert said <= set(texts(picture))
    assert {row[0] for row in picture.data.rows} <= set(texts(picture))


def test_what_takes_longest_is_the_one_that_is_marked():
    signals = settled()
    slow = replace(signals, loaders=(replace(signals.loaders[0], fetch_s=report_samples.exact(9.0)),))
    picture = flow(slow, WORDS)
    ((_, _, width, _),) = bars(picture, "wait")
    assert width == max(bar[2] for bar in (*bars(picture, "wait"), *bars(picture, "compute")))
    assert "2 workers, one batch every 4.5" in picture.caption


@pytest.mark.parametrize("persistent", [True, False])
def test_keeping_the_workers_is_said_below_them(persistent):
    said = [text for text in texts(flow(settled(persistent_workers=persistent), WORDS)) if "persistent_workers" in text]
    assert len(said) == 1
    assert f"persistent_workers={persistent}: " in said[0]


def test_a_loader_that_is_not_torchs_has_no_way_that_is_known():
    foreign = LoaderSettings(torch_loader=False, loader_type="DALI")
    sample = SAMPLES["starving"]()
    loaders = (replace(sample.signals.loaders[0], settings=foreign),)
    assert flow(replace(sample.signals, loaders=loaders), WORDS) is None


def test_the_curve_bends_where_more_add_nothing():
    sample = SAMPLES["starving"]()
    picture = curve(sample.signals, sample.diagnosis, WORDS)
    assert picture.caption.startswith("Now 2 workers. From 6 workers on (2.3× as fast, range 1.9–2.4×)")
    assert [row[0] for row in picture.data.rows] == ["0", "1", "2", "3", "4", "6", "8"]
    assert {"now", "knee"} <= set(texts(picture))
    assert len(marks(picture, "dot")) == 7


def test_the_measured_point_is_on_the_curve():
    sample = SAMPLES["starving"]()
    first, *others = sample.diagnosis.findings
    found = replace(first, gain=Gain(Interval(1.9, 2.1, 2.2), "measured"), promised=first.gain)
    picture = curve(sample.signals, replace(sample.diagnosis, findings=(found, *others)), WORDS)
    (dot,) = marks(picture, "dot", "ink")
    replayed = [mark.at for mark in marks(picture, "dot", "compute")]
    assert dot.at[0] in {x for x, _ in replayed}
    assert ("ink", "measured") in picture.legend


def test_no_curve_of_a_single_point():
    sample = SAMPLES["starving"]()
    assert curve(sample.signals, Diagnosis("starving", None, None, (), ()), WORDS) is None


def test_phases_fill_the_bar():
    phases = (Phase("start-up", 2.0, 0.2, 0.0), Phase("train", 7.0, 0.7, 3.5), Phase("other", 1.0, 0.1, 0.0))
    picture = spent(replace(SAMPLES["starving"]().signals, phases=phases), WORDS)
    assert sum(bar[2] for bar in bars(picture, "wait")) == pytest.approx(WIDTH * 0.35)
    assert picture.caption.startswith("The run took 10 s, with 3.5 s of waiting")
    assert "training 7 s" in texts(picture)


def sampled(count, **rows):
    made = {
        name: Samples(name, tuple({"at_ns": second * 1_000_000_000, **row(second)} for second in range(count)))
        for name, row in rows.items()
    }
    return replace(report_samples.run(), samples=made)


def test_the_machine_is_drawn_as_it_was_sampled():
    run = sampled(
        10,
        machine=lambda second: {"busy_cpu_s": 2.0 * second, "memory_available_bytes": 1 << 30},
        gpu=lambda _: {"gpus": [{"utilisation_share": 0.25}, {"utilisation_share": 0.75}]},
    )
    picture = watched(run, SAMPLES["starving"]().signals, WORDS)
    assert "CPUs, all 2 cores" in picture.sentence
    assert "memory, free 1 GiB" in picture.sentence
    assert "GPU busy 50 %" in picture.sentence
    assert texts(picture).count("not sampled, or for less than three rows") == 3


def test_what_was_not_sampled_says_so_and_a_run_without_samples_has_no_picture():
    signals = SAMPLES["starving"]().signals
    picture = watched(sampled(10, machine=lambda second: {"busy_cpu_s": 1.0 * second}), signals, WORDS)
    assert "no GPU was seen" in texts(picture)
    assert watched(report_samples.run(), signals, WORDS) is None


def test_long_runs_are_drawn_with_a_bounded_number_of_points():
    run = sampled(10_000, machine=lambda second: {"busy_cpu_s": 1.0 * second})
    picture = watched(run, SAMPLES["starving"]().signals, WORDS)
    assert all(len(mark.at) <= 2 * MOST_POINTS + 4 for mark in picture.marks)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_everything_is_on_the_sheet(lang):
    run = builders.run_from("[" + "wwc" * STEPS + "|" + "wwc" * STEPS, num_workers=3, ready=[2] * (2 * STEPS + 2))
    for picture in view(run, signals_of(run), SAMPLES["starving"]().diagnosis, lang).pictures:
        for mark in picture.marks:
            xs = mark.at[::4] if mark.shape == "bars" else mark.at[::2]
            ys = mark.at[1::4] if mark.shape == "bars" else mark.at[1::2]
            assert all(-1 <= x <= picture.width + 1 for x in xs), (picture.title, mark)
            assert all(-1 <= y <= picture.height + 1 for y in ys), (picture.title, mark)


def test_texts_are_cut_where_they_would_leave_their_place():
    assert shortened("sampler", 100) == "sampler"
    assert shortened("RandomSamplerOfManyWords", 60).endswith("…")
    assert width_of(shortened("RandomSamplerOfManyWords", 60)) <= 60
    assert width_of("批次") == width_of("abcd")


def test_stairs_keep_a_height_until_the_next():
    assert stairs([(0.0, 1.0), (5.0, 2.0)], 9.0) == (0.0, 1.0, 5.0, 1.0, 5.0, 2.0, 9.0, 2.0)
