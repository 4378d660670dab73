"""The records that a drawing (drawn.py) would leave, and a run on disk made of them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import drawn
import numpy as np

from loaderdoctor.probe.layout import (
    BUILT,
    HEADER,
    KIND_OF,
    KINDS,
    MAGIC,
    METHOD_EVENTS,
    NEXT_BATCH,
    RECORD,
    RECORD_BYTES,
    RESET,
    ROLE_MAIN,
    ROLE_WORKER,
    SCHEMA,
    TEXT,
    TEXT_BYTES,
    TEXT_RECORD,
    UNKNOWN,
)
from loaderdoctor.record import write_meta
from loaderdoctor.record.run import ProcessRecords, Run, RunMeta

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

UNIT_S = 0.01
MAIN_PID, WORKER_PID, THREAD = 100, 200, 7
START_NS = 1_000_000_000_000
WORKER_START_NS = 1_000_000
SITES = {drawn.TRAIN: "/home/user/train.py:42", drawn.EVAL: "/home/user/train.py:43"}
FIELDS = RECORD_BYTES // 8 - 1


class Records:
    """The records of one process, as the reader hands them on."""

    def __init__(self, pid: int, role: int = ROLE_MAIN, opened_ns: int = START_NS, rank: int = UNKNOWN) -> None:
        names = KINDS[HEADER][1]
        values = (
            MAGIC,
            SCHEMA,
            RECORD_BYTES,
            role,
            pid,
            1,
            opened_ns,
            0,
            rank,
            rank,
            UNKNOWN,
            UNKNOWN,
            UNKNOWN,
            UNKNOWN,
        )
        self.header = dict(zip(names, values, strict=True))
        self.rows: dict[str, list[dict[str, int]]] = {}
        self.texts: dict[int, str] = {}

    def put(self, kind: str, **fields: int) -> None:
        """One record; a field left out is not known."""
        names = KINDS[KIND_OF[kind]][1]
        unknown = set(fields) - set(names)
        if unknown:
            message = f"{kind} has no {unknown}"
            raise ValueError(message)
        self.rows.setdefault(kind, []).append({name: fields.get(name, UNKNOWN) for name in names})

    def text(self, text: str) -> int:
        """The number of a text."""
        for number, known in self.texts.items():
            if known == text:
                return number
        self.texts[len(self.texts) + 1] = text
        return len(self.texts)

    def done(self) -> ProcessRecords:
        """What was put so far."""
        tables = {
            kind: {name: np.array([row[name] for row in rows], dtype=np.int64) for name in rows[0]}
            for kind, rows in self.rows.items()
        }
        return ProcessRecords(self.header, tables, dict(self.texts))


def run_of(processes: Sequence[ProcessRecords], *, ended_s: float, **meta: Any) -> Run:
    """A run of these processes that ended `ended_s` after it began."""
    plain = RunMeta(
        id="train-20260101T000000Z",
        tool_version="0.1.0",
        command=("python", "train.py"),
        working_directory="/home/user",
        started_utc="2026-01-01T00:00:00Z",
        started_ns=START_NS,
        ended_ns=START_NS + round(ended_s * 1e9),
        exit_code=0,
    )
    return Run(replace(plain, **meta), tuple(processes))


def run_from(drawing: str, *, unit_s: float = UNIT_S, meta: Mapping[str, Any] | None = None, **options: Any) -> Run:
    """The run that `drawing` (see drawn.py) shows; `options` are the fields of `Script`."""
    text = drawn.read(drawing)
    ended = {"ended_ns": None, "exit_code": None} if text.killed else {}
    processes = Script(**options).records(text, unit_s)
    return run_of(processes, ended_s=text.end * unit_s, **(ended | dict(meta or {})))


def ranks_from(drawings: Sequence[str], *, unit_s: float = UNIT_S, **options: Any) -> Run:
    """One run of several ranks, each drawn on its own."""
    texts = [drawn.read(drawing) for drawing in drawings]
    processes = [
        process
        for rank, text in enumerate(texts)
        for process in Script(**options, rank=rank, pid=MAIN_PID + rank).records(text, unit_s)
    ]
    return run_of(processes, ended_s=max(text.end for text in texts) * unit_s)


@dataclass
class Script:
    """What a drawing does not show of a script, and the records of its main process and of its training loader's workers."""

    pid: int = MAIN_PID
    rank: int = UNKNOWN
    thread: int = THREAD
    optimizer_thread: int = THREAD
    optimizer: bool = True  # whether there are optimizer steps
    num_workers: int = 0  # of the training loader
    settings: Mapping[str, Any] = field(default_factory=dict)
    eval_settings: Mapping[str, Any] = field(default_factory=dict)
    eval_grad_enabled: bool = False
    fetch_s: float | None = None  # to make a batch; None: what the script waited for it
    cpu_share: float = 1.0  # of that
    run_queue_share: float = 0.0
    bytes_from_disk: int = 0  # a batch
    idle_s: float = 0.0  # what a worker waits for an index before each batch
    unused: int = 0  # batches made at the end of each loop that nobody takes
    arrivals: Mapping[int, Sequence[int]] = field(default_factory=dict)  # batch -> which came while it was waited for
    ready: Sequence[int] = ()  # batches ready at each next() of the training loader
    device: Sequence[tuple[float, float, float]] = ()  # its (exposed wait, exposed copy, step) on the device, in s
    device_every: int = 1  # only each n-th of them is measured
    device_heard_every: int = 1  # only in each n-th are copies and waits of the host known
    device_noise_s: float = 0.0  # of a wait on the device's clock
    device_sync_s: float = 0.0  # what the host waits for the device in each step

    def records(self, drawing: drawn.Drawing, unit_s: float) -> list[ProcessRecords]:
        """The main process, and the workers."""
        self.unit_s = unit_s
        self.main = Records(self.pid, rank=self.rank)
        self._called: dict[int, int] = {}  # iterator -> calls of next() so far
        self._workers: list[Records] = []
        self._pool: list[Records] = []
        self._ready, self._device = list(self.ready), list(self.device)
        about = self.main.text(json.dumps({"torch": "2.13.0", "torch_threads": 1}))
        self.main.put("process", at_ns=START_NS, about_text=about)
        for number in sorted({loop.loader for loop in drawing.loops}):
            self._put_loader(number)
        for loop in drawing.loops:
            self._put_loop(loop)
        for at in drawing.steps if self.optimizer else ():
            self.main.put("optimizer_step", optimizer=1, end_ns=self._ns(at), thread=self.optimizer_thread)
        if not drawing.killed:
            self.main.put("end", at_ns=self._ns(drawing.end), why=0)
        return [process.done() for process in (self.main, *self._workers)]

    def _ns(self, units: float) -> int:
        return START_NS + round(units * self.unit_s * 1e9)

    def _worker(self, index: int, opened_ns: int) -> Records:
        pid = WORKER_PID + 1000 * (self.pid - MAIN_PID) + len(self._workers)
        worker = Records(pid, ROLE_WORKER, opened_ns)
        ready_ns = opened_ns + WORKER_START_NS
        worker.put("worker_ready", worker=index, pid=pid, born_ns=opened_ns, ready_ns=ready_ns, affinity=8)
        self._workers.append(worker)
        return worker

    def _put_loader(self, number: int) -> None:
        own = self.settings if number == drawn.TRAIN else self.eval_settings
        workers = self.num_workers if number == drawn.TRAIN else 0
        settings = {"batch_size": 8, "dataset_len": 800, "num_workers": workers, **own}
        site, text = self.main.text(SITES[number]), self.main.text(json.dumps(settings))
        self.main.put("loader", loader=number, built_ns=START_NS, site_text=site, settings_text=text)

    def _put_loop(self, loop: drawn.Loop) -> None:
        training = loop.loader == drawn.TRAIN
        begin_ns, grad_enabled = self._ns(loop.begin), int(training or self.eval_grad_enabled)
        goes_on = training and bool(self._pool) and bool(self.settings.get("persistent_workers"))
        if goes_on:
            loop = self._continued(loop)
        self.main.put(
            "iterator",
            iterator=loop.iterator,
            loader=loop.loader,
            how=RESET if goes_on else BUILT,
            begin_ns=begin_ns,
            end_ns=self._ns(loop.end),
            thread=self.thread,
            epoch=loop.epoch,
            grad_enabled=grad_enabled,
        )
        if training and not goes_on:
            self._start_workers(loop)
        for batch, call in enumerate(loop.calls):
            self._put_next(call, batch, grad_enabled, self._pool if training else [])
            if call.status == NEXT_BATCH:
                self._put_batch(call, batch, begin_ns, self._pool if training else [])
            if call.status == NEXT_BATCH and training and self._device:
                times_s = self._device.pop(0)
                if call.ordinal % self.device_every == 0:
                    self._put_device_step(call, *times_s)
        for batch in range(len(loop.calls), len(loop.calls) + self.unused):
            last = replace(loop.calls[-1], begin=loop.calls[-1].end - 1)
            self._put_batch(last, batch, begin_ns, self._pool if training else [])
        if loop.left_at is not None:
            left_ns = self._ns(loop.left_at)
            self.main.put("shutdown", iterator=loop.iterator, begin_ns=left_ns, end_ns=left_ns)
        self._called[loop.iterator] = self._called.get(loop.iterator, 0) + len(loop.calls)

    def _continued(self, loop: drawn.Loop) -> drawn.Loop:
        """The loop as one more of the first loop's iterator, which goes on counting its calls."""
        iterator = min(self._called)
        before = self._called[iterator]
        calls = [replace(call, iterator=iterator, ordinal=call.ordinal + before) for call in loop.calls]
        return replace(loop, iterator=iterator, calls=calls)

    def _start_workers(self, loop: drawn.Loop) -> None:
        begin_ns = self._ns(loop.begin)
        self._pool = [self._worker(index, begin_ns) for index in range(self.num_workers)]
        for index, worker in enumerate(self._pool):
            its = {"iterator": loop.iterator, "worker": index, "pid": worker.header["pid"]}
            self.main.put("worker_started", **its, begin_ns=begin_ns, end_ns=begin_ns, start_method=0)

    def _put_next(self, call: drawn.Call, batch: int, grad_enabled: int, pool: Sequence[Records]) -> None:
        self.main.put(
            "next",
            iterator=call.iterator,
            ordinal=call.ordinal,
            begin_ns=self._ns(call.begin),
            end_ns=self._ns(call.end),
            status=call.status,
            batch=batch if call.status == NEXT_BATCH else UNKNOWN,
            worker=batch % len(pool) if pool else UNKNOWN,
            ready=self._ready.pop(0) if pool and self._ready else UNKNOWN,
            stash=0 if pool else UNKNOWN,
            thread=self.thread,
            depth=0,
            grad_enabled=grad_enabled,
            sampler_ns=1000,
        )

    def _put_batch(self, call: drawn.Call, batch: int, loop_ns: int, pool: Sequence[Records]) -> None:
        worker = batch % len(pool) if pool else UNKNOWN
        for arrived in self.arrivals.get(batch, ()):
            times = dict.fromkeys(("begin_ns", "received_ns", "end_ns"), self._ns(call.end))
            its = {"iterator": call.iterator, "batch": arrived, "wanted": batch}
            self.main.put("arrival", **its, **times, worker=arrived % len(pool), pinned=0, message_bytes=400)
        maker = pool[worker] if pool else self.main
        made_s = (call.end - call.begin) * self.unit_s if self.fetch_s is None else self.fetch_s
        end_ns = self._ns(call.end)
        begin_ns = max(loop_ns, end_ns - round(made_s * 1e9)) if pool else self._ns(call.begin)
        wall_ns = end_ns - begin_ns
        cpu_ns = round(wall_ns * self.cpu_share)
        maker.put(
            "fetch",
            iterator=UNKNOWN if pool else call.iterator,
            batch=batch if pool else call.ordinal,
            worker=worker,
            begin_ns=begin_ns,
            end_ns=end_ns,
            samples=8,
            items_ns=wall_ns,
            slowest_ns=wall_ns // 4,
            slowest_position=0,
            collate_ns=0,
            cpu_ns=cpu_ns,
            batched=0,
        )
        maker.put(
            "busy",
            worker=worker,
            batch=batch,
            idle_ns=round(self.idle_s * 1e9),
            got_ns=begin_ns,
            put_ns=end_ns,
            cpu_ns=cpu_ns,
            run_delay_ns=round(wall_ns * self.run_queue_share),
            major_faults=0,
            blocks_in=self.bytes_from_disk // 512,
            read_bytes=self.bytes_from_disk,
            read_chars=self.bytes_from_disk,
            rss_bytes=300_000_000,
        )

    def _put_device_step(self, call: drawn.Call, wait_s: float, copy_s: float, step_s: float) -> None:
        wait_ns, noise_ns = round(wait_s * 1e9), round(self.device_noise_s * 1e9)
        heard = call.ordinal % self.device_heard_every == 0
        self.main.put(
            "device_step",
            iterator=call.iterator,
            ordinal=call.ordinal,
            device=0,
            method=METHOD_EVENTS,
            wait_low_ns=max(0, wait_ns - noise_ns),
            wait_ns=wait_ns,
            wait_high_ns=wait_ns + noise_ns,
            copy_ns=round(copy_s * 1e9) if heard else UNKNOWN,
            step_ns=round(step_s * 1e9),
            drained=int(wait_ns > 0),
            every=self.device_every,
            sync_ns=round(self.device_sync_s * 1e9) if heard else UNKNOWN,
            syncs=int(self.device_sync_s > 0) if heard else UNKNOWN,
        )


def write(run: Run, directory: Path) -> Path:
    """The run on disk, as the probe and the parent leave it."""
    (directory / "records").mkdir(parents=True)
    write_meta(directory, run.meta)
    for index, process in enumerate(run.processes):
        role = ("main", "worker")[process.header["role"]]
        path = directory / "records" / f"{role}-{process.pid}-{index}.bin"
        path.write_bytes(b"".join(_records(process)))
    return directory


def _records(process: ProcessRecords) -> list[bytes]:
    parts = [_record(HEADER, list(process.header.values()))]
    for number, text in process.texts.items():
        encoded = text.encode()
        pieces = [encoded[at : at + TEXT_BYTES] for at in range(0, len(encoded), TEXT_BYTES)] or [b""]
        parts += [
            TEXT_RECORD.pack(TEXT, number, part, len(pieces), len(piece), piece) for part, piece in enumerate(pieces)
        ]
    for kind, table in process.tables.items():
        parts += [
            _record(KIND_OF[kind], row) for row in zip(*(column.tolist() for column in table.values()), strict=True)
        ]
    return parts


def _record(kind: int, fields: Sequence[int]) -> bytes:
    return RECORD.pack(kind, *fields, *(0,) * (FIELDS - len(fields)))
