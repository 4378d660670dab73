"""A machine drawn as text: files of /proc, /sys and the control groups below a temporary folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.sample.procfs import Roots

if TYPE_CHECKING:
    from pathlib import Path

NO_LIMIT_V1 = "9223372036854771712"


def machine(folder: Path, drawing: str = "") -> Roots:
    """Roots of the drawn machine.  A line is `path = text`; in the text `|` starts a new line.

    Paths begin with proc/, cgroup/, sys/, shm/ or root/; one that ends in / is an empty folder.  A machine without a
    line below proc/ has no /proc, as macOS.
    """
    for line in filter(str.strip, drawing.splitlines()):
        path, _, text = (part.strip() for part in line.partition("="))
        file = folder / path
        if path.endswith("/"):
            file.mkdir(parents=True, exist_ok=True)
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.replace("|", "\n") + "\n")
    groups = [path for path in (folder / "cgroup").rglob("*") if path.is_dir()]
    if "0::" in drawing and "cgroup/unified/" not in drawing:  # version 2 is mounted there, version 1 below it
        groups.append(folder / "cgroup")
    for group in groups:
        (group / "cgroup.procs").touch()
    return Roots(folder / "proc", folder / "cgroup", folder / "sys", folder / "shm", folder / "root")


def stat(name="python", state="S", *, ppid=1, cpu_ticks=0, reaped_ticks=0, threads=1) -> str:
    """A line of /proc/PID/stat, as far as it is read: 3 major faults, started at tick 100, 5 resident pages."""
    fields = [
        state,
        ppid,
        1,
        1,
        0,
        -1,
        0,
        0,
        0,
        3,
        0,
        cpu_ticks,
        0,
        reaped_ticks,
        0,
        20,
        0,
        threads,
        0,
        100,
        1 << 30,
        5,
    ]
    return f"7 ({name}) " + " ".join(str(field) for field in fields)
