"""The ladder climbed by a launcher that leaves drawn runs: how many runs, what becomes of them, and what is told."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path

import builders
import pytest

from loaderdoctor import launch
from loaderdoctor.errors import LoaderDoctorError
from loaderdoctor.treat.trials import AS_WRITTEN
from loaderdoctor.tune import kept, page, shown
from loaderdoctor.tune.climb import Task, climb
from loaderdoctor.tune.rung import PAST_KNEE, PERSISTENT, PINNING, PREFETCH, WORKERS

SOURCE = "import torch\nloader = torch.utils.data.DataLoader(data, batch_size=8)\n"
EPOCH = "[" + 40 * "{wait}c" + "]"


@dataclass
class Launcher:
    """Leaves a run of two epochs for each that is asked for, whose waits are set by the number of workers it has."""

    waits: tuple[int, ...] = (4, 2, 1, 2, 4)  # units of a wait, by number of workers
    written: dict = field(default_factory=dict)
    ended_by: dict[int, str] = field(default_factory=dict)  # of a run by its number
    returncodes: dict[int, int] = field(default_factory=dict)
    takes: bool = True
    asked: list[dict] = field(default_factory=list)
    options: list[launch.Options] = field(default_factory=list)

    def __call__(self, command, options):
        assert command.argv == ("python", "train.py")
        trial = options.trial
        forced = json.loads(trial.injected)["settings"] if trial.injected else {}
        self.asked.append(forced)
        self.options.append(options)
        number = len(self.asked)
        settings = self.written | (forced if self.takes else {})
        workers = settings.get("num_workers", 0)
        wait = "w" * self.waits[min(workers, len(self.waits) - 1)]
        run = builders.run_from(
            2 * EPOCH.format(wait=wait),
            settings=settings,
            num_workers=workers,
            fetch_s=4 * builders.UNIT_S,
            cpu_share=0.1,
            meta={"ended_by": self.ended_by.get(number, "script"), "working_directory": trial.folder},
        )
        builders.write(run, Path(options.output))
        Path(trial.log).write_text("Traceback\nValueError: no luck.\n")
        return launch.Launched(Path(options.output), self.returncodes.get(number, 0))


@pytest.fixture
def climbed(tmp_path, monkeypatch):
    """Climbs with a launcher, in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def of(launcher=None, **task):
        command = launch.Command(("python", "train.py"), "train")
        return climb(Task(command, tmp_path / "tuned", **task), start=launcher or Launcher())

    return of


def by_name(done):
    return {rung.name: rung for rung in done.rungs}


def test_it_finds_the_best_in_few_runs_and_shows_the_falling_side(climbed):
    launcher = Launcher()
    done = climbed(launcher)
    assert done.best.settings["num_workers"] == 2
    assert done.runs == len(launcher.asked) <= 6
    assert launcher.asked[0] == {}
    rungs = by_name(done)
    beyond = [rung.seen for rung in done.rungs if rung.seen and rung.seen.workers > 2]
    assert beyond
    assert all(one.step_s.value > done.best.seen.step_s.value for one in beyond)
    assert "no device but the CPU" in rungs[PINNING].why
    assert {AS_WRITTEN, WORKERS, PINNING, PREFETCH, PERSISTENT, PAST_KNEE} <= set(rungs)


def test_the_number_of_runs_is_kept(climbed):
    assert climbed(runs := Launcher(), most_runs=2).runs == 2
    assert len(runs.asked) == 2


def test_every_run_is_as_long_as_is_said_or_as_the_first_was(climbed, tmp_path):
    said, ended = Launcher(), Launcher(ended_by={1: "seconds"})
    climbed(said, steps=30)
    assert {(one.steps, one.seconds) for one in said.options} == {(30, None)}
    (tmp_path / "tuned").rename(tmp_path / "before")
    done = climbed(ended)
    assert ended.options[0].seconds == 60
    assert {one.steps for one in ended.options[1:]} == {done.signals.training_steps}


def test_a_rung_that_fails_says_so_and_the_ladder_goes_on(climbed):
    done = climbed(Launcher(returncodes={2: 1}))
    failed = by_name(done)[WORKERS]
    assert failed.seen is None
    assert "no luck" in failed.why
    assert failed.run_dir is not None
    assert done.runs > 2


def test_settings_that_do_not_take_count_for_nothing(climbed):
    done = climbed(Launcher(takes=False))
    assert done.best is done.rungs[0]
    assert all(rung.seen is None for rung in done.rungs[1:])


@pytest.mark.parametrize(
    ("launcher", "slug"),
    [
        (Launcher(returncodes={1: 1}), "trial-failed"),
        (Launcher(ended_by={1: "interrupt"}), "tune-interrupted"),
        (Launcher(written={"torch_loader": False, "loader_type": "dali"}), "nothing-to-tune"),
    ],
)
def test_what_cannot_be_tuned_is_an_error(climbed, launcher, slug):
    with pytest.raises(LoaderDoctorError) as error:
        climbed(launcher)
    assert error.value.slug == slug
    assert len(launcher.asked) == 1


