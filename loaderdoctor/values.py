"""A value is measured with an interval, or missing with a reason; never a silent zero."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Measured:
    """A quantity with its 95 % interval.

    `n` is the number of observations behind it, `unit` is "s", "bytes", "share", "batches", ...
    """

    value: float
    low: float
    high: float
    n: int
    unit: str

    @classmethod
    def exact(cls, value: float, unit: str, n: int = 1) -> Measured:
        """A quantity known without error: a setting, a count, a limit of the machine."""
        return cls(value, value, value, n, unit)

    def __bool__(self) -> bool:
        """Refused: whether a measurement is there is asked by `isinstance`, how large it is by `.value`."""
        message = "ask isinstance(value, Measured), or compare value.value"
        raise TypeError(message)


@dataclass(frozen=True, slots=True)
class Missing:
    """Why a quantity is not known: a slug for programs, and a sentence for people."""

    slug: str
    reason: str

    def __bool__(self) -> bool:
        """Refused, as for `Measured`."""
        message = "ask isinstance(value, Missing)"
        raise TypeError(message)


Value = Measured | Missing


@dataclass(frozen=True)
class Interval:
    """low <= best <= high."""

    low: float
    best: float
    high: float

    @classmethod
    def of(cls, measured: Measured) -> Interval:
        """The interval of a measurement."""
        return cls(measured.low, measured.value, measured.high)


def value_or_none(value: Value) -> float | None:
    """The bare number for a JSON field; None where it is missing."""
    return value.value if isinstance(value, Measured) else None
