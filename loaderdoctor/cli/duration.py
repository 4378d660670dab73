"""A time on the command line: seconds, or a number with its unit."""

from __future__ import annotations

import re

import click

UNITS_S = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400}
_WRITTEN = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]*)")


class Duration(click.ParamType[float]):
    """600, 90s, 10m, 1.5h, 1d; in seconds, above zero."""

    name = "time"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The seconds."""
        if isinstance(value, float):
            return value
        found = _WRITTEN.fullmatch(str(value).strip().lower())
        if found is None or found[2] not in UNITS_S or not float(found[1]):
            self.fail(f"{value!r} is no time: write 600, 90s, 10m or 2h.", param, ctx)
        return float(found[1]) * UNITS_S[found[2]]


DURATION = Duration()
