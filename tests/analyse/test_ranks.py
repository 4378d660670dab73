"""Several processes in one run."""

from dataclasses import replace

import builders
import numpy as np
import pytest

from loaderdoctor.analyse import signals_of

FAST, SLOW = "wccc", "wwwc"  # steps of equal length: who waits less for data waits for the others instead


def test_the_longest_wait_of_any_rank_holds_up_the_job():
    run = builders.ranks_from(["[" + FAST * 40, "[" + SLOW * 40])
    signals = signals_of(run)
    assert signals.ranks == 2
    assert signals.rank_shares == pytest.approx((0.25, 0.75))
    assert signals.starved_share.value == pytest.approx(0.75)


def test_stragglers_that_change_add_up():
    first, second = "[" + (FAST + SLOW) * 20, "[" + (SLOW + FAST) * 20
    signals = signals_of(builders.ranks_from([first, second]))
    assert signals.rank_shares == pytest.approx((0.5, 0.5))
    assert signals.starved_share.value == pytest.approx(0.75)


def test_an_evaluation_of_one_rank_alone_shifts_nothing():
    first, second = f"[{FAST * 20}]{{{'cc'.join(['w'] * 8)}cc}}[{FAST * 20}]", f"[{FAST * 20}|{FAST * 20}]"
    alone = signals_of(builders.run_from(first)).starved_share.value
    assert signals_of(builders.ranks_from([first, second])).starved_share.value == pytest.approx(alone)


def test_a_rank_with_a_longer_warm_up_shifts_nothing():
    """More steps, more warm-up: the ranks' steps after it do not begin with the same one."""
    epoch = ("wwwwwwcc" + FAST * 9) * 6
    first, second = f"[{epoch}]{{{'cc'.join(['w'] * 40)}cc}}[{epoch}]", f"[{epoch}|{epoch}]"
    alone = signals_of(builders.run_from(first)).starved_share.value
    assert signals_of(builders.ranks_from([first, second])).starved_share.value == pytest.approx(alone)


@pytest.mark.parametrize(
    ("drawings", "share"),
    [
        (["[" + FAST * 40, "[" + SLOW * 40], 0.75),
        (["[" + SLOW * 40, "[" + FAST * 40], 0.75),
        (["[" + (FAST + SLOW) * 20, "[" + (SLOW + FAST) * 20], 0.5),  # none: the first one
    ],
)
def test_steps_and_loaders_are_those_of_the_rank_that_the_others_wait_for(drawings, share):
    signals = signals_of(builders.ranks_from(drawings))
    assert signals.steps.data_wait_share.value == pytest.approx(share)
    assert signals.main.batches == 40


def test_a_wait_for_another_rank_is_no_computing():
    signals = signals_of(builders.ranks_from(["[" + SLOW * 40, "[" + FAST * 40]))
    assert signals.job.last_rank == 0
    assert signals.job.held_share.value == pytest.approx(0.5)
    balanced = signals_of(builders.ranks_from(["[" + (FAST + SLOW) * 20, "[" + (SLOW + FAST) * 20]))
    assert balanced.main.compute_s.value == pytest.approx(builders.UNIT_S)
    assert balanced.job.last_part.value == pytest.approx(0.5, abs=0.1)


def test_processes_that_drift_apart_are_no_ranks_that_wait_for_each_other():
    signals = signals_of(builders.ranks_from(["[" + "wc" * 80, "[" + "wccc" * 40]))
    assert signals.job.held_share.slug == "ranks-not-together"


def test_a_step_that_one_rank_lacks_shifts_no_other():
    """As where each rank of a long run keeps the steps that begin in a stretch of its own clock."""
    run = builders.ranks_from(["[" + (FAST + SLOW) * 20, "[" + (FAST + SLOW) * 20])
    first, second = run.processes
    calls = {name: np.delete(column, 15) for name, column in second.tables["next"].items()}
    lacking = replace(run, processes=(first, replace(second, tables={**second.tables, "next": calls})))
    whole, part = (signals_of(one).starved_share for one in (run, lacking))
    assert part.value == pytest.approx(whole.value, abs=0.03)


def unnumbered(run):
    """As torch.multiprocessing.spawn starts ranks: nobody tells them which they are."""
    return replace(run, processes=tuple(replace(one, header={**one.header, "rank": -1}) for one in run.processes))


@pytest.mark.parametrize(
    ("drawings", "ranks", "notes", "why"),
    [
        (["[" + FAST * 40, "[" + SLOW * 40], 2, [], "the same work at the same time"),
        (["[" + FAST * 40, "[" + SLOW * 38], 2, [], "or nearly"),
        (["[" + FAST * 40, "[" + SLOW * 4], 1, ["several-processes"], "a process that did something else"),
        (["[" + FAST * 40, "x" * 160 + "[" + FAST * 40], 1, ["several-processes"], "one after the other"),
        (["[" + FAST * 40, "x" * 160], 1, [], "a process that iterated nothing"),
    ],
)
def test_ranks_without_numbers(drawings, ranks, notes, why):
    signals = signals_of(unnumbered(builders.ranks_from(drawings)))
    assert (signals.ranks, [slug for slug, _ in signals.notes]) == (ranks, notes), why


def test_a_rank_that_was_started_again_is_the_process_that_did_most():
    first = builders.ranks_from(["[" + SLOW * 5 + "!"])
    again = builders.ranks_from(["x" * 30 + "[" + FAST * 40])
    run = replace(again, processes=(*first.processes, *again.processes))
    signals = signals_of(run)
    assert (signals.ranks, signals.main.batches) == (1, 40)
    assert [slug for slug, _ in signals.notes] == ["several-processes"]


def test_workers_whose_process_number_was_used_twice_keep_apart():
    """The workers of the second epoch have the numbers of those of the first."""
    run = builders.run_from("[" + SLOW * 20 + "|" + FAST * 20, num_workers=2)
    main, *workers = run.processes
    pids = {worker.pid: 200 + place % 2 for place, worker in enumerate(workers)}
    started = dict(main.tables["worker_started"])
    started["pid"] = started["pid"].copy()
    started["pid"][:] = [pids[pid] for pid in started["pid"]]
    renumbered = [replace(worker, header={**worker.header, "pid": pids[worker.pid]}) for worker in workers]
    reused = replace(run, processes=(replace(main, tables={**main.tables, "worker_started": started}), *renumbered))
    assert signals_of(reused).main.workload.batches == signals_of(run).main.workload.batches
