"""What this process says of itself: versions, threads and start methods; nothing that names a user or a machine."""

from __future__ import annotations

import json
import platform
import sys
from functools import reduce
from typing import Any

from .faults import pass_on

# key -> attribute path from torch; those that are functions are called
_OF_TORCH = {
    "torch": "__version__",
    "cuda": "version.cuda",
    "hip": "version.hip",
    "torch_threads": "get_num_threads",
    "interop_threads": "get_num_interop_threads",
    "sharing_strategy": "multiprocessing.get_sharing_strategy",
}


def about() -> str:
    """A JSON object for the `process` record; null for what cannot be told."""
    facts: dict[str, Any] = {
        "python": platform.python_version(),
        "implementation": sys.implementation.name,
        "platform": sys.platform,
        "argv0": sys.argv[0] if getattr(sys, "argv", None) else "",
        "start_method_default": start_method_default(),
    }
    torch = sys.modules.get("torch")
    return json.dumps(facts | {key: _told(torch, path) for key, path in _OF_TORCH.items()})


def start_method_default() -> str:
    """How a process is started where nobody says how; asked without settling it, as a plain question would."""
    multiprocessing: Any = sys.modules["multiprocessing"]
    return str(multiprocessing.get_start_method(allow_none=True) or multiprocessing.get_all_start_methods()[0])


def _told(torch: Any, path: str) -> Any:
    try:
        value = reduce(getattr, path.split("."), torch)
        value = value() if callable(value) else value
    except Exception as error:
        pass_on(error, asked_script=True)
        return None
    return value if value is None or isinstance(value, int) else str(value)
