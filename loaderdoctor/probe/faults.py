"""Whose an exception is that arose while code of ours ran: ours is swallowed, the script's goes on its way.

A signal's handler runs between any two instructions of the main thread, those of our hooks included, and what it raises (a
timeout, say) is meant for the script.  So is what one thread raises in another.
"""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType

_BUILTIN = "builtins"
_TORCH = "torch"
_OURS = __name__.partition(".")[0]


def pass_on(error: Exception, *, asked_script: bool = False) -> None:
    """Raise the exception again if it is the script's own: call it first in each `except Exception` of ours.

    `asked_script`: our code had called the script's (a dataset's `__len__`), whose exceptions are the answer "not known".
    """
    if _is_from_handler(error) or not (asked_script or _may_be_ours(error)):
        raise error


def _may_be_ours(error: Exception) -> bool:
    """Whether Python, its library, torch or we define the exception; our code raises no other."""
    package = type(error).__module__.partition(".")[0]
    return package in {_BUILTIN, _TORCH, _OURS} or package in sys.stdlib_module_names


def _is_from_handler(error: Exception) -> bool:
    handlers = set(_handler_codes())
    traceback = error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code in handlers:
            return True
        traceback = traceback.tb_next
    return False


def _handler_codes() -> Iterator[CodeType]:
    """The code of every signal handler that is written in Python."""
    for number in signal.valid_signals():
        handler: Any = signal.getsignal(number)
        if callable(handler) and not isinstance(handler, signal.Handlers):
            code = _code_of(handler)
            if code is not None:
                yield code


def _code_of(handler: Any) -> CodeType | None:
    handler = getattr(handler, "func", handler)  # a functools.partial
    function = getattr(handler, "__func__", handler)
    code: CodeType | None = getattr(function, "__code__", None)
    if code is None:
        code = getattr(vars(type(handler)).get("__call__"), "__code__", None)
    return code
