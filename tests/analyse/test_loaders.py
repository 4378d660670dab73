"""Which loaders there are, and what each is for."""

from dataclasses import replace

import builders
import numpy as np
import pandas as pd
import pytest

from loaderdoctor.analyse import signals_of
from loaderdoctor.analyse.loaders import _Built, _in_turn
from loaderdoctor.analyse.signals import LoaderSettings

TRAIN_AND_EVAL = ("[" + "wc" * 10 + "]{" + "wc" * 10 + "}") * 2


def roles(run):
    return {loader.id: loader.role for loader in signals_of(run).loaders}


@pytest.mark.parametrize(
    ("drawing", "options", "expected", "why"),
    [
        (TRAIN_AND_EVAL, {}, ["train", "eval"], "the optimizer steps in one of the loops"),
        (TRAIN_AND_EVAL, {"eval_grad_enabled": True}, ["train", "eval"], "an evaluation without no_grad is still none"),
        (TRAIN_AND_EVAL, {"optimizer": False}, ["train", "eval"], "without optimizer: gradients are enabled in one"),
        ("{" + "wc" * 20, {}, [None, "train"], "one loader alone is what the run is about"),
        ("[wc]{" + "wwc" * 20 + "}", {"optimizer": False, "eval_grad_enabled": True}, ["eval", "train"], "most time"),
        (
            "[wc{" + "wc" * 20 + "}cwcwc]",
            {},
            ["train", "eval"],
            "an evaluation inside a step takes more, but trains nothing",
        ),
    ],
)
def test_roles(drawing, options, expected, why):
    names = ["train.py:42", "train.py:43"]
    assert roles(builders.run_from(drawing, **options)) == {
        name: role for name, role in zip(names, expected, strict=True) if role
    }, why


def test_the_main_training_loader_comes_first():
    assert [loader.role for loader in signals_of(builders.run_from("{" + "wc" * 50 + "}[wcwc]")).loaders] == [
        "train",
        "eval",
    ]


def test_settings_and_site_are_those_of_the_script():
    run = builders.run_from(
        "[" + "wc" * 10, num_workers=2, settings={"prefetch_factor": 3, "pin_memory": True, "of_the_future": 1}
    )
    loader = signals_of(run).main
    assert (loader.site.file, loader.site.line) == ("/home/user/train.py", 42)
    assert (loader.settings.num_workers, loader.settings.prefetch_factor, loader.settings.pin_memory) == (2, 3, True)


def rebuilt(run, **changes):
    """The run, its second loop over a DataLoader object of its own, built at the same place with other settings."""
    main = run.processes[0]
    number = max(main.texts) + 1
    text = main.texts[int(main.tables["loader"]["settings_text"][0])]
    for name, value in changes.items():
        old = {"dataset_len": '"dataset_len": 800', "batch_size": '"batch_size": 8'}[name]
        text = text.replace(old, f'"{name}": {value}')
    loader = {name: np.append(column, column[-1]) for name, column in main.tables["loader"].items()}
    loader["loader"][-1], loader["settings_text"][-1] = 9, number
    iterator = {name: column.copy() for name, column in main.tables["iterator"].items()}
    iterator["loader"][1] = 9
    tables = {**main.tables, "loader": loader, "iterator": iterator}
    return replace(run, processes=(replace(main, tables=tables, texts={**main.texts, number: text}),))


@pytest.mark.parametrize(
    ("changes", "ids", "batches", "why"),
    [
        ({}, ["train.py:42"], [20], "built anew every epoch: one loader"),
        ({"dataset_len": 900}, ["train.py:42"], [20], "so too where the data set grew"),
        ({"batch_size": 16}, ["train.py:42", "train.py:42#2"], [10, 10], "other settings: another loader"),
    ],
)
def test_loaders_built_at_one_place_are_one_where_they_are_alike(changes, ids, batches, why):
    loaders = signals_of(rebuilt(builders.run_from("[" + "wc" * 10 + "|" + "wc" * 10), **changes)).loaders
    assert sorted(loader.id for loader in loaders) == ids, why
    assert [loader.batches for loader in loaders] == batches


def test_a_loader_that_left_no_record_is_still_one():
    run = builders.run_from("[" + "wc" * 30)
    main = run.processes[0]
    tables = {kind: table for kind, table in main.tables.items() if kind not in {"loader", "iterator"}}
    signals = signals_of(replace(run, processes=(replace(main, tables=tables),)))
    assert [(loader.id, loader.site, loader.batches) for loader in signals.loaders] == [("loader", None, 30)]
    assert signals.starved_share.value == pytest.approx(0.5)


# begin and end of the use of each DataLoader object, in order of building -> which of them are one loader
TURNS = [
    ([(0, 10), (12, 20), (22, 30)], [[1, 2, 3]], "built anew every epoch"),
    ([(0, 30), (1, 31)], [[1], [2]], "a function that builds two, and a loop that takes from both"),
    ([(0, 10), (1, 11), (12, 20), (13, 21)], [[1, 3], [2, 4]], "both, every epoch"),
    ([(0, 10)], [[1]], "one"),
]


@pytest.mark.parametrize(("spans", "turns", "why"), TURNS, ids=[row[2] for row in TURNS])
def test_loaders_of_one_line_are_told_apart_where_they_are_used_together(spans, turns, why):
    steps = pd.DataFrame(
        [{"loader": number, "begin_ns": at, "got_ns": at} for number, span in enumerate(spans, 1) for at in span]
    )
    group = [_Built(number, None, LoaderSettings()) for number in range(1, len(spans) + 1)]
    assert [[one.number for one in turn] for turn in _in_turn(group, steps)] == turns, why
