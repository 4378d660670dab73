"""Record files as they lie on disk: rows of one size, in chunks that each say whose they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from loaderdoctor.errors import ExitCode, LoaderDoctorError
from loaderdoctor.probe.layout import HEADER, KINDS, MAGIC, RECORD_BYTES, SCHEMA

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    import numpy.typing as npt

    Rows = npt.NDArray[np.int64]
    Header = Mapping[str, int]

WORDS = RECORD_BYTES // 8
BLOCK_ROWS = 32_768  # 4 MB: a long run is read without ever being in memory


def pieces(path: Path) -> Iterator[tuple[Header, Rows]]:
    """The file in order, in pieces of one process each; none where it does not begin with a header.

    Each piece may be written to.  LoaderDoctorError `run-too-new`.
    """
    header: Header | None = None
    with path.open("rb") as file:
        # No more is asked for than there is: a read makes room for all that it may get, a hundred times a small file.
        block_bytes = min(BLOCK_ROWS, 1 + path.stat().st_size // RECORD_BYTES) * RECORD_BYTES
        while raw := file.read(block_bytes):
            whole = len(raw) // RECORD_BYTES
            rows = np.frombuffer(bytearray(raw[: whole * RECORD_BYTES]), dtype="<i8").reshape(whole, WORDS)
            starts = np.flatnonzero((rows[:, 0] == HEADER) & (rows[:, 1] == MAGIC))
            if header is None and (len(starts) == 0 or starts[0] != 0):
                return
            if header is not None and (len(starts) == 0 or starts[0] > 0):
                yield from _usable(header, rows[: starts[0] if len(starts) else whole])
            for start, end in zip(starts, np.append(starts, whole)[1:], strict=True):
                header = fields_of(HEADER, rows[start])
                _refuse_newer(header, path)
                yield from _usable(header, rows[start + 1 : end])


def torn_of(path: Path) -> int:
    """Records at the end of the file of which only a part was written."""
    return int(path.stat().st_size % RECORD_BYTES > 0)


def fields_of(kind: int, row: Rows) -> dict[str, int]:
    """A record's fields by their names."""
    return {name: int(value) for name, value in zip(KINDS[kind][1], row[1:], strict=False)}


def _usable(header: Header, rows: Rows) -> Iterator[tuple[Header, Rows]]:
    if header["record_bytes"] == RECORD_BYTES:
        yield header, rows


def _refuse_newer(header: Header, path: Path) -> None:
    if header["record_bytes"] == RECORD_BYTES and header["schema"] > SCHEMA:
        sentence = f"{path.name} has record schema {header['schema']}; this loaderdoctor reads {SCHEMA}. Update it."
        raise LoaderDoctorError("run-too-new", sentence, ExitCode.NO_REPORT)
