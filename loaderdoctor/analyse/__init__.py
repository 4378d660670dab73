"""Records to signals: windows, phases and values with intervals."""

from __future__ import annotations

from loaderdoctor.analyse.build import signals_of

__all__ = ["signals_of"]
