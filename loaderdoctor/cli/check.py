"""`loaderdoctor check`: what this machine allows, and what is missing."""

from __future__ import annotations

import platform
from importlib import metadata
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Row = tuple[str, str]

GIB = 1 << 30
MIB = 1 << 20
PACKAGES = ("torch", "numpy", "pandas", "psutil", "jinja2", "click", "rich", "nvidia-ml-py")


def _bytes(value: Any) -> str:
    return f"{value / GIB:.1f} GiB" if value >= GIB else f"{value / MIB:.1f} MiB"


# key of sample.limits.environment -> its name here, and how its value reads
MACHINE: Mapping[str, tuple[str, Callable[[Any], str]]] = {
    "os": ("system", str),
    "kernel": ("kernel", str),
    "container": ("container", str),
    "cpu_model": ("CPU", str),
    "cpus_present": ("CPUs present", str),
    "cpus_allowed": ("CPUs allowed", "{:g}".format),
    "cpus_quota": ("CPU quota", "{:g}".format),
    "cpu_governor": ("CPU governor", str),
    "memory_total_bytes": ("memory", _bytes),
    "memory_limit_bytes": ("memory limit", _bytes),
    "swap_total_bytes": ("swap", _bytes),
    "shm_total_bytes": ("shared memory", _bytes),
    "shm_free_bytes": ("shared memory, free", _bytes),
    "ulimit_open_files": ("open files", str),
    "ulimit_locked_memory_bytes": ("locked memory", _bytes),
    "working_directory_file_system": ("file system here", str),
}


@click.command()
def check() -> None:
    """Say what this machine allows a training, and what loaderdoctor misses here."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from loaderdoctor.sample import limits

    console = Console(soft_wrap=False)
    for title, rows in (("This machine", _machine(limits.environment())), ("What loaderdoctor needs", _needs())):
        table = Table(title=title, title_justify="left", box=None, pad_edge=False, show_header=False)
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for name, what in rows:
            table.add_row(Text(name), Text(what))
        console.print(table)


def _machine(facts: Mapping[str, Any]) -> Iterator[Row]:
    missing = facts.get("missing", {})
    for key, (name, reading) in MACHINE.items():
        if facts.get(key) is not None:
            yield name, reading(facts[key])
        elif key in facts:
            yield name, "unlimited" if key.startswith("ulimit_") else "none"
        elif key in missing:
            yield name, f"none: {missing[key]}"


def _needs() -> Iterator[Row]:
    yield "python", platform.python_version()
    for name in PACKAGES:
        yield name, _version(name)
    yield "NVIDIA GPU", _gpus()
    yield "PDF", _pdf()


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return f"missing: pip install {package}"


def _gpus() -> str:
    try:
        import pynvml

        pynvml.nvmlInit()
        try:
            handles = [pynvml.nvmlDeviceGetHandleByIndex(k) for k in range(pynvml.nvmlDeviceGetCount())]
            return ", ".join(str(pynvml.nvmlDeviceGetName(handle)) for handle in handles) or "none"
        finally:
            pynvml.nvmlShutdown()
    except Exception as error:  # noqa: BLE001 - every driver fails in a way of its own
        return f"none: {error}"


def _pdf() -> str:
    try:
        import weasyprint
    except (ImportError, OSError):  # it loads Pango as it is imported
        from loaderdoctor.report.words import Words

        return Words("en")("pdf.libraries-missing")
    return f"can be written, by WeasyPrint {weasyprint.__version__}"
