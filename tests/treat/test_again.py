"""How long a trial is, and which runs cannot be run again."""

from __future__ import annotations

from dataclasses import replace

import builders
import pytest

from loaderdoctor.errors import LoaderDoctorError
from loaderdoctor.record import RunMeta
from loaderdoctor.treat.again import again

META = RunMeta(
    id="1", tool_version="1", command=("python", "train.py"), working_directory="/", started_utc="", started_ns=0
)


def meta(duration_s=20, **fields):
    return replace(META, ended_ns=round(duration_s * 1e9), **fields)


def signals(steps=100, step_s=0.1, batches=110, epochs=2):
    return builders.signals(
        measured_s=steps * step_s,
        training_steps=steps,
        loaders=(replace(builders.loader(), batches=batches, epochs=epochs),),
    )


@pytest.mark.parametrize(
    ("run", "seen", "steps"),
    [
        (meta(20), signals(), None),  # a short run that came to its own end does so again
        (meta(20, ended_by="steps"), signals(), 100),
        (meta(20, ended_by="seconds"), signals(), 100),
        (meta(20, ended_by="interrupt"), signals(), 100),
        (meta(20, ended_by="crash"), signals(), 100),
        (meta(7200), signals(70_000, 0.1, 77_000, 1), 600),  # a minute of a long one
        (meta(7200), signals(70_000, 0.1, 77_000, 200), 770),  # to the end of the second epoch of 385
        (meta(7200), signals(700, 10, 770, 1), 50),  # steps so long that a minute has six
        (meta(90), signals(500, 0.15, 540, 1), 400),
        (meta(90), signals(30, 2.5, 33, 1), 30),  # never more than it had
    ],
)
def test_a_trial_is_as_long_as_it_must_be(run, seen, steps):
    assert again(run, seen).steps == steps


def test_the_length_may_be_said():
    assert again(meta(7200), signals(70_000), steps=25).steps == 25


def test_it_is_known_about_how_long_a_run_takes():
    assert again(meta(20), signals()).expected_s == 20
    assert again(meta(7200), signals(70_000, 0.1, 77_000, 1)).expected_s == pytest.approx(200 + 60)


def test_the_command_may_be_given_again():
    masked = meta(command=("python", "train.py", "--token", "***"))
    assert again(masked, signals(), ("python", "train.py")).command.argv == ("python", "train.py")


@pytest.mark.parametrize(
    ("run", "seen", "says"),
    [
        (meta(command=()), signals(), "after `--`"),
        (meta(command=("python", "train.py", "--token=***")), signals(), "secrets"),
        (meta(command=("python", "-m", "ipykernel_launcher", "-f", "x.json")), signals(), "notebook"),
        (meta(working_directory=""), signals(), "deleted"),
        (meta(working_directory="/no/such/folder"), signals(), "/no/such/folder"),
        (meta(), signals(0), "nothing to compare"),
    ],
)
def test_a_run_that_cannot_be_repeated_says_why(run, seen, says):
    with pytest.raises(LoaderDoctorError, match=r"\S") as error:
        again(run, seen)
    assert error.value.slug == "run-not-repeatable"
    assert says in error.value.sentence
