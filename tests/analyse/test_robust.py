"""Runs that lack something, and scripts that are unlike a plain loop."""

import errno
from dataclasses import replace

import builders
import numpy as np
import pytest

from loaderdoctor.analyse import signals_of
from loaderdoctor.causes import diagnose
from loaderdoctor.probe.layout import KINDS
from loaderdoctor.values import Missing

DRAWING = "xx[g" + "wwc" * 30 + "]{wcwc}[" + "wwc" * 30 + "]x"


@pytest.mark.parametrize("processes", [0, 1], ids=["no process", "a process without a loop"])
def test_a_run_without_a_loader_says_so_everywhere(processes):
    run = builders.run_from("xxxx")
    signals = signals_of(replace(run, processes=run.processes[:processes]))
    assert signals.loaders == ()
    assert signals.main is None
    for value in (signals.starved_share, signals.steps.median_s, signals.device.copy_share, signals.overhead_share):
        assert isinstance(value, Missing)
        assert value.slug == "no-loader"
    assert ("no-loader", signals.starved_share.reason) in signals.notes
    assert [(phase.name, phase.share) for phase in signals.phases] == [("start-up", 1.0)]


@pytest.mark.parametrize("num_workers", [0, 2])
@pytest.mark.parametrize("kind", sorted({KINDS[number][0] for number in KINDS} - {"header", "text", "next"}))
def test_any_kind_of_record_may_be_missing(kind, num_workers):
    """An older probe, a platform that does not tell, a hook that was refused."""
    run = builders.run_from(DRAWING, num_workers=num_workers, device=[(0.01, 0.001, 0.03)] * 60)
    without = tuple(
        replace(one, tables={name: table for name, table in one.tables.items() if name != kind})
        for one in run.processes
    )
    signals = signals_of(replace(run, processes=without))
    assert signals.main.batches in {59, 60, 62}  # without the ends of iterators, a last step may have no end
    assert 0 < signals.starved_share.value < 1


@pytest.mark.parametrize("keep", [0.1, 0.35, 0.5, 0.93])
def test_a_record_file_may_end_anywhere(keep):
    run = builders.run_from(DRAWING, num_workers=2)
    cut = tuple(
        replace(
            one,
            tables={
                name: {column: values[: round(len(values) * keep)] for column, values in table.items()}
                for name, table in one.tables.items()
            },
        )
        for one in run.processes
    )
    signals = signals_of(replace(run, processes=cut))
    assert sum(phase.share for phase in signals.phases) == pytest.approx(1.0)


def test_fields_that_the_platform_does_not_tell_are_missing_and_not_zero():
    run = builders.run_from("[" + "wwc" * 40, num_workers=2)
    told = ("run_delay_ns", "blocks_in", "major_faults", "read_bytes", "rss_bytes", "voluntary_switches")
    blind = []
    for one in run.processes:
        tables = dict(one.tables)
        if "busy" in tables:
            tables["busy"] = {
                name: np.full_like(column, -1) if name in told else column for name, column in tables["busy"].items()
            }
        blind.append(replace(one, tables=tables))
    loader = signals_of(replace(run, processes=tuple(blind))).main
    assert {loader.fetch_disk_share.slug, loader.fetch_run_queue_share.slug} == {"not-recorded"}
    assert loader.workers[0].rss_bytes.slug == "no-worker-memory"
    assert loader.fetch_cpu_share.value == 1


def test_a_script_that_fetches_in_a_thread_of_its_own_has_no_share_of_the_training():
    signals = signals_of(builders.run_from("[" + "wwc" * 40, optimizer_thread=99))
    assert isinstance(signals.starved_share, Missing)
    assert signals.starved_share.slug == "background-consumer"
    assert "background-consumer" in dict(signals.notes)
    assert signals.main.batches == 40


def test_a_script_that_fails_in_its_first_step_has_a_loader_and_no_step():
    run = builders.run_from("[wc!")
    signals = signals_of(run)
    assert (len(signals.loaders), signals.main.batches, signals.steps.after_warm_up) == (1, 0, 0)
    assert isinstance(signals.starved_share, Missing)
    assert diagnose(signals).status == "not-enough-data"


def test_an_inference_script_is_measured_like_a_training():
    signals = signals_of(builders.run_from("{" + "wwwc" * 40, optimizer=False))
    assert (signals.main.role, signals.steps.count) == ("train", 36)
    assert signals.starved_share.value == pytest.approx(0.75)


def test_batches_taken_inside_another_loaders_next_are_part_of_its_wait():
    run = builders.run_from("[" + "wwc" * 40)
    main = run.processes[0]
    inner = {name: column.copy() for name, column in main.tables["next"].items()}
    inner["iterator"][:], inner["depth"][:] = 50, 1
    both = {name: np.concatenate([main.tables["next"][name], inner[name]]) for name in inner}
    signals = signals_of(replace(run, processes=(replace(main, tables={**main.tables, "next": both}),)))
    assert [loader.batches for loader in signals.loaders] == [40]
    assert signals.starved_share.value == pytest.approx(2 / 3)
    assert "nested-loader" in dict(signals.notes)


def test_notes_of_processes_and_of_the_parent_are_handed_on_once():
    run = builders.run_from("[" + "wc" * 40, meta={"notes": ({"slug": "from-parent", "text": "p"},)})
    records = builders.Records(5)
    for slug, sentence in (("odd", "o"), ("odd", "o")):
        records.put("note", at_ns=1, slug_text=records.text(slug), sentence_text=records.text(sentence))
    records.put("lost", records=7, errno=errno.ENOSPC)
    torn = replace(records.done(), torn=2)
    signals = signals_of(replace(run, processes=(*run.processes, torn)))
    assert [slug for slug, _ in signals.notes] == ["from-parent", "odd", "records-lost"]
    assert "the disk is full" in dict(signals.notes)["records-lost"]
    assert signals.lost_records == 9
