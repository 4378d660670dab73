"""The verdict, the advice and the numbers of each case, as a reader meets them."""

from dataclasses import replace

import pytest
import report_samples
from report_samples import SAMPLES

from loaderdoctor.analyse.signals import ENDED_BY_ITSELF, LoaderSettings, Site
from loaderdoctor.causes.base import Action, Evidence, Finding, Gain, Prescription
from loaderdoctor.report.charts import MOST_MARKS, interval_chart, means, steps_chart
from loaderdoctor.report.model import Example
from loaderdoctor.report.page_one import evidence_text
from loaderdoctor.report.tables import MOST_ROWS
from loaderdoctor.report.view import view
from loaderdoctor.report.words import Words
from loaderdoctor.values import Interval


def seen(name, **changes):
    sample = SAMPLES[name]()._replace(**changes)
    return view(*sample)


@pytest.mark.parametrize(
    ("name", "headline"),
    [
        (
            "starving",
            "The GPU waits for data 58 % of the time: 2 workers cannot make batches as fast as they are used.",
        ),
        (
            "healthy",
            "The training step is well fed, waiting for data 1.2 % of the time; its own compute sets the pace.",
        ),
        ("healthy_plain", "The training step is well fed: it waits for data 1.2 % of the time."),
        ("unknown", "The training step may or may not starve for data: this run cannot say."),
        ("unnamed", "The GPU waits for data 58 % of the time; no cause that was checked explains it."),
        ("not_enough_data", "Too short to judge: 7 steps after warm-up."),
        ("no_loader", "No batch of a DataLoader was recorded."),
        (
            "advice_only",
            "The device waits for data 58 % of the time; perhaps the host waits for the device in every step.",
        ),
        ("chinese", "GPU 有 58 % 的时间在等待数据：2 个 worker 制作批次的速度跟不上使用速度。"),
    ],
)
def test_headlines(name, headline):
    assert seen(name).headline == headline


def test_the_headline_counts_the_steps_that_the_verdict_counts():
    sample = SAMPLES["not_enough_data"]()
    steps = replace(sample.signals.steps, count=7, excluded={"warm-up": 3, "first-of-epoch": 4})
    assert "11 steps after warm-up" in view(*sample._replace(signals=replace(sample.signals, steps=steps))).headline


def test_a_gpu_without_its_clock_is_not_claimed_to_wait():
    sample = SAMPLES["starving"]()
    on_host = sample._replace(signals=replace(sample.signals, clock="host"))
    assert view(*on_host).headline.startswith("The training step waits")


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("starving", ["58 %", "193 ms", "83.9 ms", "35 min"]),
        ("healthy", ["1.2 %", "81 ms", "1.01×", "43 s"]),
        ("unnamed", ["58 %", "193 ms", "2.4×", "35 min"]),
        ("unknown", ["6 %", "40 ms", "–", "–"]),
        ("not_enough_data", ["40 %", "40 ms", "–", "–"]),
        ("no_loader", ["–", "–", "–", "–"]),
    ],
)
def test_four_numbers(name, facts):
    assert [fact.value for fact in seen(name).facts] == facts


def test_the_lead_says_what_to_do_and_what_happens_then():
    assert seen("starving").lead == (
        "Set num_workers=6, persistent_workers=True on the DataLoader at train.py:9. "
        "The run then goes 2.3× as fast (1.9–2.5×), by simulation of the recorded batches."
    )
    assert seen("advice_only").lead == (
        "Keep the loss on the device: call loss.item() only when you print. The run then goes 1.00–1.4× as fast, by bounds of what was measured."
    )


@pytest.mark.parametrize(
    ("name", "commands"),
    [
        ("starving", ("git apply fix.patch",)),
        ("healthy_plain", ("loaderdoctor profile train.py --data /mnt/leaves --hf-token '***'",)),
        (
            "unknown",
            ("loaderdoctor check", "loaderdoctor profile --steps 100 train.py --data /mnt/leaves --hf-token '***'"),
        ),
        ("not_enough_data", ("loaderdoctor profile --steps 100 train.py --data /mnt/leaves --hf-token '***'",)),
        ("advice_only", ()),
    ],
)
def test_what_to_type(name, commands):
    assert seen(name).fix.commands == commands


