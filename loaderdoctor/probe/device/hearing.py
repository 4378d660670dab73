"""Whether the hooks on tensors and streams have anything to tell, thread by thread: one look, on every call of theirs."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .clock import DeviceClock


class Hearing(threading.local):
    """What this thread's hooks ask first, and what they remember.

    clock: the one that wants to hear of copies and waits now; None in steps that are not measured, in threads that take
    no batches, and inside a call that is being told already.
    """

    clock: DeviceClock | None = None
    pinned = False  # what the last tensor said that was asked
    unasked = 0  # tensors to pass over before the next small one is asked


hearing = Hearing()
