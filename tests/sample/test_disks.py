"""File systems below the files that processes hold open or mapped."""

import os
import sys

import pytest
from drawn_machine import machine
from real_processes import HOLD_OPEN, MAP, SLEEP, running

from loaderdoctor.sample.disks import DisksSampler
from loaderdoctor.sample.mounts import Mounts, kind_of, without_home
from loaderdoctor.sample.openfiles import LEAST_MAPPED_BYTES
from loaderdoctor.sample.procfs import Roots

MOUNTS = """
    proc/self/mountinfo = 20 1 0:50 / / rw - overlay overlay rw,upperdir=/x|21 20 8:2 / /data rw shared:1 - ext4 /dev/sda2 rw|22 21 0:60 / /data/far rw - nfs4 server:/export rw|23 20 0:61 / /with\\040space rw - tmpfs tmpfs rw
    sys/devices/block/sda/sda2/partition = 2
    sys/dev/block/
"""


@pytest.mark.parametrize(
    ("file_system", "kind"),
    [
        ("ext4", "local"),
        ("xfs", "local"),
        ("nfs4", "network"),
        ("lustre", "network"),
        ("9p", "network"),
        ("fuse.gcsfuse", "fuse"),
        ("fuseblk", "fuse"),
        ("overlay", "overlay"),
        ("tmpfs", "tmpfs"),
        ("somethingfs", "unknown"),
    ],
)
def test_kind_of_a_file_system(file_system, kind):
    assert kind_of(file_system) == kind


@pytest.fixture
def drawn(tmp_path):
    roots = machine(tmp_path, MOUNTS)
    (roots.sys / "dev/block/8:2").symlink_to(roots.sys / "devices/block/sda/sda2")
    return Mounts(roots)


@pytest.mark.parametrize(
    ("path", "folder", "device"),
    [
        ("/home/file", "/", None),
        ("/data", "/data", "sda"),
        ("/data/a/b", "/data", "sda"),
        ("/data/far/c", "/data/far", None),
        ("/database", "/", None),
        ("/with space/x", "/with space", None),
    ],
)
def test_the_mount_that_holds_a_path_and_the_whole_disk_below_it(drawn, path, folder, device):
    mount = drawn.of(path)
    assert (mount.folder, drawn.device_of(mount)) == (folder, device)


def test_without_mounts_nothing_is_guessed(tmp_path):
    assert Mounts(machine(tmp_path)).of("/data") is None


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/home/alice", "~"),
        ("/home/alice/sets", "~/sets"),
        ("/Users/bob/x", "~/x"),
        ("/homes", "/homes"),
        ("/data", "/data"),
    ],
)
def test_home_folders_lose_their_names(path, shown):
    assert without_home(path) == shown


linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@linux
@pytest.mark.parametrize(("code", "how"), [(HOLD_OPEN, "opened"), (MAP, "mapped")])
def test_a_file_in_use_is_seen_once_a_look_with_its_mount(tmp_path, code, how):
    file = tmp_path / "data"
    file.write_bytes(bytes(LEAST_MAPPED_BYTES))
    with running(code, str(file)) as process:
        row = DisksSampler(Roots(), process.pid, tmp_path / "run").sample([process.pid])
    (entry,) = row["mounts"]
    assert entry["file_system"] == Mounts(Roots()).of(str(tmp_path)).file_system
    assert entry[how] == 1
    assert str(tmp_path) not in str(row), "files are not named"


@linux
def test_the_tools_own_records_and_code_are_no_data(tmp_path):
    (tmp_path / "records").write_bytes(b"x")
    with running(HOLD_OPEN, str(tmp_path / "records")) as process:
        assert DisksSampler(Roots(), process.pid, tmp_path).sample([process.pid])["mounts"] == []
    with running(SLEEP) as process:
        assert DisksSampler(Roots(), process.pid, tmp_path).sample([process.pid])["mounts"] == []


@linux
def test_a_process_that_ended_or_hides_its_files_is_passed_over(tmp_path, monkeypatch):
    with running(SLEEP) as process:
        pass
    sampler = DisksSampler(Roots(), process.pid, tmp_path)
    assert sampler.sample([process.pid]) == {"mounts": [], "disks": {}}
    assert sampler.notes() == []

    def refuse(_):
        raise PermissionError

    monkeypatch.setattr(os, "listdir", refuse)
    sampler.sample([os.getpid()])
    assert [slug for slug, _ in sampler.notes()] == ["files-unreadable"]


def test_counters_are_those_of_the_disk_below_the_data(tmp_path):
    roots = machine(
        tmp_path,
        MOUNTS
        + """
        proc/diskstats = 8 0 sda 10 1 200 3000 5 0 80 7 2 4000 9000 0 0 0 0|8 16 sdb 1 1 1 1 1 1 1 1 1 1 1
        proc/7/fd/
        proc/7/fdinfo/3 = pos: 0|flags: 0100000
        proc/7/maps =
        """,
    )
    (roots.sys / "dev/block/8:2").symlink_to(roots.sys / "devices/block/sda/sda2")
    (roots.proc / "7/fd/3").symlink_to("/data/train.bin")
    row = DisksSampler(roots, 7, tmp_path / "run").sample([7])
    assert row["mounts"][0]["device"] == "sda"
    assert row["disks"] == {
        "sda": {
            "reads": 10,
            "read_bytes": 102400,
            "read_wait_s": 3.0,
            "writes": 5,
            "written_bytes": 40960,
            "in_flight": 2,
            "busy_s": 4.0,
            "queued_s": 9.0,
        }
    }


def test_without_proc_there_is_no_row(tmp_path):
    assert DisksSampler(machine(tmp_path), 7, tmp_path).sample([7]) is None