@pytest.mark.parametrize(
    ("command", "typed"),
    [
        (("/usr/bin/python3.11", "train.py", "a b"), "loaderdoctor profile train.py 'a b'"),
        (("python", "-m", "pkg.train"), "loaderdoctor profile -m pkg.train"),
        (
            ("torchrun", "--nproc-per-node", "2", "train.py"),
            "loaderdoctor profile -- torchrun --nproc-per-node 2 train.py",
        ),
        (("python",), "loaderdoctor profile -- python"),
    ],
)
def test_the_command_as_it_is_profiled_again(command, typed):
    assert seen("healthy_plain", run=report_samples.run(command=command)).fix.commands[-1] == typed


def test_a_run_below_the_working_directory_names_its_patch_from_there():
    run = report_samples.run(directory=f"{report_samples.FOLDER}/runs/train 1")
    assert seen("starving", run=run).fix.commands == ("git apply 'runs/train 1/fix.patch'",)


@pytest.mark.parametrize(
    ("case", "changes"),
    [
        ("no source was kept", {"run": report_samples.run(sources={})}),
        ("the script lies elsewhere", {"run": report_samples.run(working_directory="/home/user/elsewhere")}),
        ("the site is not known", {"site": None}),
        ("the site is another line", {"site": Site(f"{report_samples.FOLDER}/train.py", 1)}),
    ],
)
def test_where_no_patch_can_be_made_the_settings_are_said(case, changes):
    sample = SAMPLES["starving"]()
    run = changes.get("run", sample.run)
    site = changes.get("site", report_samples.TOO_FEW.site)
    loaders = tuple(replace(loader, site=site) for loader in sample.signals.loaders)
    finding = replace(report_samples.TOO_FEW, site=site)
    diagnosis = replace(sample.diagnosis, findings=(finding,))
    fix = view(run, replace(sample.signals, loaders=loaders), diagnosis).fix
    assert (fix.diff, fix.commands) == ((), ()), case
    assert "num_workers=6, persistent_workers=True" in fix.sentences[0]


def test_the_patch_of_another_finding_is_named_beside_it():
    sample = SAMPLES["starving"]()
    advice = replace(report_samples.TOO_FEW, cause="cpu-decode", prescription=Prescription(advice="Decode less."))
    shown = view(sample.run, sample.signals, replace(sample.diagnosis, findings=(advice, report_samples.UNPINNED)))
    assert shown.fix.commands == ()
    assert shown.findings[0].fix.commands == ("git apply fix.patch",)


@pytest.mark.parametrize(
    ("ended_by", "said"),
    [
        ("script", ""),
        ("steps", "The script was ended by --steps 240, as asked: 243 steps after warm-up were recorded."),
        ("crash", "The script crashed, with status 1: this report is about the 243 steps after warm-up before that."),
        (
            "signal",
            "The script was ended by a signal, with status 1: this report is about the 243 steps after warm-up before that.",
        ),
        ("interrupt", "The script was interrupted: this report is about the 243 steps after warm-up before that."),
    ],
)
def test_how_it_ended_is_said_where_not_by_itself(ended_by, said):
    run = report_samples.run(ended_by=ended_by, exit_code=1, options={"steps": 240})
    assert seen("starving", run=run).ended == said


def test_a_loader_that_is_not_torchs_is_named_by_its_type():
    settings = LoaderSettings(torch_loader=False, loader_type="nvidia.dali.DALIGenericIterator")
    sample = SAMPLES["starving"]()
    loaders = (replace(sample.signals.loaders[0], settings=settings),)
    environment = view(*sample._replace(signals=replace(sample.signals, loaders=loaders))).environment
    assert ("Loader", "nvidia.dali.DALIGenericIterator") in environment.entries


def test_memory_is_the_gain_of_a_healthy_run():
    shown = seen("healthy")
    assert shown.fix.title == "Optional: less memory at the same speed"
    assert shown.gain.chart is None
    assert shown.gain.sentences == ("1.77 GiB of memory less.", "The speed stays the same.")


def test_a_long_diff_is_cut_on_the_page():
    source = report_samples.SCRIPT.replace(
        "shuffle=True,", "".join(f"\n        # {n}" for n in range(9)) + "\n        shuffle=True,"
    )
    finding = replace(report_samples.TOO_FEW, prescription=Prescription({"batch_size": 8, "num_workers": 6}))
    sample = SAMPLES["starving"]()
    run = report_samples.run(sources={f"{report_samples.FOLDER}/train.py": source})
    fix = view(run, sample.signals, replace(sample.diagnosis, findings=(finding,))).fix
    assert len(fix.diff) == 17
    assert fix.diff[-1].text == "… 4 more lines in fix.patch"


