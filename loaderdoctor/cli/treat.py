"""`loaderdoctor treat`: run a script again, as it is and with the prescription, and say which promise came true."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from loaderdoctor.cli import options
from loaderdoctor.cli.reporting import say, writing_into
from loaderdoctor.errors import ExitCode, LoaderDoctorError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from loaderdoctor.pipeline import Diagnosed
    from loaderdoctor.predict.measured import Outcome
    from loaderdoctor.treat.again import Again
    from loaderdoctor.treat.remedy import Remedy
    from loaderdoctor.treat.trials import Limits, Trial, Trials

TRIALS = "treated"  # folder in a run, with its trials; those of the last time


@click.command(context_settings={"ignore_unknown_options": False})
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="Try this instead of the prescription.")
@click.option("--loader", metavar="ID", help="The loader that --set is about, as the report names it.")
@click.option("--ceiling", is_flag=True, help="Measure the perfect loader: it keeps one batch, so this trains nothing.")
@click.option("--steps", type=click.IntRange(min=20), metavar="N", help="Measured steps of each run.")
@click.option("--runs", type=click.IntRange(min=2), metavar="N", help="So many runs, at most.")
@click.option("--write", is_flag=True, help="Run nothing: apply fix.patch to the script, after asking.")
@click.option("--yes", is_flag=True, help="With --write: don't ask.")
@click.option("--no-pdf", is_flag=True, help="HTML and JSON only.")
@options.language
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
def treat(
    *,
    run: Path,
    settings: Sequence[str],
    loader: str | None,
    ceiling: bool,
    steps: int | None,
    runs: int | None,
    write: bool,
    yes: bool,
    no_pdf: bool,
    lang: str,
    words: Sequence[str],
) -> None:
    """Run the script of RUN again, with what its report prescribes and without, and say what that really gains.

    The settings are forced on the one loader as it is built: no source is edited.  What the script writes it writes in
    each run; its output is kept in RUN/treated.  A command after `--` takes the place of the one in RUN.
    """
    from loaderdoctor import pipeline

    done = pipeline.diagnose(run)
    if write:
        _write(done, is_sure=yes)
        return
    remedy, again = _what(done, settings, loader, is_ceiling=ceiling), _how(done, words, steps)
    limits = _limits(runs)
    trials = _measured(done, run, remedy, again, limits)
    _report(run, remedy, trials, options.formats(no_pdf=no_pdf), lang)


def _what(done: Diagnosed, settings: Sequence[str], loader: str | None, *, is_ceiling: bool) -> Remedy:
    from loaderdoctor.treat import remedy

    if settings and is_ceiling:
        sentence = "--ceiling is measured without a loader, so that no settings go with it: leave --set out."
        raise LoaderDoctorError("setting-refused", sentence)
    if is_ceiling:
        return remedy.ceiling(done.signals, done.diagnosis, loader)
    if settings:
        return remedy.asked_for(done.signals, done.diagnosis, settings, loader)
    return remedy.prescribed(done.signals, done.diagnosis)


def _how(done: Diagnosed, words: Sequence[str], steps: int | None) -> Again:
    from loaderdoctor.treat.again import again

    return again(done.run.meta, done.signals, words, steps)


def _limits(runs: int | None) -> Limits:
    from loaderdoctor.treat.trials import LEAST_RUNS, Limits

    return Limits() if runs is None else Limits(least_runs=min(LEAST_RUNS, runs), most_runs=runs)


def _measured(done: Diagnosed, run: Path, remedy: Remedy, again: Again, limits: Limits) -> Trials:
    """The runs, each told as it ends.  LoaderDoctorError `treat-interrupted` where they say nothing yet."""
    from loaderdoctor.treat.trials import Plan, try_out
    from loaderdoctor.treat.unchanged import is_edited

    site = remedy.loader.site
    if site is not None and is_edited(done.run, site.file):
        sentence = f"{site.file} was edited since the run, so that its line {site.line} may build another loader: profile it again."
        raise LoaderDoctorError("run-not-repeatable", sentence)
    folder = run.absolute() / TRIALS
    shutil.rmtree(folder, ignore_errors=True)
    say(_announced(done, remedy, again, limits))
    trials = try_out(Plan(done.signals, remedy, again, folder), limits, tell=_tell)
    if not trials.is_enough:
        sentence = "Interrupted before there was a run of each kind: nothing was measured."
        raise LoaderDoctorError("treat-interrupted", sentence, ExitCode.NO_REPORT)
    return trials


def _announced(done: Diagnosed, remedy: Remedy, again: Again, limits: Limits) -> str:
    """What is about to happen, before it does: a script that runs again writes again what it writes."""
    from loaderdoctor.report import figures
    from loaderdoctor.report.privacy import shown_command
    from loaderdoctor.report.treated import as_words

    tried = "one kept batch, which trains nothing" if remedy.is_ceiling else as_words(remedy.settings, remedy.variables)
    command = shlex.join(shown_command(again.command.argv, done.run.meta.working_directory))
    length = "" if again.steps is None else f" for {again.steps} steps"
    return (
        f"running `{command}` {limits.least_runs} to {limits.most_runs} times{length}, about "
        f"{figures.seconds(again.expected_s, 2)} each, as it is and with {tried}; "
        "each run writes what the script writes"
    )


def _tell(trial: Trial, trials: Trials) -> None:
    from loaderdoctor.report import figures

    said = f"{len(trials.trials)} {trial.kind.replace('-', ' ')}: {figures.seconds(trial.pace.step_s)} a step"
    say(f"{said}, {figures.times(trials.speedup.value)} so far" if trials.is_enough else said)


def _report(run: Path, remedy: Remedy, trials: Trials, formats: Sequence[str], lang: str) -> None:
    from loaderdoctor import pipeline, report
    from loaderdoctor.treat.outcome import keep, outcome_of

    outcome = outcome_of(remedy, trials)
    with writing_into(run):
        kept = keep(run, outcome)
        done = pipeline.diagnose(run)
        written = report.write(done.run, done.signals, done.diagnosis, run, formats, lang)
    for line in _lines(outcome, remedy, (kept, *written.files), run, lang):
        say(line)


def _lines(outcome: Outcome, remedy: Remedy, files: Sequence[Path], run: Path, lang: str) -> Iterator[str]:
    """At most eight: what was tried, what it gained, what was promised, what to do next."""
    from loaderdoctor.report.advice import PATCH_FILE
    from loaderdoctor.report.treated import sentences, what
    from loaderdoctor.report.words import Words

    words = Words(lang)
    yield words("treated.tried", what=what(outcome, words), loader=outcome.loader)
    yield from sentences(outcome, words)
    if remedy.left_out:
        yield words("treated.left-out", text=remedy.left_out[0])
    yield words("terminal.files", text=", ".join([str(files[0]), *(path.name for path in files[1:])]))
    is_cure = remedy.cause is not None and outcome.speedup.low > 1 and not outcome.repeats
    if is_cure and any(path.name == PATCH_FILE for path in files):
        yield words("terminal.next", text=f"loaderdoctor treat {shlex.quote(str(run))} --write")


# --- writing the patch


def _write(done: Diagnosed, *, is_sure: bool) -> None:
    """Apply fix.patch, made anew from the run.  LoaderDoctorError `patch-refused`."""
    from loaderdoctor.report.prescribe import fix_patch
    from loaderdoctor.treat import written
    from loaderdoctor.treat.unchanged import is_edited

    patch = fix_patch(done.run, done.signals, done.diagnosis)
    if patch is None:
        raise written.refused("the report prescribes no edit of the source")
    path = written.check(patch.text, Path(done.run.meta.working_directory))
    if is_edited(done.run, path):
        why = f"{path.name} was edited since the run, and the patch may be of another place: profile it again"
        raise written.refused(why)
    if not is_sure and not is_somebody_there():
        raise written.refused("there is nobody to ask; `--yes` says that it is to be")
    if not is_sure:
        click.echo(patch.text, err=True, nl=False)
        if not click.confirm(f"loaderdoctor: edit {path}?", err=True):
            say("nothing was written")
            return
    written.apply(patch.text, Path(done.run.meta.working_directory))
    say(f"{path} is edited; `git diff` shows it, and `git checkout -- {shlex.quote(str(path))}` takes it back")


def is_somebody_there() -> bool:
    """Whether anybody can answer a question."""
    return sys.stdin.isatty()
