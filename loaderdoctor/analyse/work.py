"""What making each batch took, wherever it was made: fetch, the thread's time, sending, receiving, pinning, by batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from loaderdoctor.analyse.frames import in_loop, table
from loaderdoctor.probe.layout import KIND_OF, KINDS, UNKNOWN

if TYPE_CHECKING:
    from loaderdoctor.analyse.ranks import Rank
    from loaderdoctor.analyse.timeline import Timeline

# A thread that waited without reading anything was not held up by a disk.  One that read was, for at most as long as a
# slow disk needs: a seek of a busy hard disk for each stretch that the kernel reads ahead, and its slowest transfer.
_SEEK_NS = 20_000_000
_READ_AHEAD_BYTES = 131_072
_SLOWEST_BYTES_PER_S = 10_000_000
_BLOCK_BYTES = 512  # unit of ru_inblock
_PAGE_BYTES = 4096

_BUSY = "idle_ns got_ns put_ns run_delay_ns major_faults blocks_in read_bytes read_chars rss_bytes collected"
_SEND = "send_ns pickle_ns message_bytes tensors payload_bytes content"


def made_of(rank: Rank, timeline: Timeline) -> pd.DataFrame:
    """A row a batch that was made, used or not, in order of time.

    loop, key (the batch's number in its loop), worker, pid, begin_ns, end_ns, samples, items_ns, slowest_ns, collate_ns,
    wall_ns and what it consists of: cpu_ns, disk_ns, blocked_ns, run_queue_ns; then the fields of `busy` and `send`,
    receive_ns, pin_ns, pin_cpu_ns, pin_bytes.  What was not recorded is NaN.
    """
    made = pd.concat([_made_in_main(rank, timeline), _made_in_workers(rank, timeline)], ignore_index=True)
    made = made.sort_values("begin_ns", kind="stable").drop_duplicates(["loop", "key"], keep="last")
    # A persistent iterator that starts over may have made batches of the last loop just then; only the last one counts.
    made = _with_parts(made)
    made = made.merge(_received(rank, timeline), on=["loop", "key"], how="left")
    return made.merge(_pinned(rank, timeline), on=["loop", "key"], how="left").reset_index(drop=True)


def _made_in_main(rank: Rank, timeline: Timeline) -> pd.DataFrame:
    fetches = table(rank.main, "fetch")
    fetches = in_loop(fetches[fetches["iterator"] != UNKNOWN], timeline.loops, "begin_ns")
    fetches = _with_busy(fetches.assign(life=-1), table(rank.main, "busy").assign(life=-1))
    return fetches.assign(key=fetches["batch"], pid=rank.main.pid)


def _made_in_workers(rank: Rank, timeline: Timeline) -> pd.DataFrame:
    fetches = _of_workers(rank, "fetch")
    fetches = fetches[(fetches["worker"] != UNKNOWN) & (fetches["iterator"] == UNKNOWN)]
    lives = dict(enumerate(rank.workers))
    fetches = fetches.assign(iterator=fetches["life"].map(lambda life: lives[life].iterator).astype(np.int64))
    fetches = in_loop(fetches, timeline.loops, "begin_ns")
    fetches = _with_send(_with_busy(fetches, _of_workers(rank, "busy")), _of_workers(rank, "send"))
    return fetches.assign(key=fetches["batch"], pid=fetches["life"].map(lambda life: lives[life].pid))


def _of_workers(rank: Rank, kind: str) -> pd.DataFrame:
    """Records of one kind of all workers; `life` is the place of each worker in the rank's list."""
    none = pd.DataFrame({name: np.empty(0, dtype=np.int64) for name in (*KINDS[KIND_OF[kind]][1], "life")})
    frames = [
        table(life.process, kind).assign(life=place)
        for place, life in enumerate(rank.workers)
        if life.process is not None and kind in life.process.tables
    ]
    return pd.concat(frames, ignore_index=True) if frames else none


def _with_busy(fetches: pd.DataFrame, busy: pd.DataFrame) -> pd.DataFrame:
    """What the thread spent its time on, from the record whose span holds the fetch."""
    spans = busy[["life", *_BUSY.split()]].sort_values("got_ns", kind="stable")
    joined = pd.merge_asof(fetches, spans, left_on="begin_ns", right_on="got_ns", by="life")
    holds = joined["put_ns"] >= joined["begin_ns"]
    joined[_BUSY.split()] = joined[_BUSY.split()].astype(float).where(holds)
    return joined


def _with_send(fetches: pd.DataFrame, send: pd.DataFrame) -> pd.DataFrame:
    """The first time that the batch was sent after its making began: numbers begin anew in each loop."""
    sent = send.assign(send_ns=send["end_ns"] - send["begin_ns"], sent_ns=send["begin_ns"])
    sent = sent[["life", "batch", "sent_ns", *_SEND.split()]].sort_values("sent_ns", kind="stable")
    joined = pd.merge_asof(
        fetches, sent, left_on="begin_ns", right_on="sent_ns", by=["life", "batch"], direction="forward"
    )
    return joined.drop(columns="sent_ns")


def _received(rank: Rank, timeline: Timeline) -> pd.DataFrame:
    """Reading and unpickling in the main process, or in its pin thread."""
    arrivals = in_loop(table(rank.main, "arrival"), timeline.loops, "begin_ns")
    arrivals["receive_ns"] = (arrivals["end_ns"] - arrivals["received_ns"]).where(arrivals["received_ns"] >= 0)
    arrivals = arrivals[arrivals["batch"] >= 0].drop_duplicates(["loop", "batch"], keep="last")
    return arrivals.rename(columns={"batch": "key"})[["loop", "key", "receive_ns"]]


def _pinned(rank: Rank, timeline: Timeline) -> pd.DataFrame:
    pins = in_loop(table(rank.main, "pin"), timeline.loops, "begin_ns")
    pins = pins.assign(pin_ns=pins["end_ns"] - pins["begin_ns"]).drop_duplicates(["loop", "batch"], keep="last")
    names = {"batch": "key", "cpu_ns": "pin_cpu_ns", "bytes": "pin_bytes", "tensors": "pin_tensors"}
    return pins.rename(columns=names)[["loop", "key", "pin_ns", "pin_cpu_ns", "pin_bytes", "pin_tensors"]]


def _with_parts(made: pd.DataFrame) -> pd.DataFrame:
    """Splits the wall time of each fetch; the parts add up to it."""
    made = made.assign(**{name: made.get(name, np.nan) for name in (*_BUSY.split(), *_SEND.split())})
    unknown_to_nan = made.select_dtypes(np.number).columns.difference(["worker", "iterator"])
    made[unknown_to_nan] = made[unknown_to_nan].astype(float).where(made[unknown_to_nan] != UNKNOWN)
    made["wall_ns"] = made["end_ns"] - made["begin_ns"]
    cpu_ns = made["cpu_ns"].clip(lower=0, upper=made["wall_ns"])
    run_queue_ns = made["run_delay_ns"].clip(lower=0, upper=made["wall_ns"] - cpu_ns)
    waited_ns = made["wall_ns"] - cpu_ns - run_queue_ns.fillna(0)
    disk_ns = np.minimum(waited_ns, _most_disk_ns(made))
    return made.assign(
        cpu_ns=cpu_ns, run_queue_ns=run_queue_ns, disk_ns=disk_ns, blocked_ns=waited_ns - disk_ns.fillna(0)
    )


def _most_disk_ns(made: pd.DataFrame) -> pd.Series[float]:
    """The longest that a slow disk would take for what was read from it; NaN where that is not known."""
    read_bytes = np.fmax(made["blocks_in"] * _BLOCK_BYTES, made["read_bytes"])
    read_bytes = np.fmax(read_bytes, made["major_faults"] * _PAGE_BYTES)
    seeks = np.fmax(np.ceil(read_bytes / _READ_AHEAD_BYTES), made["major_faults"])
    return seeks * _SEEK_NS + read_bytes / _SLOWEST_BYTES_PER_S * 1e9
