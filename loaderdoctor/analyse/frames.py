"""Records as data frames: loops over loaders, and the calls of next() in them.

Times stay int64 ns of the run's clock.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from loaderdoctor.probe.layout import BUILT, KIND_OF, KINDS, UNKNOWN

if TYPE_CHECKING:
    from loaderdoctor.record.run import ProcessRecords

NS = 1e9  # a second


def table(process: ProcessRecords, kind: str) -> pd.DataFrame:
    """All records of one kind in order of writing; its columns are there even where there are none."""
    columns = process.tables.get(kind)
    if columns is None:
        return pd.DataFrame({name: np.empty(0, dtype=np.int64) for name in KINDS[KIND_OF[kind]][1]})
    return pd.DataFrame(dict(columns))


def loops_of(main: ProcessRecords) -> pd.DataFrame:
    """Loops over loaders in the order they began: index `loop`; iterator, loader, begin_ns, end_ns (of building), ...

    An iterator whose building left no record begins with its first call.
    """
    loops = table(main, "iterator")
    calls = table(main, "next")
    unseen = calls[~calls["iterator"].isin(loops["iterator"])].groupby("iterator", as_index=False).first()
    if len(unseen):
        begun = unseen[["iterator", "begin_ns", "thread", "grad_enabled"]].assign(
            loader=UNKNOWN, how=BUILT, end_ns=unseen["begin_ns"], sampler_ns=0, epoch=0
        )
        loops = pd.concat([loops, begun], ignore_index=True)
    loops = loops.sort_values("begin_ns", kind="stable").reset_index(drop=True)
    loops.index.name = "loop"
    return loops


def calls_of(main: ProcessRecords, loops: pd.DataFrame) -> pd.DataFrame:
    """Calls of next() in the order they were made, each with its `loop`, `loader` and `key`: the batch's number in the loop."""
    calls = in_loop(table(main, "next"), loops, "begin_ns")
    calls["key"] = calls["batch"].where(calls["batch"] >= 0, calls["ordinal"])
    return calls


def in_loop(rows: pd.DataFrame, loops: pd.DataFrame, at: str) -> pd.DataFrame:
    """Rows with an iterator, sorted by time `at`, with the `loop` and `loader` that the iterator served then.

    A persistent iterator serves one loop after the other.  Rows from before their iterator's first loop are left out.
    """
    known = loops.reset_index()[["begin_ns", "iterator", "loop", "loader"]].rename(columns={"begin_ns": "_begun_ns"})
    joined = pd.merge_asof(
        rows.sort_values(at, kind="stable"), known, left_on=at, right_on="_begun_ns", by="iterator"
    ).dropna(subset=["loop"])
    return joined.drop(columns="_begun_ns").astype({"loop": np.int64, "loader": np.int64}).reset_index(drop=True)


def json_object(text: str) -> dict[str, Any] | None:
    """The object in a text that a process recorded; None where the text is damaged."""
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
