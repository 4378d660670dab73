"""report.json against the contract's list of fields."""

import json
from dataclasses import replace

import pytest
import report_samples
from report_samples import SAMPLES

from loaderdoctor.report import json as report_json
from loaderdoctor.report.view import view
from loaderdoctor.values import Measured


def as_json(*sample):
    return report_json.as_json(*sample[:3], view(*sample))


def render(*sample):
    return report_json.render(*sample[:3], view(*sample))


NUMBER, TEXT, NULLABLE, ANY = (int, float), (str,), (int, float, type(None)), (object,)
INTERVAL = {"low": NUMBER, "best": NUMBER, "high": NUMBER}


class Maybe:
    """An object, or null."""

    def __init__(self, shape):
        self.shape = shape


CONTRACT = {
    "schema": TEXT,
    "run": {
        "id": TEXT,
        "started_utc": TEXT,
        "duration_s": NULLABLE,
        "command": [TEXT],
        "exit_code": NULLABLE,
        "ended_by": TEXT,
    },
    "verdict": {
        "status": TEXT,
        "clock": TEXT,
        "starved_share": Maybe(INTERVAL),
        "cause": (str, type(None)),
        "limit": (str, type(None)),
        "headline": TEXT,
    },
    "step": {
        "count": NUMBER,
        "excluded": {},
        "median_s": NULLABLE,
        "samples_per_s": NULLABLE,
        "shares": {"data_wait": NULLABLE, "h2d": NULLABLE, "compute": NULLABLE, "other": NULLABLE},
    },
    "phases": [{"name": TEXT, "seconds": NUMBER, "share": NUMBER, "data_wait_s": NUMBER}],
    "loaders": [
        {
            "id": TEXT,
            "role": TEXT,
            "site": Maybe({"file": TEXT, "line": NUMBER}),
            "settings": {
                "batch_size": NULLABLE,
                "num_workers": NUMBER,
                "prefetch_factor": NULLABLE,
                "pin_memory": (bool,),
                "persistent_workers": (bool,),
                "in_order": (bool, type(None)),
                "start_method": (str, type(None)),
            },
            "batches": NUMBER,
            "wait_s": NULLABLE,
            "exposed_wait_s": NULLABLE,
            "ready_batches": {"median": NULLABLE, "empty_share": NULLABLE},
            "stages": [{"name": TEXT, "seconds_per_batch": NULLABLE, "cpu_share": NULLABLE, "where": TEXT}],
            "workers": [
                {
                    "index": NUMBER,
                    "pid": NUMBER,
                    "batches": NUMBER,
                    "busy_share": NULLABLE,
                    "cpu_share": NULLABLE,
                    "disk_wait_share": NULLABLE,
                    "network_wait_share": NULLABLE,
                    "run_queue_share": NULLABLE,
                    "start_s": NULLABLE,
                    "rss_bytes": NULLABLE,
                }
            ],
            "hot_functions": [{"function": TEXT, "file": TEXT, "line": NUMBER, "share": NULLABLE}],
        }
    ],
    "findings": [
        {
            "cause": TEXT,
            "status": TEXT,
            "loader": (str, type(None)),
            "step_share": Maybe(INTERVAL),
            "confidence": TEXT,
            "evidence": [{"text": TEXT, "value": NULLABLE, "unit": TEXT, "threshold": NULLABLE}],
            "prescription": Maybe(
                {"settings": {}, "patch": (str, type(None)), "advice": TEXT, "memory_bytes": NULLABLE, "safety": TEXT}
            ),
            "gain": Maybe({"speedup": INTERVAL, "basis": TEXT}),
        }
    ],
    "what_if": [{"loader": TEXT, "settings": {}, "speedup": INTERVAL, "memory_bytes": NULLABLE}],
    "environment": {},
    "overhead": {"share": NULLABLE, "lost_records": NUMBER},
    "notes": [{"slug": TEXT, "text": TEXT}],
}
WORDS = {
    "ended_by": {"script", "steps", "seconds", "interrupt", "signal", "crash", "running"},
    "clock": {"device", "host"},
    "role": {"train", "eval"},
    "confidence": {"high", "medium", "low"},
    "basis": {"simulated", "bound", "measured"},
    "where": {"worker", "main", "pin-thread"},
}


