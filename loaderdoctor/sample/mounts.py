"""Mounted file systems: of what kind each is, and which block device lies below it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from loaderdoctor.sample.procfs import Roots, read_text

LOCAL, NETWORK, FUSE, OVERLAY, TMPFS, UNKNOWN = "local", "network", "fuse", "overlay", "tmpfs", "unknown"

# 9p and virtiofs ask the host of a virtual machine for every file: a round trip, as on a network.
_KINDS = {
    LOCAL: "ext2 ext3 ext4 xfs btrfs zfs f2fs jfs bcachefs vfat exfat ntfs3 apfs hfs squashfs erofs iso9660",
    NETWORK: "nfs nfs4 cifs smb3 smbfs ceph lustre gpfs beegfs afs 9p virtiofs glusterfs pvfs2 wekafs panfs ocfs2 gfs2",
    OVERLAY: "overlay aufs",
    TMPFS: "tmpfs ramfs devtmpfs hugetlbfs",
}
_KIND_OF = {name: kind for kind, names in _KINDS.items() for name in names.split()}
_ESCAPED = re.compile(r"\\([0-7]{3})")


def kind_of(file_system: str) -> str:
    """local, network, fuse, overlay, tmpfs or unknown, by the file system's type."""
    if file_system.startswith("fuse"):  # fuse, fuseblk, fuse.sshfs
        return FUSE
    return _KIND_OF.get(file_system, UNKNOWN)


@dataclass(frozen=True)
class Mount:
    """One line of mountinfo; `number` is the device number "major:minor", `source` never leaves this machine's memory."""

    number: str
    folder: str
    file_system: str
    source: str


class Mounts:
    """The mounts that a process sees."""

    def __init__(self, roots: Roots, pid: int | str = "self") -> None:
        self._block = roots.sys / "dev/block"
        text = read_text(roots.proc / str(pid) / "mountinfo") or read_text(roots.proc / "self/mountinfo") or ""
        self._mounts = [mount for line in text.splitlines() if (mount := _parse(line))]
        self._mounts.sort(key=lambda mount: len(mount.folder), reverse=True)

    def of(self, path: str) -> Mount | None:
        """The mount that holds an absolute path: the one with the longest folder that it lies in."""
        for mount in self._mounts:
            if path == mount.folder or path.startswith(mount.folder.rstrip("/") + "/"):
                return mount
        return None

    def device_of(self, mount: Mount) -> str | None:
        """The whole disk below a mount, as /proc/diskstats names it; None where no block device is known to be there.

        An overlay hides the disks below it, and a network file system has none here.
        """
        if kind_of(mount.file_system) != LOCAL:
            return None
        number = mount.number
        if number.startswith("0:"):  # btrfs has a number of its own, but names the device that it is on
            number = _number_of(mount.source)
        folder = self._block / number
        if not number or not folder.exists():
            return None
        disk = folder.resolve()
        return (disk.parent if (disk / "partition").exists() else disk).name


def _parse(line: str) -> Mount | None:
    before, separator, after = line.partition(" - ")
    left, right = before.split(), after.split()
    if not separator or len(left) < 5 or len(right) < 2:  # noqa: PLR2004 - proc(5): five fields, "-", two more
        return None
    return Mount(left[2], _unescaped(left[4]), right[0], _unescaped(right[1]))


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda match: chr(int(match[1], 8)), text)


def _number_of(source: str) -> str:
    try:
        number = Path(source).stat().st_rdev
    except OSError:
        return ""
    return f"{os.major(number)}:{os.minor(number)}" if number else ""


def without_home(path: str | Path) -> str:
    """A folder as a report may show it: a home folder, which often bears a person's name, becomes ~."""
    home = os.path.expanduser("~")  # noqa: PTH111 - Path.home raises where there is none
    text = re.sub(r"^/(home|Users)/[^/]+", "~", str(path))
    return "~" + text.removeprefix(home) if home != "/" and (text + "/").startswith(home + "/") else text
