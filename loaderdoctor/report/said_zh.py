"""What causes and signals say, in Chinese: English sentences with holes for their values, and the same in Chinese."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

SAID: Mapping[str, str] = {}
