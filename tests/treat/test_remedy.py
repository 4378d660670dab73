"""What is tried on a run: the first prescription that can be, whole or in part, or what somebody asks for."""

from __future__ import annotations

from dataclasses import replace

import builders
import pytest

from loaderdoctor import causes
from loaderdoctor.analyse.signals import LoaderSettings
from loaderdoctor.causes.base import Action, Change, Diagnosis, Finding, Gain, Interval, Prescription
from loaderdoctor.errors import LoaderDoctorError
from loaderdoctor.treat import remedy
from loaderdoctor.values import Measured

PROMISED = Gain(Interval(1.5, 2.0, 2.5), "simulated")
FOUR = {"num_workers": 4}
EDIT = Action("code", "Decode less.")
THREADS = Action("environment", "One thread.", name="OMP_NUM_THREADS", value=1)
LESS = {"cpu_s": Interval(0.4, 0.5, 0.6)}


def found(cause="no-workers", status="found", loader="train.py:42", gain=PROMISED, **prescription):
    return Finding(cause, status, loader=loader, gain=gain, prescription=Prescription(**prescription))


def diagnosed(*findings):
    return Diagnosis("starving", findings[0].cause if findings else None, None, findings, ())


def test_the_first_prescription_that_can_be_tried_is():
    only_code = found("cpu-decode", actions=(EDIT,))
    ruled_out = found("too-few-workers", status="ruled-out", settings={"num_workers": 9})
    tried = remedy.prescribed(builders.signals(), diagnosed(only_code, ruled_out, found(settings=FOUR)))
    assert (tried.cause, tried.settings, tried.variables) == ("no-workers", FOUR, {})
    assert (tried.promised, tried.loader.id, tried.left_out) == (PROMISED.speedup, "train.py:42", ())


def test_a_variable_of_the_environment_is_tried_too():
    tried = remedy.prescribed(builders.signals(), diagnosed(found(actions=(THREADS, EDIT))))
    assert (tried.settings, tried.variables) == ({}, {"OMP_NUM_THREADS": "1"})
    assert (tried.promised, tried.left_out) == (PROMISED.speedup, ("Decode less.",))


def test_where_a_part_takes_an_edit_the_promise_is_of_what_is_tried():
    change = Change(FOUR, LESS)
    tried = remedy.prescribed(builders.signals(), diagnosed(found(settings=FOUR, change=change, actions=(EDIT,))))
    assert tried.promised not in {None, PROMISED.speedup}


def test_a_finding_about_another_loader_is_tried_on_that():
    other = replace(builders.loader(), id="train.py:7")
    signals = builders.signals(loaders=(builders.loader(), other))
    assert remedy.prescribed(signals, diagnosed(found(loader="train.py:7", settings=FOUR))).loader is other


@pytest.mark.parametrize(
    ("findings", "says"),
    [
        ((), "prescribes nothing"),
        ((found(actions=(EDIT,)),), "an edit"),
        ((found(status="explained", settings=FOUR),), "nothing"),
    ],
)
def test_nothing_to_try_is_said(findings, says):
    with pytest.raises(LoaderDoctorError, match=says) as error:
        remedy.prescribed(builders.signals(), diagnosed(*findings))
    assert error.value.slug == "nothing-to-try"


def test_what_is_asked_for_is_promised_by_a_replay():
    signals = builders.signals()
    tried = remedy.asked_for(signals, causes.diagnose(signals), ["num_workers=2"])
    assert (tried.settings, tried.cause) == ({"num_workers": 2}, None)
    assert tried.promised is not None
    assert tried.promised.best > 1


def test_the_loader_may_be_named():
    other = replace(builders.loader(), id="train.py:7")
    signals = builders.signals(loaders=(builders.loader(), other))
    diagnosis = diagnosed(found(settings=FOUR))
    assert remedy.asked_for(signals, diagnosis, ["num_workers=2"], "train.py:7").loader is other
    assert remedy.asked_for(signals, diagnosis, ["num_workers=2"]).loader.id == "train.py:42"
    with pytest.raises(LoaderDoctorError, match=r"train\.py:7") as error:
        remedy.asked_for(signals, diagnosis, ["num_workers=2"], "eval.py:1")
    assert error.value.slug == "loader-unknown"


def test_a_run_without_a_loader_has_nothing_to_try():
    with pytest.raises(LoaderDoctorError, match="no loader") as error:
        remedy.asked_for(builders.signals(loaders=()), diagnosed(), ["num_workers=2"])
    assert error.value.slug == "nothing-to-try"


def test_the_ceiling_is_what_the_share_of_waiting_says():
    signals = builders.signals(starved_share=Measured(0.5, 0.2, 0.75, 100, "share"))
    tried = remedy.ceiling(signals, diagnosed())
    assert (tried.is_ceiling, tried.cause, tried.variables) == (True, None, {})
    assert (tried.promised.low, tried.promised.best, tried.promised.high) == pytest.approx((1.25, 2.0, 4.0))
    two = replace(signals, loaders=(*signals.loaders, replace(signals.loaders[0], id="train.py:7")))
    assert remedy.ceiling(two, diagnosed()).promised is None, "the share is of both"


@pytest.mark.parametrize(("workers", "settings"), [(0, {}), (2, {"num_workers": 0})])
def test_a_perfect_loader_has_no_workers(workers, settings):
    loader = builders.loader(settings=LoaderSettings(num_workers=workers))
    assert remedy.ceiling(builders.signals(loaders=(loader,)), diagnosed()).settings == settings


@pytest.mark.parametrize("settings", [{"dataset_kind": "iterable"}, {"torch_loader": False}])
def test_where_no_batch_can_be_kept_the_ceiling_is_refused(settings):
    loader = builders.loader(settings=LoaderSettings(**settings))
    with pytest.raises(LoaderDoctorError) as error:
        remedy.ceiling(builders.signals(loaders=(loader,)), diagnosed())
    assert error.value.slug == "setting-refused"
