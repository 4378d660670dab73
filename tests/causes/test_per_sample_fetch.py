"""per-sample-fetch: found where samples that lie in memory are taken one by one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ailing import answer, on_a_cpu, workers_busy
from builders import around, exact

from loaderdoctor.analyse.signals import HotFunction, MakingSignals, Stage
from loaderdoctor.causes import diagnose
from loaderdoctor.causes.workers.per_sample_fetch import FINE


def one_by_one(**overrides):
    """Without workers: 128 samples of 60 us, used in 9 ms."""
    work = {"cpu_s": 0.0077, "blocked_s": 0.0, "compute_s": 0.009, "wait_s": 0.0077}
    return workers_busy(
        0,
        **{
            "work": work,
            "exposed_wait_share": around(0.46, spread=0.03),
            "fetch_s": around(0.0077, "s"),
            "stages": (),
            "hot_functions": (HotFunction("Stamps.__getitem__", "/home/user/data.py", 36, around(0.5)),),
            "making": MakingSignals(samples=exact(128, "samples"), read_bytes=exact(140, "bytes")),
            **overrides,
        },
    )


def test_found_at_the_datasets_own_line():
    finding = answer("per-sample-fetch", on_a_cpu(one_by_one()))
    assert finding.status == "found"
    assert finding.prescription.settings == {}
    action = finding.prescription.actions[0]
    assert (action.site.file, action.site.line) == ("/home/user/data.py", 36)
    assert "__getitems__" in action.example
    assert finding.gain.speedup.low > 1.2


@pytest.mark.parametrize(("sample_s", "status"), [(FINE.value * 0.99, "found"), (FINE.value * 1.01, "ruled-out")])
def test_samples_that_take_longer_are_computed_not_fetched(sample_s, status):
    one = one_by_one(fetch_s=exact(128 * sample_s, "s"), fetch_run_queue_share=exact(0.0))
    assert answer("per-sample-fetch", on_a_cpu(one)).status == status


@pytest.mark.parametrize(
    "overrides",
    [
        {"fetch_cpu_share": exact(0.2)},
        {"making": MakingSignals(samples=exact(128, "samples"), read_bytes=exact(4e6, "bytes"))},
        {"stages": (Stage("decode", exact(0.006, "s"), exact(1.0), "main"),)},
    ],
    ids=["waits", "reads", "decodes"],
)
def test_samples_that_are_read_or_decoded_do_not_lie_in_memory(overrides):
    assert answer("per-sample-fetch", on_a_cpu(one_by_one(**overrides))).status == "ruled-out"


@pytest.mark.parametrize(
    ("collate", "collate_s", "status"),
    [
        ("__main__.batch_of", 0.006, "ruled-out"),
        ("__main__.batch_of", 0.002, "found"),
        ("torch.utils.data._utils.collate.default_collate", 0.006, "found"),
    ],
    ids=["its own takes most", "its own takes little", "torch's takes most"],
)
def test_a_collate_fn_that_takes_the_time_is_what_is_slow(collate, collate_s, status):
    one = one_by_one(collate_s=exact(collate_s, "s"))
    one = replace(one, settings=replace(one.settings, collate=collate))
    assert answer("per-sample-fetch", on_a_cpu(one)).status == status


@pytest.mark.parametrize("change", [{"batched_fetch": True}, {"dataset_kind": "iterable"}])
def test_what_is_made_at_once_cannot_have_it(change):
    one = one_by_one()
    one = replace(one, settings=replace(one.settings, **change))
    assert answer("per-sample-fetch", on_a_cpu(one)).status == "not-applicable"


def test_it_takes_the_place_of_too_few_processes():
    """Workers would gain as well, and are not what is wrong."""
    diagnosis = diagnose(on_a_cpu(one_by_one()))
    assert diagnosis.cause == "per-sample-fetch"
    status = {one.cause: (one.status, one.explained_by) for one in diagnosis.findings}
    assert status["no-workers"] == ("explained", "per-sample-fetch")


@pytest.mark.parametrize(
    ("dataset_type", "whose"),
    [
        ("torch.utils.data.dataset.TensorDataset", "a subclass of TensorDataset"),
        ("stamps.Stamps", "Stamps"),
        ("", "the dataset"),
    ],
)
def test_a_class_of_torch_is_not_the_scripts_to_change(dataset_type, whose):
    one = one_by_one()
    one = replace(one, settings=replace(one.settings, dataset_type=dataset_type))
    advice = answer("per-sample-fetch", on_a_cpu(one)).prescription.advice
    assert advice.startswith(f"Give {whose} a __getitems__")
