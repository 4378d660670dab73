"""File descriptors of ours, out of the way of the script's own."""

from __future__ import annotations

import os
from typing import Any

from .standard import standard

HIGHEST = 1000  # below the usual limit of 1024, far above what scripts open


def open_aside(path: str, flags: int) -> int:
    """Open a file under a high number, so that the script's next file gets the number it always got.

    A daemon that closes "all" descriptors and opens its own will not have ours write into its files either.  Raises
    OSError.
    """
    low = os.open(path, flags | os.O_CLOEXEC, 0o600)
    try:
        return _moved(low)
    except (OSError, ImportError):  # no such number under this process's limit, or no fcntl on this platform
        return low


def _moved(low: int) -> int:
    fcntl: Any = standard("fcntl")
    resource: Any = standard("resource")
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    aside = min(HIGHEST, limit - 24) if limit > 0 else HIGHEST
    high: int = fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, aside)
    os.close(low)
    return high
