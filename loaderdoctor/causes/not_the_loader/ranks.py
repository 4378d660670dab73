"""What causes of several ranks ask first."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals


def has_ranks(signals: Signals, _loader: LoaderSignals) -> str | None:
    """For causes that lie between ranks."""
    return None if signals.ranks > 1 else "One process trains."
