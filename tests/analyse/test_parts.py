"""Each part of the analysis made to fail in turn: it costs itself and a note, and no verdict that does not need it."""

from dataclasses import fields, replace

import builders
import pytest

from loaderdoctor.analyse import build, each_loader, parts, signals_of, stages, surroundings
from loaderdoctor.causes import diagnose
from loaderdoctor.record.run import Samples
from loaderdoctor.values import Missing

DRAWING = "xx[g" + "wwc" * 25 + "]{wcwc}[" + "wwc" * 15 + "]x"
DAMAGED = "damaged on purpose"
ROWS = {
    "machine": {"busy_cpu_s": 1.0, "cpus": 8},
    "processes": {"processes": []},
    "disks": {"disks": {}, "mounts": []},
}


@pytest.fixture(scope="module")
def run():
    drawn = builders.run_from(DRAWING, num_workers=2, device=[(0.01, 0.001, 0.03)] * 40)
    begun = drawn.meta.started_ns
    samples = {
        name: Samples(name, tuple({"at_ns": begun + k * 10**8, **row} for k in range(12))) for name, row in ROWS.items()
    }
    return replace(drawn, samples=samples)


@pytest.fixture(scope="module")
def whole(run):
    signals = signals_of(run)
    assert failed(signals) == []
    return signals


def failing(original, when=lambda *_args, **_keywords: True):
    def fails(*args, **keywords):
        if when(*args, **keywords):
            raise ArithmeticError(DAMAGED)
        return original(*args, **keywords)

    return fails


def differences(signals, others):
    return {one.name for one in fields(signals) if getattr(signals, one.name) != getattr(others, one.name)}


def failed(signals):
    return [text for slug, text in signals.notes if slug == parts.SLUG]


# Where, what fails, and what of the signals it costs.
WHOLE = {
    "before_windows": (build, set()),
    "trace_notes": (build, set()),
    "phases_of": (build, {"phases"}),
    "step_signals": (build, {"steps"}),
    "device_signals": (build, {"device"}),
    "_cores": (build, {"loaders"}),
    "_job_share": (build, {"starved_share"}),
    "_share": (build, {"starved_share", "rank_shares"}),
    "own_share": (build, {"overhead_share"}),
}
OF_A_LOADER = {
    "workers_of": (each_loader, "workers"),
    "stages_of": (stages, "stages"),
    "hot_functions": (stages, "hot_functions"),
    "workload_of": (each_loader, "workload"),
    "making_of": (each_loader, "making"),
}


@pytest.mark.parametrize("name", WHOLE)
def test_a_part_of_the_run_costs_itself(name, run, whole, monkeypatch):
    module, cost = WHOLE[name]
    monkeypatch.setattr(module, name, failing(getattr(module, name)))
    signals = signals_of(run)
    assert differences(signals, whole) == cost | {"notes"}
    assert all(text.endswith(f"ArithmeticError: {DAMAGED}") for text in failed(signals))
    assert failed(signals)
    assert diagnose(signals).findings


@pytest.mark.parametrize("name", OF_A_LOADER)
def test_a_part_of_a_loader_costs_itself(name, run, whole, monkeypatch):
    module, cost = OF_A_LOADER[name]
    monkeypatch.setattr(module, name, failing(getattr(module, name)))
    signals = signals_of(run)
    assert differences(signals, whole) <= {"loaders", "notes"}
    assert differences(signals.main, whole.main) <= {cost}
    assert [text for text in failed(signals) if text.startswith("The loader train.py:42: ")]
    assert diagnose(signals).findings


def test_a_loader_costs_its_own_line(run, whole, monkeypatch):
    of_evaluation = lambda loader, *_: loader.role == "eval"  # noqa: E731 - a table's word
    monkeypatch.setattr(each_loader, "_loader_signals", failing(each_loader._loader_signals, of_evaluation))
    signals = signals_of(run)
    assert differences(signals, whole) == {"loaders", "notes"}
    train, evaluation = signals.loaders
    assert train == whole.main
    assert (evaluation.id, evaluation.batches, evaluation.wait_s.slug) == ("train.py:43", 2, parts.SLUG)
    assert diagnose(signals).status == diagnose(whole).status


