"""How far a drawn run is, read from its files alone."""

from dataclasses import replace

import builders
import numpy as np
import pytest

from loaderdoctor.record.glance import glance_at

RUNS = {  # what is drawn: steps, share of waiting after the first tenth
    "all work": ("[" + ".cccc" * 20 + "]", 20, 0.0),
    "half waiting": ("[" + "wwcc" * 20 + "]", 20, 0.5),
    "an evaluation waits too": ("[" + "wc" * 20 + "{wwww" + "wcwc}" + "]", 20, None),
    "gaps between epochs wait": ("[" + "|ggwcsss" * 20 + "]", 20, 0.86),
    "one step, none ended": ("[wc!", 1, None),
}


@pytest.mark.parametrize("case", RUNS)
def test_steps_and_waiting(tmp_path, case):
    drawing, steps, share = RUNS[case]
    run = builders.run_from(drawing)
    builders.write(run, tmp_path)
    seen = glance_at(tmp_path)
    assert seen.steps == steps
    assert not seen.on_device
    assert seen.first_ns < seen.last_ns
    if share is not None:
        assert seen.wait_share == pytest.approx(share, abs=0.03)


def test_the_device_says_what_it_felt(tmp_path):
    run = builders.run_from("[" + "wwcc" * 20 + "]", device=[(0.004, 0.002, 0.04)] * 20)
    builders.write(run, tmp_path)
    seen = glance_at(tmp_path)
    assert seen.on_device
    assert seen.wait_share == pytest.approx(0.15, abs=0.01)


def test_a_loader_that_is_built_anew_every_epoch_is_one(tmp_path):
    run = builders.run_from("[" + "wc" * 20 + "]")
    (main,) = run.processes
    loops, loaders = (
        {name: column.repeat(2) for name, column in main.tables[kind].items()} for kind in ("iterator", "loader")
    )
    loops |= {"iterator": np.array([1, 2]), "loader": np.array([1, 7])}
    loaders |= {"loader": np.array([1, 7])}
    calls = dict(main.tables["next"])
    calls["iterator"] = np.where(np.arange(len(calls["iterator"])) < 12, 1, 2)
    tables = {**main.tables, "iterator": loops, "loader": loaders, "next": calls}
    builders.write(replace(run, processes=(replace(main, tables=tables),)), tmp_path)
    assert glance_at(tmp_path).steps == 20


def test_of_ranks_it_is_the_one_that_waits_most(tmp_path):
    run = builders.ranks_from(["[" + ".ccc" * 20 + "]", "[" + "wccc" * 20 + "]", "[" + "ww" * 3 + "]"])
    builders.write(run, tmp_path)
    assert glance_at(tmp_path).wait_share == pytest.approx(0.25, abs=0.03)


def test_copies_that_are_heard_in_some_steps_stand_for_all(tmp_path):
    run = builders.run_from("[" + "wwcc" * 20 + "]", device=[(0.004, 0.01, 0.04)] * 20, device_heard_every=4)
    builders.write(run, tmp_path)
    assert glance_at(tmp_path).wait_share == pytest.approx(0.35, abs=0.01)


def test_nothing_is_seen_before_the_first_batch(tmp_path):
    assert glance_at(tmp_path) is None
    (tmp_path / "records").mkdir()
    (tmp_path / "records" / "main-1-1.bin").write_bytes(b"no header")
    assert glance_at(tmp_path) is None
    builders.write(builders.run_from("xx"), tmp_path / "other")
    assert glance_at(tmp_path / "other") is None
