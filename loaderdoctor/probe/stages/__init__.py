"""Splits the making of a batch into named stages by wrappers that are put on when a library is imported.

The wrappers are inert unless a batch is being made in the same thread: `batch_began` and `batch_ended` say so.  What they
add up is written as `stage` records, once a second at most.
"""

from __future__ import annotations

from ..stage_clock import batch_began, batch_ended, flush, forget
from .register import register

__all__ = ["batch_began", "batch_ended", "flush", "forget", "register"]
