"""Which calls are stages of making a batch: told as they are called, without a wrapper around any."""

from __future__ import annotations

from .known import Known

__all__ = ["Known"]
