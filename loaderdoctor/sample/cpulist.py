"""The kernel's way to write a set of CPUs: 0-3,8."""

from __future__ import annotations


def parse_cpu_list(text: str) -> frozenset[int]:
    """CPU numbers in a list such as "0-3,8"; empty where it cannot be read as one."""
    cpus: set[int] = set()
    try:
        for part in text.split(","):
            first, _, last = part.strip().partition("-")
            if first:
                cpus.update(range(int(first), int(last or first) + 1))
    except ValueError:
        return frozenset()
    return frozenset(cpus)
