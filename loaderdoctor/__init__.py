"""Says why a PyTorch training starves for data, what to change, and how much faster it gets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from loaderdoctor.api import Profile, diagnose, load, profile

__all__ = ["Profile", "__version__", "diagnose", "load", "profile"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """What is public, imported when it is asked for: pandas and torch are not for every import of the package."""
    if name.startswith("_") or name not in __all__:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    from loaderdoctor import api

    return getattr(api, name)


def __dir__() -> list[str]:
    return sorted(__all__)
