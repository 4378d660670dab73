"""Secrets in a script's text: masked where they stand, with every other line as it was, so that the patch applies."""

import ast
import subprocess
from types import MappingProxyType

import pytest
import report_samples
from report_samples import SAMPLES

from loaderdoctor import report
from loaderdoctor.masked_source import HIDDEN, masked_source

SECRETS = {
    "a name": 'api_key = "abcdef-123456-abcdef"',
    "a typed name": 'token: str = "abcdef123456"',
    "an attribute": 'wandb.api_key = "abcdef123456"',
    "an item": 'os.environ["HF_TOKEN"] = "abcdef123456"',
    "a default": 'os.environ.setdefault("HF_TOKEN", "abcdef123456")',
    "a fallback": 'token = os.environ.get("HF_TOKEN") or "abcdef123456"',
    "an argument": 'login(password="abcdef123456")',
    "a parameter": 'def f(a, secret="abcdef123456"): pass',
    "a named parameter": 'def f(*, secret="abcdef123456", lr): pass',
    "an option": 'p.add_argument("--token", default="abcdef123456")',
    "a dictionary": 'd = {"é": 1, "token": "abcdef123456"}',
    "bytes": 'secret = b"abcdef123456"',
    "two literals": 'secret = ("abcdef"\n    "123456")',
    "a known form": 'x = "hf_abcdef123456abcdef"',
    "in f-strings": 'x = f"{y}?token=abcdef123456&{z}"',
    "a comment": "x = 1  # hf_abcdef123456abcdef",
    "an address": 'x = "postgresql://me:abcdef/123456@db/x"',
    "a private key": 'x = """-----BEGIN PRIVATE KEY-----\nabcdef\n123456\n-----END PRIVATE KEY-----\n"""',
}
HARMLESS = (
    'tokenizer = "abcdef123456"', 'batch["image_key"] = "jpg_picture"', 'pad_token = "<padding>"', 'x = sorted(y, key="abcdef")',
    "hf_dataset_loader_config = 1", 'token = os.environ["HF_TOKEN_OF_MINE"]', 'x = f"token={y}"', 'help = "the token of yours"',
    'p.add_argument("--token", help="abcdef123456")', "password = getpass.getpass()",
)  # fmt: skip


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("case", SECRETS)
def test_a_secret_is_masked_and_lines_stay_in_place(case, newline):
    before, behind = f"import os{newline}", f"{newline}last = 1{newline}"
    source = before + SECRETS[case].replace("\n", newline) + behind
    hidden = masked_source(source)
    assert "abcdef" not in hidden
    assert "123456" not in hidden
    assert HIDDEN in hidden
    assert hidden.startswith(before)
    assert hidden.endswith(behind)
    assert hidden.count("\n") == source.count("\n")
    ast.parse(hidden)
    assert masked_source(hidden) == hidden


@pytest.mark.parametrize("line", HARMLESS)
def test_ordinary_text_stays_as_it_is(line):
    assert masked_source(f"\ufeffimport os\n{line}\n") == f"\ufeffimport os\n{line}\n"


@pytest.mark.parametrize("source", ["def (", "x = '", "(" * 5000, "x = 1\x00"])
def test_what_is_no_python_is_not_kept(source):
    assert masked_source(source) == ""


def sources(secret, line):
    """The sample's script with a secret before this line (1-based), as text and as a run keeps it."""
    lines = report_samples.SCRIPT.splitlines(keepends=True)
    script = "".join((*lines[: line - 1], f"{secret}\n", *lines[line - 1 :]))
    return script, MappingProxyType({f"{report_samples.FOLDER}/train.py": script})


def written(kept, at, folder):
    """What the report writes where the loader stands at this line."""
    sample = SAMPLES["starving"]()
    run = report_samples.run(sources=kept)
    site = report_samples.Site(f"{report_samples.FOLDER}/train.py", at)
    findings = (report_samples.replace(report_samples.TOO_FEW, site=site),)
    diagnosis = report_samples.replace(sample.diagnosis, findings=findings)
    report.write(run, sample.signals, diagnosis, folder, ["html", "json", "md"])
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_the_patch_applies_to_a_script_that_holds_a_secret_elsewhere(tmp_path):
    script, kept = sources('HF_TOKEN = "abcdef123456"', 1)
    files = written(kept, 10, tmp_path)
    assert "abcdef" not in "".join(files.values())
    (tmp_path / "train.py").write_text(script)
    subprocess.run(["git", "apply", "fix.patch"], cwd=tmp_path, check=True)
    assert (tmp_path / "train.py").read_text() == script.replace(
        "num_workers=2,", "num_workers=6,\n        persistent_workers=True,"
    )


def test_beside_a_secret_there_is_no_patch_but_the_settings_in_words(tmp_path):
    _, kept = sources('    HF_TOKEN = "abcdef123456"', 15)
    files = written(kept, 9, tmp_path)
    assert "fix.patch" not in files
    assert "abcdef" not in "".join(files.values())
    assert "num_workers=6, persistent_workers=True" in files["report.html"]
