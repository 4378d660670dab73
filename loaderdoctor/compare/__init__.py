"""Holds two recorded runs against each other: before and after."""

from __future__ import annotations

from loaderdoctor.compare.comparison import FASTER, NO_DIFFERENCE, NOT_COMPARABLE, SLOWER, Comparison, compare

__all__ = ["FASTER", "NOT_COMPARABLE", "NO_DIFFERENCE", "SLOWER", "Comparison", "compare"]
