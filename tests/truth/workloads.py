"""A training script whose workers do work of known length: `python workloads.py SITUATION TRUTH_FILE`.

Each worker notes, by its own stopwatch, what it did for every batch; the lines go to TRUTH_FILE.{pid}.
"""

from __future__ import annotations

import http.client
import http.server
import json
import mmap
import os
import sys
import tempfile
import threading
import time
from pathlib import Path

import torch
from torch.utils.data import DataLoader, Dataset, default_collate

BATCHES, BATCH_SIZE = 24, 4
SLOW_SAMPLE, SLOW_EVERY = 7, 50
BLOCK = 1 << 20


def burn(seconds):
    """Hold a core for that much CPU time; returns the CPU time really taken."""
    began = time.thread_time()
    while time.thread_time() - began < seconds:
        pass
    return time.thread_time() - began


class Notes:
    """What this process did, one JSON line a call, and truly how long it took."""

    file = None

    @classmethod
    def add(cls, **facts):
        if cls.file is None or cls.file[0] != os.getpid():
            cls.file = (os.getpid(), Path(f"{sys.argv[2]}.{os.getpid()}").open("a", buffering=1, encoding="utf-8"))  # noqa: SIM115 - open until the process ends
        cls.file[1].write(json.dumps(facts) + "\n")


class Work(Dataset):
    """Four samples a batch, each made as the situation says."""

    def __init__(self, make):
        self.make = make

    def __len__(self):
        return BATCHES * BATCH_SIZE

    def __getitem__(self, index):
        began = time.perf_counter()
        began_cpu = time.thread_time()
        value = self.make(index)
        Notes.add(index=index, began=began, began_cpu=began_cpu, ended=time.perf_counter())
        return torch.tensor(index) if value is None else value


def sleeps(_index):
    time.sleep(0.01)


def burns(_index):
    burn(0.01)


def one_slow_sample(index):
    time.sleep(0.15 if index % SLOW_EVERY == SLOW_SAMPLE else 0.004)


class Reads:
    """Reads a megabyte of a file past the page cache, by O_DIRECT."""

    def __init__(self, folder):
        self.path = Path(folder) / "data.bin"
        with self.path.open("wb") as file:
            file.write(os.urandom(BLOCK) * (BATCHES * BATCH_SIZE))
            os.fsync(file.fileno())

    def __call__(self, index):
        page = mmap.mmap(-1, BLOCK)
        handle = os.open(self.path, os.O_RDONLY | os.O_DIRECT)
        try:
            os.preadv(handle, [page], index * BLOCK)
        finally:
            os.close(handle)


class Asks:
    """Asks a server on this machine, which answers after 10 ms."""

    def __init__(self, port):
        self.port = port

    def __call__(self, index):
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.request("GET", f"/{index}")
        connection.getresponse().read()
        connection.close()


class Slow(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        time.sleep(0.01)
        self.send_response(200)
        self.send_header("Content-Length", "4")
        self.end_headers()
        self.wfile.write(b"data")

    def log_message(self, *arguments):
        pass


def many_threads(_index):
    threads = [threading.Thread(target=time.sleep, args=(0.01,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def tensors(count):
    def make(_index):
        return [torch.zeros(25_600 // count) for _ in range(count)]

    return make


def collate(samples):
    batch = default_collate(samples)
    Notes.add(batch_ended=time.perf_counter(), batch_ended_cpu=time.thread_time())
    return batch


def slow_collate(samples):
    began = time.perf_counter()
    burn(0.02)
    Notes.add(collate=time.perf_counter() - began)
    return torch.stack(samples)


def one_core(_worker):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def main():
    situation = sys.argv[1]
    extra = {"collate_fn": slow_collate if situation == "collate" else collate}
    with tempfile.TemporaryDirectory() as folder:
        if situation == "http":
            server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Slow)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            make = Asks(server.server_address[1])
        elif situation == "disk":
            make = Reads(folder)
        else:
            make = {
                "sleep": sleeps,
                "cpu": burns,
                "slow_sample": one_slow_sample,
                "affinity": burns,
                "threads": many_threads,
                "collate": lambda _index: None,
                "tensors_1": tensors(1),
                "tensors_200": tensors(200),
            }[situation]
        if situation == "affinity":
            extra["worker_init_fn"] = one_core
        loader = DataLoader(Work(make), batch_size=BATCH_SIZE, num_workers=1, multiprocessing_context="fork", **extra)
        weight = torch.nn.Parameter(torch.zeros(1))
        optimizer = torch.optim.SGD([weight], lr=0.1)
        for _batch in loader:
            (weight.sum() ** 2).backward()
            optimizer.step()
            time.sleep(0.002)
    if situation == "http":
        server.shutdown()


if __name__ == "__main__":
    main()