def test_ruled_out_causes_stand_once_and_the_rest_follows():
    shown = seen("starving")
    first, all_of_them = shown.ruled_out, shown.lists[0]
    suspects_first = ["no-workers", "storage-bandwidth", "gpu-bound", "blocking-h2d", "device-sync"]
    assert [term for term, _ in first.entries] == suspects_first
    assert {term for term, _ in all_of_them.entries} == {cause for cause, _ in report_samples.RULED_OUT}
    assert first.note == "8 causes in all, each with its number, below under Details."


def test_causes_that_one_number_rules_out_stand_together():
    number = Evidence("Waiting for this loader", 0.001, "share", 0.02, is_least=True)
    causes = ("cpu-decode", "slow-collate", "gc-pause", "head-of-line", "sampler-cost", "audio-on-the-fly")
    sample = SAMPLES["starving"]()
    found = tuple(Finding(cause, "ruled-out", evidence=(number,)) for cause in causes)
    shown = view(*sample._replace(diagnosis=replace(sample.diagnosis, findings=found)))
    said = "Waiting for this loader: 0.1 % (it takes 2 % or more)"
    assert shown.ruled_out.entries == (("cpu-decode, slow-collate, head-of-line and 3 more", said),)
    assert shown.lists[0].entries == (
        ("cpu-decode, slow-collate, head-of-line, gc-pause, sampler-cost, audio-on-the-fly", said),
    )


@pytest.mark.parametrize(
    ("is_least", "said"), [(True, "it takes 2 % or more"), (False, "it takes less than 2 %"), (None, "threshold 2 %")]
)
def test_a_threshold_says_which_way(is_least, said):
    assert evidence_text(Evidence("Waiting", 0.5, "share", 0.02, is_least), Words()) == f"Waiting: 50 % ({said})"


def test_evidence_has_its_number_and_what_it_was_held_against():
    assert seen("starving").findings[0].evidence == (
        "of the bytes copied came from pinned memory: 0 % (threshold 50 %)",
    )


def test_causes_without_data_are_gathered_by_what_was_missing():
    entries = next(listing for listing in seen("starving").lists if listing.title == "Not checked, and why").entries
    assert entries == (
        ("clock-throttled, launch-bound", "The CPU's clock is not shown in this container."),
        ("numa-misplacement", "The system does not name its NUMA nodes."),
    )
    assert seen("starving").unmeasured.entries == entries


def test_a_run_that_ended_by_itself_misses_nothing_about_its_end():
    sample = SAMPLES["starving"]()
    whole = Finding("fork-deadlock", "no-data", reasons=(ENDED_BY_ITSELF.reason,))
    assert view(*sample._replace(diagnosis=replace(sample.diagnosis, findings=(whole,)))).unmeasured.entries == ()


@pytest.mark.parametrize(
    ("share", "copies", "said", "fact"),
    [
        (0.58, 0.0, "waits for data 58 % of the time", "Waiting for data"),
        (0.58, 0.03, "waits for data 58 % of the time", "Waiting for data and copies"),
        (0.58, 0.2, "waits 58 % of the time, 38 % for data and 20 % for its copies", "Waiting for data and copies"),
        (0.45, 0.449, "waits 45 % of the time for copies of its data", "Waiting for copies"),
    ],
)
def test_waiting_is_told_from_copying(share, copies, said, fact):
    sample = SAMPLES["starving"]()
    device = replace(sample.signals.device, copy_share=report_samples.exact(copies))
    signals = replace(sample.signals, starved_share=report_samples.around(share), device=device)
    shown = view(*sample._replace(signals=signals))
    assert shown.headline.startswith(f"The GPU {said}: ")
    assert shown.facts[0].label == fact


@pytest.mark.parametrize(
    ("speedup", "said"),
    [
        ((1.9, 2.0, 2.1), "A run with the change measured 2.0× as fast (1.9–2.1×), as promised: 1.9–2.5×."),
        ((1.1, 1.2, 1.3), "A run with the change measured 1.20× as fast (1.10–1.3×); promised were 1.9–2.5×."),
    ],
)
def test_what_a_treated_run_gained_stands_beside_the_promise(speedup, said):
    sample = SAMPLES["starving"]()
    first, *others = sample.diagnosis.findings
    measured = replace(first, gain=Gain(Interval(*speedup), "measured"), promised=first.gain)
    shown = view(*sample._replace(diagnosis=replace(sample.diagnosis, findings=(measured, *others))))
    assert shown.gain.sentences[0] == said
    assert 0 < shown.gain.chart.measured < 1
    assert shown.facts[2].detail.startswith("measured, ")
    assert said in shown.lead
    assert said == shown.summary.gain