def test_interrupted_it_gives_what_there_is(climbed):
    done = climbed(Launcher(ended_by={3: "interrupt"}))
    assert (done.interrupted, done.runs) == (True, 2)
    assert any(line.startswith("best: ") for line in shown.lines(done))


def test_the_table_has_a_row_for_each_run_and_a_reason_for_each_that_was_not(climbed):
    done = climbed()
    columns, rows = shown.table(done)
    assert "device" not in columns, "no run had one"
    assert len(rows) == done.runs
    assert [row[0].endswith(" *") for row in rows].count(True) == 1
    text = "\n".join(shown.lines(done))
    assert "+ pinning: the run used no device but the CPU" in text
    assert "best: num_workers=2" in text
    assert f"in {done.runs} runs" in text


def quiet(rung, **changes):
    """A rung with other numbers."""
    return replace(rung, seen=replace(rung.seen, **changes))


def exact(value, unit="share"):
    return builders.exact(value, unit)


@pytest.mark.parametrize(
    ("least", "waits", "others", "said"),
    [
        (0.5, 0.5, 0.0, ["leaner: ", "even so it waits for data 50 %"]),
        (0.95, 0.5, 0.0, ["even so it waits"]),  # a saving of a twentieth
        (0.5, 0.04, 0.0, ["leaner: "]),
        (0.95, 0.04, 0.3, ["but other jobs took up to 30 % of the CPUs meanwhile, 0 % in the quietest run"]),
    ],
)
def test_what_else_decides_is_said_beside_the_best(climbed, least, waits, others, said):
    done = climbed(most_runs=2)
    best = quiet(done.best, memory_bytes=exact(1 << 30, "bytes"), starved_share=exact(waits), others_share=exact(0.0))
    lean = quiet(
        best, memory_bytes=exact(least * (1 << 30), "bytes"), step_s=exact(best.seen.step_s.value * 1.01, "s"),
        others_share=exact(others), workers=best.seen.workers + 1,
    )  # fmt: skip
    lines = list(shown.beside(replace(done, rungs=(best, lean)), str))
    assert [line[: len(start)] for line, start in zip(lines, said, strict=True)] == said


def test_as_it_is_written_may_be_the_best(climbed):
    done = climbed(Launcher(waits=(1, 4, 4)))
    assert shown.verdict(done).startswith("best: as it is written")
    assert done.best.settings == {}


def test_json_has_every_rung_with_its_numbers_or_the_reason(climbed):
    done = climbed()
    told = json.loads(shown.as_json(done, None))
    assert told["schema"] == "loaderdoctor.tune/1"
    assert told["best"]["settings"]["num_workers"] == 2
    assert told["best"]["speedup"]["low"] > 1
    assert [rung["is_best"] for rung in told["rungs"]].count(True) == 1
    for rung in told["rungs"]:
        assert rung["why"] or rung["samples_per_s"]["best"] > 0
        assert rung["samples_per_s"] is None or rung["device_share"]["missing"]
    assert [point["num_workers"] for point in told["curve"]] == list(range(len(told["curve"])))


def test_the_page_shows_the_best_and_all_of_the_model(climbed):
    done = climbed()
    picture = page.page_of(done, None).picture
    assert len(picture.dots) == len(picture.bars) == done.runs
    assert [is_best for *_, is_best in picture.dots].count(True) == 1
    places = [*(at for dot in picture.dots for at in dot[:2]), *(at for point in picture.line for at in point)]
    assert all(0 <= at <= 1 for at in places)
    text = page.render(done, "--- a/train.py\n+++ b/train.py\n@@ -1 +1 @@\n-old\n+<new>\n")
    assert "&lt;new&gt;" in text
    assert text.count("<svg") == 2
    assert "http" not in text.replace("http-equiv", "")


def test_the_patch_is_written_where_the_source_is_known(climbed, tmp_path):
    done = climbed()
    site = replace(done.loader.site, file=str(tmp_path / "train.py"), line=2)
    run = replace(done.run, sources={str(tmp_path / "train.py"): SOURCE})
    folder = kept.folder(str(tmp_path / "out"), "train")
    files = kept.write(replace(done, run=run, loader=replace(done.loader, site=site)), folder)
    assert [path.name for path in files] == ["tune.html", "tune.json", "fix.patch"]
    assert "+loader = torch.utils.data.DataLoader(data, batch_size=8, num_workers=2" in files[2].read_text()
    assert all(path.stat().st_mode & 0o077 == 0 for path in files)
    assert [path.name for path in kept.write(done, folder)] == ["tune.html", "tune.json"]


def test_a_folder_that_holds_anything_is_left_alone(tmp_path):
    (tmp_path / "mine").write_text("")
    with pytest.raises(LoaderDoctorError) as error:
        kept.folder(str(tmp_path), "train")
    assert error.value.slug == "output-unusable"
