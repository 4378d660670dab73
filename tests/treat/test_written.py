"""A patch is applied only where git could take it back."""

from __future__ import annotations

import subprocess

import pytest

from loaderdoctor.errors import LoaderDoctorError
from loaderdoctor.treat import written
from loaderdoctor.treat.patch import patch

SOURCE = "from torch.utils.data import DataLoader\n\nloader = DataLoader(data, num_workers=0)\n"
PATCH = patch(SOURCE, "train.py", 3, {"num_workers": 4})


def git(folder, *words):
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main")
    subprocess.run(["git", "-C", str(folder), *who, *words], check=True, capture_output=True)


@pytest.fixture
def folder(tmp_path):
    """A repository whose only file is committed."""
    (tmp_path / "train.py").write_text(SOURCE)
    git(tmp_path, "init")
    git(tmp_path, "add", "train.py")
    git(tmp_path, "commit", "-m", "first")
    return tmp_path


def test_the_script_is_edited(folder):
    assert written.check(PATCH, folder) == folder / "train.py"
    assert (folder / "train.py").read_text() == SOURCE, "checking edits nothing"
    written.apply(PATCH, folder)
    assert (folder / "train.py").read_text() == SOURCE.replace("num_workers=0", "num_workers=4")


def test_other_files_may_have_changes(folder):
    (folder / "other.py").write_text("x = 1\n")
    assert written.check(PATCH, folder)


def test_a_script_in_a_folder_of_the_repository_is_edited(folder):
    inside = folder / "src"
    inside.mkdir()
    (inside / "train.py").write_text(SOURCE)
    git(folder, "add", ".")
    git(folder, "commit", "-m", "second")
    written.check(PATCH, inside)
    written.apply(PATCH, inside)
    assert "num_workers=4" in (inside / "train.py").read_text()
    assert (folder / "train.py").read_text() == SOURCE


def changed(folder):
    (folder / "train.py").write_text(SOURCE + "# more\n")


def staged(folder):
    changed(folder)
    git(folder, "add", "train.py")


def moved_on(folder):
    (folder / "train.py").write_text(SOURCE.replace("num_workers=0", "num_workers=1"))
    git(folder, "commit", "-am", "second")


def untracked(folder):
    git(folder, "rm", "--cached", "train.py")
    git(folder, "commit", "-m", "second")


def ignored(folder):
    untracked(folder)
    (folder / ".gitignore").write_text("train.py\n")


def gone(folder):
    (folder / "train.py").unlink()


def in_no_repository(folder):
    subprocess.run(["rm", "-rf", str(folder / ".git")], check=True)


@pytest.mark.parametrize(
    ("how", "says"),
    [
        (changed, "not committed"),
        (staged, "not committed"),
        (moved_on, "does not fit"),
        (untracked, "not under version control"),
        (ignored, "not under version control"),
        (gone, "there is no"),
        (in_no_repository, "no git repository"),
    ],
)
def test_where_git_would_lose_something_it_is_refused(folder, monkeypatch, how, says):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(folder.parent))
    how(folder)
    with pytest.raises(LoaderDoctorError, match=says) as error:
        written.check(PATCH, folder)
    assert error.value.slug == "patch-refused"


def test_without_git_nothing_is_written(folder, monkeypatch):
    monkeypatch.setenv("PATH", "/no/such/folder")
    with pytest.raises(LoaderDoctorError, match="git cannot be run"):
        written.check(PATCH, folder)