def test_a_code_cure_has_its_place_and_its_example():
    site = Site(f"{report_samples.FOLDER}/photos.py", 48)
    action = Action("code", "Let the decoder scale", site=site, example="image.draft(mode, size)")
    sample = SAMPLES["advice_only"]()
    (finding,) = sample.diagnosis.findings
    prescription = replace(finding.prescription, actions=(action,))
    diagnosis = replace(sample.diagnosis, findings=(replace(finding, prescription=prescription),))
    shown = view(*sample._replace(diagnosis=diagnosis))
    assert shown.fix.sentences[0] == "No setting of the loader cures this; the code does."
    assert shown.fix.examples == (Example("Let the decoder scale, at photos.py:48", "image.draft(mode, size)"),)
    assert shown.summary.fix.startswith("photos.py:48  Keep the loss on the device")


def test_notes_of_parent_and_analysis():
    notes = next(listing for listing in seen("no_loader").lists if listing.title == "Notes").entries
    assert notes == (
        ("sampler-failed", "Nothing was sampled from outside: OSError(5)."),
        ("no-loader", "No DataLoader was iterated below train.py."),
    )


def test_tables_are_cut_and_say_so():
    hot = next(table for table in seen("two_loaders").tables if table.title.startswith("Hot functions"))
    assert len(hot.rows) == MOST_ROWS
    assert hot.note.endswith("5 more rows in report.json.")
    assert hot.title == "Hot functions · train_with_validation.py:9"


def test_rows_are_as_wide_as_their_table():
    for name in SAMPLES:
        shown = seen(name)
        charts = [chart.data for chart in (shown.proof.split, shown.proof.steps) if chart]
        for table in (*shown.tables, *charts):
            assert {len(row) for row in table.rows} == {len(table.columns)}, table.title


@pytest.mark.parametrize(("count", "bars"), [(1, 1), (7, 7), (100, 100), (101, 100), (100_000, 100)])
def test_steps_are_drawn_with_a_bounded_number_of_marks(count, bars):
    steps = replace(SAMPLES["starving"]().signals.steps, series=report_samples.series(count, 0.1, 0.05, 0.01))
    chart = steps_chart(steps, Words())
    assert len(chart.bars) == bars
    assert sum(len(bar) for bar in chart.bars) <= MOST_MARKS
    assert all(0 <= part <= 1 and sum(bar) <= 1 + 1e-9 for bar in chart.bars for part in bar)


def test_means_keep_the_mean():
    series = [(float(k),) for k in range(10)]
    assert means(series, 5) == [(0.5,), (2.5,), (4.5,), (6.5,), (8.5,)]
    assert means(series[:2], 5) == [(0.0,), (1.0,)]


def test_one_long_step_does_not_flatten_the_others():
    steps = replace(SAMPLES["starving"]().signals.steps, series=((0.1, 0, 0.1),) * 9 + ((50.0, 0, 0.1),))
    chart = steps_chart(steps, Words())
    assert chart.ticks[-1][1] == "1 s"
    assert sum(chart.bars[0]) == pytest.approx(0.2)
    assert chart.caption.endswith("Bars are cut at the top; the longest is 50.1 s.")


def test_no_series_no_chart():
    steps = replace(SAMPLES["starving"]().signals.steps, series=())
    assert steps_chart(steps, Words()) is None
    assert seen("no_loader").proof.absent == "No steady steps were recorded."


@pytest.mark.parametrize(
    "interval", [(1.0, 1.0, 1.0), (0.6, 1.1, 1.2), (1.9, 2.3, 2.5), (1.0, 1.001, 1.002), (20, 30, 40)]
)
def test_intervals_lie_on_their_axis(interval):
    chart = interval_chart(Interval(*interval), "simulated", Words())
    assert 0 <= chart.low <= chart.best <= chart.high <= 1
    assert [place for place, _ in chart.ticks] == [0, 0.5, 1]
