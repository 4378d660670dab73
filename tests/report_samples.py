"""Named cases that reports are made of: one of each verdict, and what strains a page."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

import builders
import numpy as np
from builders import around, exact

from loaderdoctor.analyse.signals import HotFunction, LoaderSettings, Phase, Signals, Site
from loaderdoctor.causes.base import Diagnosis, Evidence, Finding, Gain, Prescription, WhatIf
from loaderdoctor.probe.layout import ROLE_MAIN
from loaderdoctor.record.run import ProcessRecords, Run, RunMeta
from loaderdoctor.values import Interval, Measured, Missing

FOLDER = "/home/user/leaves"
SCRIPT = """\
import torch
from torch.utils.data import DataLoader

from photos import Photos


def main():
    model = torch.nn.Linear(10, 2)
    train = DataLoader(
        Photos("train"),
        batch_size=64,
        shuffle=True,
        num_workers=2,
    )
    test = DataLoader(Photos("test"), batch_size=64)
    for images, labels in train:
        model(images)
    for images, labels in test:
        model(images)


main()
"""
ABOUT = {"python": "3.11.7", "torch": "2.13.0"}


class Sample(NamedTuple):
    """What a report is made of."""

    run: Run
    signals: Signals
    diagnosis: Diagnosis
    lang: str = "en"


def run(**overrides) -> Run:
    meta = RunMeta(
        id="3f2a9100",
        tool_version="0.1.0",
        command=(
            "/home/user/venv/bin/python",
            "train.py",
            "--data",
            "/mnt/leaves",
            "--hf-token",
            "hf_abcdefghijklmnop",
        ),
        working_directory=FOLDER,
        started_utc="2026-12-01T14:02:33+00:00",
        started_ns=0,
        ended_ns=61_500_000_000,
        exit_code=0,
        environment={"os": "Linux", "kernel": "6.8.0", "cpus_allowed_by": "quota", "working_directory_mount": "~"},
    )
    said = ProcessRecords(
        header={"pid": 100, "role": ROLE_MAIN},
        tables={"process": {"at_ns": np.array([0]), "about_text": np.array([1])}},
        texts={1: json.dumps(ABOUT)},
    )
    sources = MappingProxyType({f"{FOLDER}/train.py": SCRIPT})
    fields = {field: overrides.pop(field) for field in list(overrides) if field in {"sources", "directory"}}
    return Run(meta=replace(meta, **overrides), processes=(said,), **{"sources": sources, **fields})


def series(count, wait_s, compute_s, copy_s=0.0, seed=7):
    """Steps with the spread of a busy machine, the same each time."""
    drawn = random.Random(seed)
    return tuple(
        (wait_s * drawn.uniform(0.7, 1.3), copy_s * drawn.uniform(0.9, 1.1), compute_s * drawn.uniform(0.95, 1.05))
        for _ in range(count)
    )


def speedup(low, best, high, basis="simulated"):
    return Gain(Interval(low, best, high), basis)


SETTINGS = LoaderSettings(batch_size=64, num_workers=2, prefetch_factor=2, start_method="fork", dataset_len=20_000)
TOO_FEW = Finding(
    cause="too-few-workers",
    status="found",
    loader="train.py:9",
    site=Site(f"{FOLDER}/train.py", 9),
    step_share=Interval(0.52, 0.55, 0.57),
    confidence="high",
    reasons=(
        "both workers were busy 97 % of the time, 93 % of it on a CPU",
        "229 of 240 requests found no batch ready",
        "4.9 of 8 allowed CPUs were free",
    ),
    evidence=(
        Evidence("workers busy", 0.97, "share", 0.9),
        Evidence("requests that found no batch ready", 0.95, "share", 0.2),
    ),
    prescription=Prescription({"num_workers": 6, "persistent_workers": True}, memory_bytes=1_350_000_000),
    gain=speedup(1.91, 2.3, 2.48),
)
UNPINNED = Finding(
    cause="unpinned-memory",
    status="found",
    loader="train.py:9",
    step_share=Interval(0.02, 0.03, 0.04),
    confidence="medium",
    evidence=(Evidence("of the bytes copied came from pinned memory", 0.0, "share", 0.5),),
    prescription=Prescription(
        {"pin_memory": True},
        advice="Pass non_blocking=True to .to(device) as well: a copy from pinned memory only overlaps when it is asked to.",
        memory_bytes=77_000_000,
    ),
    gain=speedup(1.01, 1.03, 1.05),
)
RULED_OUT = (
    ("no-workers", "2 workers are set"),
    ("blocking-h2d", "copies take 6 ms, 3 % of the step"),
    ("storage-bandwidth", "0.3 MB/s were read from disk, 99.9 % of all reads came from memory"),
    ("cpu-quota", "the job used 3.1 of the 8 CPUs that it may use, and was throttled 0 % of the time"),
    ("slow-collate", "collate takes 2 ms, 1 % of a batch"),
    ("gpu-bound", "the device stood still 58 % of the time"),
    ("head-of-line", "no wait ended with finished later batches parked"),
    ("device-sync", "0 synchronisations a step"),
)
RULED_OUT_FINDINGS = tuple(
    Finding(cause, "ruled-out", "train.py:9", evidence=(Evidence(text),)) for cause, text in RULED_OUT
)
NO_DATA = (
    Finding("numa-misplacement", "no-data", reasons=("The system does not name its NUMA nodes.",)),
    Finding("clock-throttled", "no-data", reasons=("The CPU's clock is not shown in this container.",)),
    Finding("launch-bound", "no-data", reasons=("The CPU's clock is not shown in this container.",)),
)


def what_if():
    rows = [
        ({"num_workers": n}, low, best, high, n * 337_000_000)
        for n, low, best, high in (
            (0, 0.41, 0.44, 0.47), (1, 0.5, 0.53, 0.55), (3, 1.38, 1.44, 1.5), (4, 1.7, 1.85, 1.96),
            (6, 1.89, 2.27, 2.44), (8, 1.89, 2.28, 2.46),
        )
    ]  # fmt: skip
    rows += [({"prefetch_factor": n}, 0.98, 1.0, 1.01, 2 * 260_000_000 + n * 77_000_000) for n in (1, 4, 8)]
    rows += [({"pin_memory": True}, 1.01, 1.03, 1.05, 751_000_000)]
    rows += [({"persistent_workers": True}, 1.0, 1.01, 1.02, 674_000_000)]
    rows += [({"num_workers": 6, "persistent_workers": True}, 1.91, 2.3, 2.48, 2_022_000_000)]
    return tuple(WhatIf("train.py:9", s, Interval(low, best, high), memory) for s, low, best, high, memory in rows)


def gpu(**overrides):
    return builders.device(
        kind="cuda",
        clock="device",
        copy_share=around(0.03),
        pinned_share=exact(0.0),
        drained_share=exact(0.95),
        **overrides,
    )


def starving() -> Sample:
    """A GPU that waits for two workers."""
    loader = builders.loader(
        id="train.py:9",
        settings=SETTINGS,
        site=Site(f"{FOLDER}/train.py", 9),
        hot_functions=(
            HotFunction("Photos.__getitem__", f"{FOLDER}/photos.py", 31, around(0.12)),
            HotFunction("decode", "/home/user/venv/lib/python3.11/site-packages/PIL/ImageFile.py", 290, around(0.61)),
        ),
    )
    signals = builders.signals(
        clock="device",
        starved_share=Measured(0.583, 0.561, 0.604, 240, "share"),
        measured_s=46.3,
        warm_up_steps=20,
        steps=builders.steps(
            count=240,
            excluded={"warm-up": 20, "first-of-epoch": 3},
            median_s=around(0.193, "s", 0.03),
            data_wait_share=around(0.58, spread=0.03),
            h2d_share=exact(0.03),
            compute_share=exact(0.37),
            other_share=exact(0.02),
            series=series(240, 0.112, 0.071, 0.006),
        ),
        loaders=(loader,),
        device=gpu(),
        machine=builders.machine(cpus_present=exact(16), facts={"gpus": [{"name": "NVIDIA H200"}]}),
    )
    findings = (TOO_FEW, UNPINNED, *RULED_OUT_FINDINGS, *NO_DATA)
    diagnosis = Diagnosis(
        "starving", "too-few-workers", "too-few-workers", findings, what_if(), combined_gain=speedup(1.93, 2.37, 2.56)
    )
    return Sample(run(), signals, diagnosis)


def healthy() -> Sample:
    """A CPU training whose loader is ahead, with memory to give back."""
    settings = replace(SETTINGS, num_workers=4, prefetch_factor=8)
    over = Finding(
        cause="over-provisioned",
        status="found",
        loader="train.py:9",
        confidence="medium",
        reasons=("one worker keeps up with the training",),
        prescription=Prescription({"num_workers": 1, "prefetch_factor": 2}, memory_bytes=-1_900_000_000),
        gain=speedup(1.0, 1.0, 1.0),
    )
    signals = builders.signals(
        starved_share=Measured(0.012, 0.009, 0.016, 400, "share"),
        steps=builders.steps(
            count=400,
            median_s=around(0.081, "s", 0.01),
            data_wait_share=exact(0.01),
            compute_share=exact(0.99),
            series=series(400, 0.0008, 0.08),
        ),
        loaders=(builders.loader(id="train.py:9", settings=settings, site=Site(f"{FOLDER}/train.py", 9)),),
    )
    return Sample(run(), signals, Diagnosis("healthy", None, "gpu-bound", (over, *RULED_OUT_FINDINGS[2:]), what_if()))


def healthy_plain() -> Sample:
    """Nothing to say but that all is well."""
    sample = healthy()
    return sample._replace(diagnosis=replace(sample.diagnosis, findings=RULED_OUT_FINDINGS, limit=None))


def unknown() -> Sample:
    """A share too wide to say."""
    signals = builders.signals(
        starved_share=Measured(0.06, 0.01, 0.14, 30, "share"),
        steps=builders.steps(
            count=30, series=series(30, 0.004, 0.06), data_wait_share=exact(0.06), compute_share=exact(0.94)
        ),
    )
    reason = "The share lies between 1 % and 14 %: the interval is too wide to say on which side of 5 % it is."
    return Sample(run(), signals, Diagnosis("unknown", None, None, NO_DATA, (), reason))


def unnamed() -> Sample:
    """Starving, and nothing that was checked explains it."""
    reason = "The workers take all the CPUs that this job may use; what they spend them on is not told apart yet."
    sample = starving()
    diagnosis = Diagnosis("starving", None, None, (*RULED_OUT_FINDINGS, *NO_DATA), what_if(), reason)
    return sample._replace(diagnosis=diagnosis)


def not_enough_data() -> Sample:
    """Seven steps."""
    signals = builders.signals(
        starved_share=Measured(0.4, 0.1, 0.8, 7, "share"),
        warm_up_steps=3,
        steps=builders.steps(count=7, excluded={"warm-up": 3}, series=series(7, 0.02, 0.03)),
    )
    reason = "There are 7 steps after warm-up; below 20 the first batches weigh too much."
    return Sample(run(ended_by="crash", exit_code=1), signals, Diagnosis("not-enough-data", None, None, (), (), reason))


def no_loader() -> Sample:
    """A script that never built one."""
    none = Missing("no-loader", "No DataLoader was iterated.")
    steps = builders.steps(
        count=0,
        excluded={},
        median_s=none,
        samples_per_s=none,
        data_wait_share=none,
        h2d_share=none,
        compute_share=none,
        other_share=none,
        series=(),
    )
    signals = builders.signals(
        starved_share=none,
        measured_s=0.0,
        warm_up_steps=0,
        steps=steps,
        phases=(Phase("other", 1.5, 1.0, 0.0),),
        loaders=(),
        overhead_share=none,
        notes=(("no-loader", f"No DataLoader was iterated below {FOLDER}/train.py."),),
    )
    said = "No DataLoader was iterated in any process of this run."
    meta_notes = ({"slug": "sampler-failed", "text": "Nothing was sampled from outside: OSError(5)."},)
    return Sample(run(notes=meta_notes), signals, Diagnosis("not-enough-data", None, None, (), (), said))


def two_loaders() -> Sample:
    """Training and evaluation loaders, long names, one step a hundred times longer than the others."""
    file = (
        f"{FOLDER}/experiments/2026-11/self_supervised/very_long_name_of_a_folder/and_another/train_with_validation.py"
    )
    train = builders.loader(id="train_with_validation.py:9", settings=SETTINGS, site=Site(file, 9))
    evaluation = builders.loader(
        id="train_with_validation.py:15", role="eval", settings=LoaderSettings(batch_size=64), site=Site(file, 15)
    )
    base = starving()
    steps = replace(base.signals.steps, series=(*series(1200, 0.112, 0.071), (19.0, 0.0, 0.07)))
    signals = replace(base.signals, loaders=(train, evaluation), steps=steps, ranks=2, rank_shares=(0.58, 0.57))
    long_function = HotFunction("Compose.__call__.<locals>.apply_one_after_the_other", file, 1234, around(0.2))
    signals = replace(signals, loaders=(replace(train, hot_functions=(long_function,) * 30), evaluation))
    on_eval = replace(
        TOO_FEW,
        cause="no-workers",
        loader=evaluation.id,
        site=evaluation.site,
        confidence="low",
        prescription=Prescription({"num_workers": 2}, safety="needs-memory", memory_bytes=600_000_000),
        gain=speedup(0.95, 1.1, 1.2, "bound"),
    )
    on_train = replace(TOO_FEW, loader=train.id, site=train.site)
    diagnosis = replace(base.diagnosis, findings=(on_train, on_eval, *RULED_OUT_FINDINGS), what_if=what_if() * 3)
    return Sample(run(sources=MappingProxyType({file: SCRIPT})), signals, diagnosis)


def advice_only() -> Sample:
    """A cause that no setting cures, and a device without a known name."""
    advice = (
        "Keep the loss on the device: call loss.item() only when you print. Each call waits for the device to finish."
    )
    finding = Finding(
        cause="device-sync",
        status="found",
        confidence="low",
        reasons=("the host waited for the device 31 % of the time",),
        prescription=Prescription(advice=advice),
        gain=speedup(1.0, 1.22, 1.45, "bound"),
    )
    sample = starving()
    signals = replace(sample.signals, device=replace(gpu(), kind="npu"))
    return sample._replace(
        signals=signals, diagnosis=Diagnosis("starving", "device-sync", "device-sync", (finding,), ())
    )


def chinese() -> Sample:
    """The first case in Chinese."""
    return starving()._replace(lang="zh")


SAMPLES = {
    case.__name__: case
    for case in (
        starving, healthy, healthy_plain, unknown, unnamed, not_enough_data, no_loader, two_loaders, advice_only, chinese,
    )
}  # fmt: skip
