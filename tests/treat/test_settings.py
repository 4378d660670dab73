"""What --set takes, and what it refuses before anything runs."""

from __future__ import annotations

import pytest

from loaderdoctor.analyse.signals import LoaderSettings
from loaderdoctor.errors import LoaderDoctorError
from loaderdoctor.treat.settings import KINDS, checked, recorded_as

NONE = LoaderSettings(batch_size=8, num_workers=0, in_order=True)
TWO = LoaderSettings(batch_size=8, num_workers=2, prefetch_factor=2, in_order=True, start_method="fork")
OLD = LoaderSettings(batch_size=8, num_workers=2)  # torch before 2.6
DALI = LoaderSettings(torch_loader=False)


@pytest.mark.parametrize(
    ("loader", "words", "settings"),
    [
        (NONE, ["num_workers=4"], {"num_workers": 4}),
        (NONE, [" num_workers = 4 "], {"num_workers": 4}),
        (NONE, ["num_workers=4", "persistent_workers=true"], {"num_workers": 4, "persistent_workers": True}),
        (NONE, ["prefetch_factor=4", "num_workers=2"], {"prefetch_factor": 4, "num_workers": 2}),
        (NONE, ["num_workers=4", "num_workers=5"], {"num_workers": 5}),
        (NONE, ["persistent_workers=False", "num_workers=2"], {"num_workers": 2}),
        (TWO, ["num_workers=0"], {"num_workers": 0}),
        (TWO, ["prefetch_factor=4"], {"prefetch_factor": 4}),
        (TWO, ["multiprocessing_context=spawn"], {"multiprocessing_context": "spawn"}),
        (TWO, ["multiprocessing_context='spawn'"], {"multiprocessing_context": "spawn"}),
        (TWO, ["in_order=False"], {"in_order": False}),
        (TWO, ["timeout=2.5"], {"timeout": 2.5}),
        (TWO, ["num_workers=2", "pin_memory=True"], {"pin_memory": True}),
    ],
)
def test_settings_are_read_and_those_that_the_loader_has_left_out(loader, words, settings):
    assert checked(words, loader, has_device=True) == settings


@pytest.mark.parametrize(
    ("loader", "words", "slug", "says"),
    [
        (NONE, ["workers=4"], "setting-unknown", "Did you mean num_workers?"),
        (NONE, ["zebra=4"], "setting-unknown", "persistent_workers"),
        (NONE, ["=4"], "setting-unknown", "no setting"),
        (NONE, ["batch_size=4"], "setting-refused", "changes what is trained"),
        (NONE, ["num_workers"], "setting-of-another-type", "--set num_workers=4"),
        (NONE, ["num_workers="], "setting-of-another-type", "not nothing"),
        (NONE, ["num_workers=many"], "setting-of-another-type", "not many"),
        (NONE, ["num_workers=-1"], "setting-of-another-type", "from 0"),
        (NONE, ["num_workers=True"], "setting-of-another-type", "whole number"),
        (NONE, ["num_workers=2.5"], "setting-of-another-type", "whole number"),
        (NONE, ["num_workers=99999"], "setting-of-another-type", "1024"),
        (TWO, ["prefetch_factor=0"], "setting-of-another-type", "from 1"),
        (TWO, ["persistent_workers=1"], "setting-of-another-type", "True or False"),
        (TWO, ["multiprocessing_context=thread"], "setting-of-another-type", "forkserver"),
        (NONE, ["prefetch_factor=4"], "setting-refused", "needs workers"),
        (NONE, ["persistent_workers=True"], "setting-refused", "needs workers"),
        (NONE, ["timeout=5"], "setting-refused", "needs workers"),
        (NONE, ["multiprocessing_context=fork"], "setting-refused", "needs workers"),
        (TWO, ["num_workers=0", "prefetch_factor=4"], "setting-refused", "needs workers"),
        (OLD, ["in_order=False"], "setting-refused", "torch 2.6"),
        (DALI, ["num_workers=4"], "setting-refused", "not torch's"),
        (TWO, ["num_workers=2"], "nothing-to-try", "already"),
        (TWO, ["num_workers=2", "prefetch_factor=2"], "nothing-to-try", "already"),
    ],
)
def test_what_cannot_be_is_said_before_anything_runs(loader, words, slug, says):
    with pytest.raises(LoaderDoctorError, match=r"\S") as error:
        checked(words, loader, has_device=True)
    assert error.value.slug == slug
    assert says in error.value.sentence
    assert error.value.exit_code == 2


def test_pinning_without_a_device_does_nothing():
    with pytest.raises(LoaderDoctorError, match="no device") as error:
        checked(["pin_memory=True"], TWO, has_device=False)
    assert error.value.slug == "setting-refused"


def test_settings_are_looked_for_by_the_names_of_the_record():
    recorded = recorded_as(dict.fromkeys(KINDS, 1) | {"prefetch_factor": None})
    assert set(recorded) <= set(LoaderSettings.__dataclass_fields__)
    assert "prefetch_factor" not in recorded
