"""Several run directories read as one job, and processes that are no ranks of one."""

from __future__ import annotations

import json
from dataclasses import replace

import builders
import numpy as np
import pytest

from loaderdoctor import causes
from loaderdoctor.analyse import signals_of
from loaderdoctor.errors import LoaderDoctorError
from loaderdoctor.probe.layout import CLOCK_FIELDS
from loaderdoctor.record import RECORDED_AS_A_PART, parts_in, read_job
from loaderdoctor.record.run import Samples
from loaderdoctor.report import json as report_json
from loaderdoctor.report.view import view

FAST, SLOW = "wccc", "wwwc"  # steps of equal length: who waits less for data waits for the others instead
PART = {"slug": RECORDED_AS_A_PART, "text": "One of several."}
LATER_NS = 86_400_000_000_000  # another host's clock, which began a day earlier


def moved(process, by_ns, pace=1.0):
    """The process as a clock says it that began elsewhere, and goes at another pace."""
    begun_ns = process.header["opened_ns"]

    def at(times):
        return np.where(times > 0, (begun_ns + by_ns + (times - begun_ns) * pace).astype(np.int64), times)

    tables = {
        kind: {name: at(column) if name in CLOCK_FIELDS else column for name, column in columns.items()}
        for kind, columns in process.tables.items()
    }
    return replace(process, header={**process.header, "opened_ns": begun_ns + by_ns}, tables=tables)


def two_hosts(tmp_path, *, pace=1.0, drawings=("[" + FAST * 40, "[" + SLOW * 40), **of_second):
    """Directories of the parts of a job; the second one's ranks come first in the alphabet of folders."""
    run = builders.ranks_from(drawings)
    first, second = run.processes
    environment = {"cpus_allowed": 8, "cpus_present": 8}
    meta = replace(run.meta, host="zeta", environment=environment, notes=(PART, {"slug": "gpu-lost", "text": "Gone."}))
    parts = [
        replace(run, processes=(first,), meta=meta),
        replace(
            run,
            processes=(moved(second, LATER_NS, pace),),
            meta=replace(
                meta,
                host="alpha",
                started_ns=meta.started_ns + LATER_NS,
                ended_ns=meta.ended_ns + LATER_NS,
                environment={"cpus_allowed": 4, "cpus_present": 4},
                notes=(PART,),
                **of_second,
            ),
        ),
    ]
    return [builders.write(part, tmp_path / "job" / name) for part, name in zip(parts, ("2", "1"), strict=True)]


def slugs(signals):
    return [slug for slug, _ in signals.notes]


@pytest.mark.parametrize("pace", [1.0, 1.00005, 0.99995])
def test_clocks_that_do_not_agree_change_nothing(tmp_path, pace):
    together = signals_of(builders.ranks_from(["[" + FAST * 40, "[" + SLOW * 40]))
    signals = signals_of(read_job(two_hosts(tmp_path, pace=pace)))
    assert signals.ranks == 2
    assert signals.starved_share.value == pytest.approx(together.starved_share.value, abs=0.001)
    assert signals.job.held_share.value == pytest.approx(together.job.held_share.value, abs=0.001)
    assert [one.last_share.value for one in signals.processes.each] == [0.0, 1.0]


def test_hosts_are_numbered_by_their_ranks_and_named_only_where_that_is_asked_for(tmp_path):
    parts = two_hosts(tmp_path)
    for order in (parts, parts[::-1], [tmp_path / "job"]):
        assert [one.host for one in signals_of(read_job(order)).processes.each] == ["host-1", "host-2"]
    named = signals_of(read_job(parts, names_hosts=True))
    assert [one.host for one in named.processes.each] == ["zeta", "alpha"]


def test_the_straggler_is_explained_by_its_own_host(tmp_path):
    run = read_job(two_hosts(tmp_path))
    signals = signals_of(run)
    diagnosis = causes.diagnose(signals)
    assert (signals.job.last_rank, signals.job.last_host) == (1, "host-2")
    assert signals.machine.cpus_allowed.value == 4
    assert diagnosis.cause == "input-straggler"
    (straggler,) = (one for one in diagnosis.findings if one.cause == "input-straggler")
    assert "rank 1 on host-2" in straggler.prescription.advice


def test_what_each_host_is_and_said_stays_its_own(tmp_path):
    run = read_job(two_hosts(tmp_path))
    signals = signals_of(run)
    assert [(one.host, one.ranks, one.machine.cpus_allowed.value) for one in signals.processes.by_host] == [
        ("host-1", (0,), 8),
        ("host-2", (1,), 4),
    ]
    assert ("gpu-lost", "host-1: Gone.") in signals.notes
    assert RECORDED_AS_A_PART not in slugs(signals)
    diagnosis = causes.diagnose(signals)
    report = report_json.as_json(run, signals, diagnosis, view(run, signals, diagnosis))
    assert [host["environment"]["cpus_allowed"] for host in report["hosts"]] == [8, 4]
    assert not {"zeta", "alpha"} & set(json.dumps(report).split('"'))


def test_a_host_that_crashed_ended_the_job(tmp_path):
    meta = read_job(two_hosts(tmp_path, ended_by="crash", exit_code=1)).meta
    assert (meta.ended_by, meta.exit_code) == ("crash", 1)


