"""The figures of told against true, as lines and as the table that is published."""

from __future__ import annotations

import json
from math import exp, log
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


def line(row: dict[str, Any]) -> str:
    low, best, high = row["told"]
    mark = " " if low <= row["true"] <= high else "*"
    return (
        f"{row['pipeline']} {json.dumps(row['change']):28} told {best:5.2f} [{low:.2f}, {high:.2f}]{mark} "
        f"true {row['true']:5.2f} error {error(row):+6.1%} equal runs {row['noise']:.1%}"
    )


def error(row: dict[str, Any]) -> float:
    """By how much the told speed-up is larger than the true one."""
    return float(exp(log(row["told"][1] / row["true"])) - 1)


def summary(rows: Sequence[dict[str, Any]]) -> str:
    """Median, nine of ten, and how many truths lie in their interval."""
    errors = sorted(abs(log(row["told"][1] / row["true"])) for row in rows)
    noise = sorted(row["noise"] for row in rows)
    if not rows:
        return "nothing was measured"
    inside = sum(row["told"][0] <= row["true"] <= row["told"][2] for row in rows)
    return (
        f"{len(rows)} changes: error {_at(errors, 0.5):.1%} in the median, {_at(errors, 0.9):.1%} in nine of ten; "
        f"interval holds {inside / len(rows):.0%}; equal runs differ by {_at(noise, 0.5):.1%} in the median, "
        f"{_at(noise, 0.9):.1%} in nine of ten"
    )


def _at(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def markdown(rows: Sequence[dict[str, Any]]) -> str:
    """The table with its summary."""
    lines = ["# Told against true", "", summary(rows) + ".", ""]
    lines += ["| pipeline | change | told | from | to | true | equal runs |", "|---|---|" + "--:|" * 5]
    for row in rows:
        told = " | ".join(f"{row['told'][place]:.2f}" for place in (1, 0, 2))
        change = ", ".join(f"{name} {value}" for name, value in row["change"].items())
        lines.append(f"| {row['pipeline']} | {change} | {told} | {row['true']:.2f} | {row['noise']:.1%} |")
    return "\n".join(lines) + "\n"
