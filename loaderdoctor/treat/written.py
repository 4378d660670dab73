"""Writes a prescription into the script, by the patch, and refuses where something would be lost."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from loaderdoctor.errors import ExitCode, LoaderDoctorError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

GIT_S = 60.0  # git on a file or two; a network disk that takes longer is better left alone


def check(patch: str, folder: Path) -> Path:
    """The file that the patch edits, where `git apply` takes it without a loss.

    LoaderDoctorError `patch-refused` where git is missing, where the file has changes that are not committed, and where it is no
    longer what the run saw.
    """
    path = folder / _name(patch)
    if not path.is_file():
        why = f"there is no {path}"
        raise refused(why)
    status = _git(folder, "status", "--porcelain", "--ignored", "--", str(path))
    if status.returncode == 0 and status.stdout.strip():
        what = "is not under version control" if status.stdout[:2] in {b"??", b"!!"} else "has changes not committed"
        why = f"{path.name} {what}, and the edit could not be told from what was there: commit it first"
        raise refused(why)
    # Where the folder is in no repository at all, git keeps nothing that could be lost, and nothing that could bring it back.
    if status.returncode != 0:
        why = f"{path.name} is in no git repository, which could bring it back: apply fix.patch by hand"
        raise refused(why)
    tried = _git(folder, "apply", "--check", "-", patch=patch)
    if tried.returncode != 0:
        why = f"it does not fit {path.name} any more: {_said(tried)}"
        raise refused(why)
    return path


def apply(patch: str, folder: Path) -> None:
    """Edit the file.  LoaderDoctorError `patch-refused` where git does not after all."""
    done = _git(folder, "apply", "-", patch=patch)
    if done.returncode != 0:
        raise refused(_said(done))


def refused(why: str) -> LoaderDoctorError:
    """The error that says why nothing was written."""
    return LoaderDoctorError("patch-refused", f"The patch was not applied: {why}.", ExitCode.NO_REPORT)


def _name(patch: str) -> str:
    line = next(line for line in patch.split("\n") if line.startswith("+++ b/"))
    return line.removeprefix("+++ b/").split("\t")[0]


def _git(folder: Path, *words: str, patch: str | None = None) -> subprocess.CompletedProcess[bytes]:
    return _run(["git", "-C", str(folder), *words], None if patch is None else patch.encode())


def _run(command: Sequence[str], text: bytes | None) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(command, input=text, capture_output=True, check=False, timeout=GIT_S)  # noqa: S603 - git, with a path and a patch of ours
    except (OSError, subprocess.TimeoutExpired) as error:
        why = f"git cannot be run ({type(error).__name__})"
        raise refused(why) from None


def _said(done: subprocess.CompletedProcess[bytes]) -> str:
    text = done.stderr.decode("utf-8", "replace").strip().split("\n")[0]
    return text.removeprefix("error: ").rstrip(".") or "git does not say why"
