"""`loaderdoctor check`: what this machine allows, and what is missing."""

from __future__ import annotations

import sys
from importlib import metadata
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

GIB = 1 << 30
NEEDED = ("torch", "pandas", "numpy", "psutil", "jinja2", "weasyprint", "nvidia-ml-py", "click", "rich")


@click.command()
def check() -> None:
    """Say what this machine allows a training, and what loaderdoctor misses here."""
    from rich.console import Console
    from rich.table import Table

    from loaderdoctor.sample import limits

    table = Table(box=None, pad_edge=False, show_header=False)
    for name, what in (*_machine(limits.environment()), *_packages(), _gpu(), _pdf()):
        table.add_row(name, what)
    Console().print(table)


def _machine(facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "python", f"{sys.version.split()[0]} on {sys.platform}"
    for key, value in facts.items():
        if key != "missing":
            yield key, _readable(key, value)
    for key, reason in facts.get("missing", {}).items():
        yield key, f"not known: {reason}"


def _readable(key: str, value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {entry}" for name, entry in value.items()) or "-"
    if key.endswith("_bytes") and isinstance(value, int):
        return f"{value / GIB:.1f} GiB"
    return str(value)


def _packages() -> Iterator[tuple[str, str]]:
    for name in NEEDED:
        try:
            yield name, metadata.version(name)
        except metadata.PackageNotFoundError:
            yield name, "MISSING: pip install " + name


def _gpu() -> tuple[str, str]:
    try:
        import pynvml

        pynvml.nvmlInit()
        count = pynvml.nvmlDeviceGetCount()
        names = [pynvml.nvmlDeviceGetName(pynvml.nvmlDeviceGetHandleByIndex(k)) for k in range(count)]
        pynvml.nvmlShutdown()
    except Exception as error:  # noqa: BLE001 - every driver fails in its own way
        return "NVIDIA GPU", f"none to be seen ({error})"
    return "NVIDIA GPU", ", ".join(map(str, names)) or "none"


def _pdf() -> tuple[str, str]:
    from loaderdoctor.report import pdf

    missing = pdf.missing_libraries()
    return "PDF", "can be written" if missing is None else f"MISSING: {missing}"