def wrong(value, shape, place="report"):
    """Where the value is not as the contract says."""
    if isinstance(shape, Maybe):
        return [] if value is None else wrong(value, shape.shape, place)
    if isinstance(shape, list):
        return [w for i, entry in enumerate(value) for w in wrong(entry, shape[0], f"{place}[{i}]")]
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            return [f"{place} is no object"]
        missing = [f"{place}.{key} is missing" for key in shape if key not in value]
        return missing + [w for key in shape if key in value for w in wrong(value[key], shape[key], f"{place}.{key}")]
    if not isinstance(value, shape) or (isinstance(value, bool) and bool not in shape):
        return [f"{place} is {value!r}"]
    words = WORDS.get(place.rpartition(".")[2])
    return [f"{place} is {value!r}"] if words and value not in words else []


@pytest.mark.parametrize("name", SAMPLES)
def test_every_field_of_the_contract(name):
    sample = SAMPLES[name]()
    report = json.loads(render(*sample))
    assert wrong(report, CONTRACT) == []
    assert report["schema"] == "loaderdoctor.report/1"


def test_the_walk_itself_finds_what_is_wrong():
    report = as_json(*SAMPLES["starving"]())
    del report["loaders"][0]["workers"][1]["pid"]
    report["verdict"]["clock"] = "sundial"
    report["what_if"][0]["memory_bytes"] = "much"
    assert wrong(report, CONTRACT) == [
        "report.verdict.clock is 'sundial'",
        "report.loaders[0].workers[1].pid is missing",
        "report.what_if[0].memory_bytes is 'much'",
    ]


@pytest.mark.parametrize("name", [name for name in SAMPLES if name != "no_loader"])
def test_shares_sum_to_one(name):
    assert sum(as_json(*SAMPLES[name]())["step"]["shares"].values()) == pytest.approx(1)


def test_what_is_missing_is_null():
    report = as_json(*SAMPLES["no_loader"]())
    assert report["verdict"]["starved_share"] is None
    assert report["step"]["median_s"] is None
    assert set(report["step"]["shares"].values()) == {None}
    assert report["overhead"]["share"] is None


def test_numbers_that_json_does_not_have_are_null():
    sample = SAMPLES["starving"]()
    signals = replace(sample.signals, starved_share=Measured(0.5, float("nan"), float("inf"), 2, "share"))
    report = json.loads(render(sample.run, signals, sample.diagnosis))
    assert report["verdict"]["starved_share"] == {"low": None, "best": 0.5, "high": None}


def test_found_ones_come_first_in_their_order():
    sample = SAMPLES["starving"]()
    mixed = sample.diagnosis.findings[::-1]
    report = as_json(sample.run, sample.signals, replace(sample.diagnosis, findings=mixed))
    assert [entry["cause"] for entry in report["findings"][:3]] == [
        "unpinned-memory",
        "too-few-workers",
        "launch-bound",
    ]


def test_the_patch_stands_in_its_prescription():
    findings = as_json(*SAMPLES["starving"]())["findings"]
    assert "+        num_workers=6,\n+        persistent_workers=True,\n" in findings[0]["prescription"]["patch"]
    assert "+        pin_memory=True,\n" in findings[1]["prescription"]["patch"]


def test_nothing_private():
    text = render(*SAMPLES["starving"]())
    assert "/home/user" not in text
    assert "hf_abcdefghijklmnop" not in text
    assert as_json(*SAMPLES["starving"]())["loaders"][0]["site"] == {"file": "train.py", "line": 9}


def test_what_processes_said_of_themselves_is_in_the_environment():
    environment = as_json(*SAMPLES["healthy"]())["environment"]
    assert environment | report_samples.ABOUT == environment
