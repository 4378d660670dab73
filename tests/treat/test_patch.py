"""Patches are held against what the file must say afterwards, and against git itself."""

import ast
import subprocess
import textwrap

import pytest

from loaderdoctor.treat.patch import patch

MORE = {"num_workers": 4, "persistent_workers": True}

# A case: the text before, the settings, the text after.
EDITS = {
    "one line": (
        "dl = DataLoader(ds, batch_size=8, num_workers=2)",
        MORE,
        "dl = DataLoader(ds, batch_size=8, num_workers=4, persistent_workers=True)",
    ),
    "nothing said before": (
        "dl = torch.utils.data.DataLoader(ds)",
        MORE,
        "dl = torch.utils.data.DataLoader(ds, num_workers=4, persistent_workers=True)",
    ),
    "trailing comma on one line": (
        "dl = DataLoader(ds, batch_size=8,)",
        MORE,
        "dl = DataLoader(ds, batch_size=8, num_workers=4, persistent_workers=True,)",
    ),
    "an argument a line, trailing comma": (
        """
        dl = DataLoader(
            ds,
            num_workers=2,
        )
        """,
        MORE,
        """
        dl = DataLoader(
            ds,
            num_workers=4,
            persistent_workers=True,
        )
        """,
    ),
    "no trailing comma": (
        """
        dl = DataLoader(
            ds,
            batch_size=8
        )
        """,
        MORE,
        """
        dl = DataLoader(
            ds,
            batch_size=8,
            num_workers=4,
            persistent_workers=True
        )
        """,
    ),
    "closing parenthesis behind the last argument": (
        """
        dl = DataLoader(ds,
                        batch_size=8)
        """,
        MORE,
        """
        dl = DataLoader(ds,
                        batch_size=8,
                        num_workers=4,
                        persistent_workers=True)
        """,
    ),
    "trailing comments stay with their argument": (
        """
        dl = DataLoader(
            ds,  # all of it
            batch_size=8  # fits, barely
        )  # done
        """,
        MORE,
        """
        dl = DataLoader(
            ds,  # all of it
            batch_size=8,  # fits, barely
            num_workers=4,
            persistent_workers=True
        )  # done
        """,
    ),
    "comment with a bracket and a comma": (
        """
        dl = DataLoader(
            ds, batch_size=8,  # ), or (
        )
        """,
        {"num_workers": 4},
        """
        dl = DataLoader(
            ds, batch_size=8,  # ), or (
            num_workers=4,
        )
        """,
    ),
    "unicode before it on the line": (
        'größe, dl = "日本語", DataLoader(Датасет("é, ("), num_workers=1)',
        MORE,
        'größe, dl = "日本語", DataLoader(Датасет("é, ("), num_workers=4, persistent_workers=True)',
    ),
    "value in parentheses": (
        "dl = DataLoader(ds, num_workers=(args.workers or 2))",
        {"num_workers": 4},
        "dl = DataLoader(ds, num_workers=4)",
    ),
    "value of several lines": (
        """
        dl = DataLoader(
            ds, num_workers=max(
                1, 2
            ),
        )
        """,
        {"num_workers": 4},
        """
        dl = DataLoader(
            ds, num_workers=4,
        )
        """,
    ),
    "given by position": (
        "dl = DataLoader(ds, 8, True, None, None, 2, None, False)",
        {"num_workers": 4, "pin_memory": True},
        "dl = DataLoader(ds, 8, True, None, None, 4, None, True)",
    ),
    "imported under another name": (
        "from torch.utils.data import DataLoader as L; dl = L(ds)",
        {"num_workers": 4},
        "from torch.utils.data import DataLoader as L; dl = L(ds, num_workers=4)",
    ),
    "a class of its own": (
        "dl = MyDataLoader(ds)",
        {"num_workers": 4},
        "dl = MyDataLoader(ds, num_workers=4)",
    ),
    "inside another call": (
        "dl = accelerator.prepare(DataLoader(ds), model)",
        {"num_workers": 4},
        "dl = accelerator.prepare(DataLoader(ds, num_workers=4), model)",
    ),
    "a lambda and a slice among the arguments": (
        "dl = DataLoader(ds[1:, :2], collate_fn=lambda b, n=2: b)",
        {"num_workers": 4},
        "dl = DataLoader(ds[1:, :2], collate_fn=lambda b, n=2: b, num_workers=4)",
    ),
    "no workers: what needs them goes": (
        "dl = DataLoader(ds, num_workers=2, prefetch_factor=4, pin_memory=True, persistent_workers=True)",
        {"num_workers": 0},
        "dl = DataLoader(ds, num_workers=0, pin_memory=True)",
    ),
    "no workers, an argument a line": (
        """
        dl = DataLoader(
            ds,
            num_workers=2,
            prefetch_factor=4,  # deep
            pin_memory=True,
            persistent_workers=True)
        """,
        {"num_workers": 0, "in_order": False},
        """
        dl = DataLoader(
            ds,
            num_workers=0,
            pin_memory=True,
            in_order=False)
        """,
    ),
    "no workers, by position": (
        "dl = DataLoader(ds, 8, True, None, None, 2, None, False, False, 30, None, 'spawn')",
        {"num_workers": 0},
        "dl = DataLoader(ds, 8, True, None, None, 0, None, False, False, 0, None, None)",
    ),
    "taken out at the front": (
        "dl = DataLoader(prefetch_factor=4, dataset=ds)",
        {"prefetch_factor": None},
        "dl = DataLoader(dataset=ds)",
    ),
    "only argument taken out, another put in": (
        "dl = PresetDataLoader(prefetch_factor=4)",
        {"prefetch_factor": None, "num_workers": 1},
        "dl = PresetDataLoader(num_workers=1)",
    ),
    "a text value": (
        "dl = DataLoader(ds, num_workers=2)",
        {"multiprocessing_context": "spawn"},
        "dl = DataLoader(ds, num_workers=2, multiprocessing_context='spawn')",
    ),
}


