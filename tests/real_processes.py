"""Small real processes that do one known thing, each until it is ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SAY_READY = "print('ready', flush=True)\n"
BURN = SAY_READY + "while True: sum(range(1000))"
SLEEP = "import time\n" + SAY_READY + "while True: time.sleep(1000)"
TWO_CHILDREN = "import multiprocessing, time\nfor _ in range(2): multiprocessing.get_context('fork').Process(target=time.sleep, args=(1000,), daemon=True).start()\n"
PARENT = TWO_CHILDREN + SLEEP
# Drops the whole file from the page cache before each pass, so that the disk has to deliver it again.
READ_AGAIN = (
    """
import os, sys
def once():
    fd = os.open(sys.argv[1], os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    while os.read(fd, 1 << 16): pass
    os.close(fd)
once()
"""
    + SAY_READY
    + "while True: once()"
)
HOLD_OPEN = "import sys\nfile = open(sys.argv[1], 'rb')\nlog = open(sys.argv[1] + '.log', 'wb')\n" + SLEEP
MAP = (
    "import mmap, sys\nfile = open(sys.argv[1], 'rb')\nview = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)\nfile.close()\n"
    + SLEEP
)


@contextmanager
def running(code: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A Python that runs `code`, from when it said that it is ready; killed with its children and waited for at the end."""
    command: Sequence[str] = (sys.executable, "-c", code, *arguments)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def open_descriptors() -> int:
    """How many descriptors this process holds."""
    return len(list(Path("/proc/self/fd").iterdir()))