def test_workers_of_two_hosts_with_one_process_id_keep_apart(tmp_path):
    parts = []
    for rank, step in enumerate((FAST, SLOW)):
        run = builders.ranks_from(["[" + step * 40] * (rank + 1), num_workers=1)
        main = next(one for one in run.processes if one.header["rank"] == rank)
        worker = [one for one in run.processes if one.header["role"] == 1][rank]
        renumbered = replace(worker, header={**worker.header, "pid": 200})
        started = dict(main.tables["worker_started"])
        started["pid"] = np.full_like(started["pid"], 200)
        own = replace(run, processes=(replace(main, tables={**main.tables, "worker_started": started}), renumbered))
        parts.append(builders.write(replace(own, meta=replace(run.meta, host=f"h{rank}")), tmp_path / str(rank)))
    signals = signals_of(read_job(parts))
    assert signals.ranks == 2
    assert signals.main.fetch_s.value == pytest.approx(3 * builders.UNIT_S)  # the second one's, which is last


def test_only_parts_below_a_folder_are_read_as_a_job(tmp_path):
    parts = two_hosts(tmp_path)
    assert parts_in(tmp_path / "job") == sorted(parts)
    builders.write(builders.run_from("[" + FAST * 20), tmp_path / "job" / "another")
    assert parts_in(tmp_path / "job") == sorted(parts)
    (tmp_path / "none").mkdir()
    with pytest.raises(LoaderDoctorError, match=r"run\.json") as raised:
        read_job([tmp_path / "none"])
    assert raised.value.slug == "not-a-run"


def test_a_part_given_twice_is_read_once(tmp_path):
    first, second = two_hosts(tmp_path)
    assert len(read_job([first, second, first, tmp_path / "job"]).parts) == 2


@pytest.mark.parametrize(
    ("ranks", "local_ranks", "world", "local_world", "missing"),
    [
        ((0, 1), (0, 1), 2, 2, False),
        ((0, 1), (0, 1), 4, 2, True),
        ((2, 3), (0, 1), 4, 2, True),
        ((0, 1), (0, 0), 2, 1, False),
        ((0, 1), (0, 1), 4, -1, False),  # a launcher that does not say it
        ((0, 1), (0, 1), 4, 0, False),  # a run of before it was recorded
    ],
)
def test_hosts_that_are_missing(ranks, local_ranks, world, local_world, missing):
    run = builders.ranks_from(["[" + FAST * 40] * 2)
    said = {"world_size": world, "local_world_size": local_world}
    processes = [
        replace(one, header={**one.header, **said, "rank": rank, "local_rank": local})
        for one, rank, local in zip(run.processes, ranks, local_ranks, strict=True)
    ]
    signals = signals_of(replace(run, processes=tuple(processes)))
    assert ("hosts-missing" in slugs(signals)) is missing
    assert [one.rank for one in signals.processes.each] == list(ranks)


def test_parts_of_two_jobs_are_told(tmp_path):
    one, other = (builders.write(builders.ranks_from(["[" + FAST * 40]), tmp_path / name) for name in "ab")
    assert "parts-of-several-jobs" in slugs(signals_of(read_job([one, other])))


def without_distributed(run):
    """As the probe tells of processes in which torch.distributed is not in use."""
    told = {"rank": {name: np.array([-1]) for name in ("rank", "world_size", "local_rank", "at_ns")}}
    return replace(
        run,
        processes=tuple(
            replace(one, header={**one.header, "rank": -1}, tables={**one.tables, **told}) for one in run.processes
        ),
    )


@pytest.mark.parametrize(
    ("drawings", "batches", "share", "why"),
    [
        (["[" + FAST * 40, "[" + SLOW * 38], [40, 38], 0.25, "side by side, and even in step"),
        (["[" + FAST * 38, "[" + SLOW * 40], [40, 38], 0.75, "the one with most batches is explained"),
        (["[" + FAST * 40, "[" + SLOW * 4], [40, 4], 0.25, "a short one"),
        (["[" + FAST * 40, "x" * 160 + "[" + SLOW * 20], [40, 20], 0.25, "one after the other"),
    ],
)
def test_trainings_that_exchange_nothing_are_no_ranks(drawings, batches, share, why):
    signals = signals_of(without_distributed(builders.ranks_from(drawings)))
    assert (signals.ranks, signals.processes.are_ranks) == (1, False), why
    assert [one.batches for one in signals.processes.each] == batches
    assert signals.starved_share.value == pytest.approx(share)
    assert "separate-trainings" in slugs(signals)
    assert signals.neighbours == 2


def test_one_training_alone_has_no_row_of_its_own():
    signals = signals_of(without_distributed(builders.ranks_from(["[" + FAST * 40])))
    assert (signals.ranks, signals.processes.each, slugs(signals)) == (1, (), [])


def test_ranks_of_another_host_take_no_cores_of_this_one(tmp_path):
    assert signals_of(read_job(two_hosts(tmp_path))).neighbours == 1
    assert signals_of(builders.ranks_from(["[" + FAST * 40] * 2)).neighbours == 2


def test_samples_of_a_host_are_looked_up_on_its_own_clock(tmp_path):
    parts = two_hosts(tmp_path)
    (parts[1] / "samples").mkdir()
    run = read_job(parts)
    start_ns = run.parts[1].meta.started_ns
    rows = tuple(
        {"at_ns": start_ns + second * 100_000_000, "busy_cpu_s": 4 * second * 0.1, "cpus": 4} for second in range(17)
    )
    processes = tuple({"at_ns": row["at_ns"], "processes": []} for row in rows)
    samples = {"machine": Samples("machine", rows), "processes": Samples("processes", processes)}
    seen = replace(run, parts=(run.parts[0], replace(run.parts[1], samples=samples)))
    by_host = signals_of(seen).processes.by_host
    assert by_host[1].machine.neighbour_cpu_share.value == pytest.approx(1.0, abs=0.01)
    assert by_host[0].machine.neighbour_cpu_share.slug == "not-sampled"