@pytest.mark.parametrize("name", ["made_of", "named_stages", "stacks"])
def test_a_workers_file_costs_what_it_told(name, run, monkeypatch):
    damaged = run.processes[1]

    def has_it(rank, *_):
        return any(life.process is damaged for life in rank.workers)

    monkeypatch.setattr(build, name, failing(getattr(build, name), has_it))
    signals = signals_of(run)
    without = signals_of(replace(run, processes=tuple(one for one in run.processes if one is not damaged)))
    assert differences(signals, without) == {"notes"}
    assert failed(signals) == [
        f"What worker 0 (process {damaged.pid}) recorded could not be analysed: ArithmeticError: {DAMAGED}"
    ]


def test_what_the_main_process_says_of_making_batches_costs_that(run, whole, monkeypatch):
    of_main = lambda rank, *_: bool(rank.main.tables)  # noqa: E731 - a table's word
    monkeypatch.setattr(build, "made_of", failing(build.made_of, of_main))
    signals = signals_of(run)
    assert differences(signals, whole) == {"loaders", "notes", "stretch"}
    assert [text for text in failed(signals) if "recorded of its own batches" in text]
    assert signals.starved_share.value > 0


def test_a_devices_clock_leaves_the_hosts(run, whole, monkeypatch):
    assert whole.clock == "device"
    told = lambda _, main: "device_step" in main.tables  # noqa: E731 - a table's word
    monkeypatch.setattr(build, "with_exposure", failing(build.with_exposure, told))
    signals = signals_of(run)
    assert signals.clock == "host"
    assert failed(signals) == [f"The device's clock could not be analysed: ArithmeticError: {DAMAGED}"]
    assert signals.starved_share.value == pytest.approx(2 / 3, abs=0.05)


SERIES = {
    "machine": {"busy_cpu_s": 1.0, "stolen_cpu_s": "much"},
    "processes": {"processes": 7},
    "disks": {"disks": None, "mounts": "none"},
}


@pytest.mark.parametrize("name", SERIES)
def test_a_series_of_samples_costs_itself(name, run):
    rows = run.samples[name].rows
    damaged = Samples(name, (*rows[:8], {"at_ns": rows[8]["at_ns"], **SERIES[name]}, *rows[9:]))
    signals = signals_of(replace(run, samples={**run.samples, name: damaged}))
    without = signals_of(replace(run, samples={other: rows for other, rows in run.samples.items() if other != name}))
    assert differences(signals, without) <= {"notes", "training"}, "what the training needs is read by itself"
    assert f"What was sampled of {name}" in [text.partition(" could")[0] for text in failed(signals)]


@pytest.mark.parametrize("name", ["machine_signals", "disk_signals", "worker_samples", "hardware_signals"])
def test_a_look_from_outside_costs_itself(name, run, whole, monkeypatch):
    monkeypatch.setattr(surroundings, name, failing(getattr(surroundings, name)))
    signals = signals_of(run)
    assert differences(signals, whole) <= {"machine", "disk", "loaders", "hardware", "notes"}
    assert signals.starved_share == whole.starved_share
    assert diagnose(signals).status == diagnose(whole).status


def test_a_rank_costs_itself(monkeypatch):
    drawing = "[" + "wwc" * 40
    run = builders.ranks_from([drawing, drawing])
    monkeypatch.setattr(build, "timeline_of", failing(build.timeline_of, lambda main: main.pid == 101))
    signals = signals_of(run)
    assert (signals.ranks, len(signals.rank_shares)) == (1, 1)
    assert failed(signals) == [f"Rank 1 could not be analysed: ArithmeticError: {DAMAGED}"]


@pytest.mark.parametrize("name", ["ranks_of", "timeline_of", "loaders_of", "loader_signals", "notes_of"])
def test_what_all_else_stands_on_leaves_a_report_that_says_so(name, run, monkeypatch):
    monkeypatch.setattr(build, name, failing(getattr(build, name)))
    signals = signals_of(run)
    assert isinstance(signals.starved_share, Missing)
    assert failed(signals)
    assert diagnose(signals).status == "unknown"
