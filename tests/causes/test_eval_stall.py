"""eval-stall: the evaluation's own loader is waited for, and takes the place of what ails it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ailing import answer, computing, fed, on_a_cpu, workers_busy
from builders import around, workload

from loaderdoctor.analyse.signals import LoaderSettings
from loaderdoctor.causes import diagnose, engine, get
from loaderdoctor.causes.gates import STARVES


def evaluated(wait=0.4, cores=8.0):
    settings = LoaderSettings(batch_size=32, num_workers=0)
    wait_s = 0.03
    work = workload(settings=settings, cores=cores, epochs=4, cpu_s=0.03, compute_s=0.02, wait_s=wait_s)
    one = workers_busy(
        0,
        wait=wait,
        id="train.py:60",
        role="eval",
        epochs=4,
        settings=vars(settings),
        exposed_wait_share=around(wait, spread=0.02),
    )
    return on_a_cpu(fed(), replace(one, workload=work), share=wait, measured_s=4.5 / wait * 0.6)


def asked(run):
    return engine.answer(get("eval-stall"), run, run.loaders[1])


def test_found_with_workers_that_stay():
    finding = asked(evaluated())
    assert finding.status == "found"
    assert finding.prescription.settings["num_workers"] >= 1
    assert finding.prescription.settings["persistent_workers"] is True
    assert finding.gain.speedup.best > 1.05


def test_it_takes_the_place_of_what_ails_its_loader():
    run = diagnose(evaluated())
    status = {(one.cause, one.loader): (one.status, one.explained_by) for one in run.findings}
    assert run.cause == "eval-stall"
    assert status["no-workers", "train.py:60"] == ("explained", "eval-stall")


@pytest.mark.parametrize(("wait", "status"), [(STARVES.value * 1.1, "found"), (STARVES.value * 0.95, "ruled-out")])
def test_a_short_evaluation_holds_up_nothing(wait, status):
    assert asked(evaluated(wait)).status == status


def test_a_training_loader_is_another_illness():
    assert answer("eval-stall", on_a_cpu(computing())).status == "not-applicable"


def test_where_no_worker_gains_it_is_to_be_done_less_often():
    finding = asked(evaluated(cores=1.0))
    assert (finding.status, finding.prescription.settings, finding.gain.basis) == ("found", {}, "bound")