@pytest.fixture(params=EDITS)
def edit(request):
    before, settings, after = EDITS[request.param]
    return textwrap.dedent(before).strip() + "\n", settings, textwrap.dedent(after).strip() + "\n"


def applied(folder, name, before, diff):
    """What git makes of the file; the folder is no repository of its own, as often in training jobs."""
    target = folder / name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(before.encode())
    (folder / "fix.patch").write_bytes(diff.encode())
    for check in (["--check"], []):
        subprocess.run(["git", "apply", *check, "fix.patch"], cwd=folder, check=True, capture_output=True)
    return target.read_bytes().decode()


def test_edits(edit, tmp_path):
    before, settings, after = edit
    ast.parse(after)
    assert applied(tmp_path, "train.py", before, patch(before, "train.py", 1, settings)) == after


@pytest.mark.parametrize(
    ("decorate", "name"),
    [
        (lambda text: text.replace("\n", "\r\n"), "crlf.py"),
        (lambda text: text.rstrip("\n"), "no_newline_at_the_end.py"),
        (lambda text: "\ufeff" + text, "byte_order_mark.py"),
        (lambda text: text, "folder with blanks/größe.py"),
        (lambda text: text + "\x0c\nx = '\u2028'\n", "odd_line_breaks.py"),
    ],
)
def test_every_edit_in_every_kind_of_file(edit, decorate, name, tmp_path):
    before, settings, after = edit
    assert applied(tmp_path, name, decorate(before), patch(decorate(before), name, 1, settings)) == decorate(after)


def test_context_and_line_numbers_of_a_long_file(tmp_path):
    filler = "".join(f"x{i} = {i}\n" for i in range(50))
    before = f"{filler}dl = DataLoader(ds)\n{filler}"
    diff = patch(before, "train.py", 51, {"num_workers": 2})
    assert "@@ -48,7 +48,7 @@" in diff
    assert applied(tmp_path, "train.py", before, diff) == before.replace("(ds)", "(ds, num_workers=2)")


def test_two_calls_at_one_place_are_told_apart_by_their_first_line():
    source = "dl = TwoDataLoader(\n    DataLoader(ds),\n)\n"
    assert "+    DataLoader(ds, num_workers=2)," in patch(source, "t.py", 2, {"num_workers": 2})
    assert "+    num_workers=2," in patch(source, "t.py", 1, {"num_workers": 2})


@pytest.mark.parametrize(
    ("source", "settings"),
    [
        ("dl = DataLoader(ds, **options)", MORE),
        ("dl = DataLoader(*arguments)", MORE),
        ("dl = DataLoader(x for x in y)", MORE),
        ("dl = build(ds)", MORE),
        ("a, b = DataLoader(ds), DataLoader(ds)", MORE),
        ("dl = LegacyDataLoader(ds, 8, True, None, None, 2)", MORE),
        ("dl = DataLoader(ds", MORE),
        ("dl = DataLoader(ds, num_workers=4)", {"num_workers": 4}),
        ("dl = DataLoader(ds)", {}),
        ("dl = DataLoader(ds)", {"collate_fn": print}),
        ("# coding: latin-1\ndl = DataLoader(ds)", MORE),
        ("x = 1\rdl = DataLoader(ds)", MORE),
    ],
)
def test_what_is_not_sure_is_not_patched(source, settings):
    assert patch(source + "\n", "train.py", 1 + source.count("\n"), settings) is None


@pytest.mark.parametrize("path", ['say "hi".py', "back\\slash.py", "new\nline.py"])
def test_names_that_a_diff_cannot_carry(path):
    assert patch("dl = DataLoader(ds)\n", path, 1, MORE) is None


def test_another_line_than_the_call():
    assert patch("dl = DataLoader(ds)\nx = 1\n", "train.py", 2, MORE) is None


@pytest.mark.parametrize(
    ("definition", "is_patched"),
    [
        ("class Mine_DataLoader(DataLoader): ...", True),
        ("class Mine_DataLoader(DataLoader):\n    def __init__(self, data, **kwargs): ...", True),
        ("class Mine_DataLoader(DataLoader):\n    def __init__(self, data, size): ...", False),
        ("def Mine_DataLoader(config): ...", False),
    ],
    ids=["as torch's", "hands on", "a signature of its own", "a function"],
)
def test_what_is_defined_in_the_same_file_is_patched_only_where_it_hands_arguments_on(definition, is_patched):
    source = f"{definition}\ndl = Mine_DataLoader(data)\n"
    assert (patch(source, "train.py", source.count("\n"), {"num_workers": 4}) is not None) == is_patched


def test_a_function_of_another_file_is_not_patched():
    assert patch("dl = build_DataLoader(config)\n", "train.py", 1, {"num_workers": 4}) is None
