"""Trainings that end in a way of their own; the first argument says in which."""

import ctypes
import os
import resource
import shutil
import signal
import sys
import time
from pathlib import Path

import torch
from torch.utils.data import DataLoader, Dataset

ODD = 200  # the sample at which something happens
SPARE_BYTES = 64 << 20
torch.set_num_threads(1)


class Numbers(Dataset):
    """Two numbers a sample, and `at_odd` at one of them."""

    def __init__(self, at_odd):
        self.at_odd = at_odd

    def __len__(self):
        return 320

    def __getitem__(self, index):
        if index == ODD:
            self.at_odd()
        return torch.tensor([float(index), 1.0])


def train(dataset=None, epochs=1, **settings):
    """The sum of the losses, and the loader's own way to end."""
    torch.manual_seed(1)
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), 1e-6)
    total = 0.0
    for _ in range(epochs):
        for batch in DataLoader(dataset or Numbers(lambda: None), batch_size=8, **settings):
            loss = model(batch).square().mean()
            loss.backward()
            optimizer.step()
            total += loss.item()
    return f"{total:.6f}"


def raises():
    raise KeyError("bad sample")


def takes_all_memory():
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + SPARE_BYTES, -1))
    bytearray(4 * SPARE_BYTES)


def in_a_frame(end):
    """The loop as it is in the middle of a training."""
    for step, _ in enumerate(DataLoader(Numbers(lambda: None), batch_size=8)):
        if step == 30:
            end()


def becomes_another():
    print(train(), flush=True)
    os.execv(sys.executable, [sys.executable, __file__, "to the end"])  # noqa: S606 - no shell is wanted


def leaves_a_daemon():
    """A daemon that trains as the command ends, and goes on."""
    if os.fork() == 0:
        os.setsid()
        for stream in (0, 1, 2):
            os.dup2(os.open(os.devnull, os.O_RDWR), stream)
        losses = [train()]
        while not Path("go").exists():
            time.sleep(0.01)
        losses += [train(), train(num_workers=1)]
        Path("made.new").write_text(str(losses))
        Path("made.new").rename("made")
        os._exit(0)
    print(train())
    os._exit(5)


def forks():
    """A fork that trains on after it was made in the middle of a loop."""
    for step, _ in enumerate(DataLoader(Numbers(lambda: None), batch_size=8)):
        if step == 5 and (child := os.fork()) == 0:
            print("child", train(), flush=True)
            os._exit(4)
        if step == 30:
            print("parent", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), train(num_workers=1))


def loses_its_run():
    """As somebody clears a disk; without the tool there is nothing to clear."""
    for step, _ in enumerate(DataLoader(Numbers(lambda: None), batch_size=8, num_workers=1)):
        if step == 20:
            shutil.rmtree(os.environ.get("LOADERDOCTOR_RUN", "no run"), ignore_errors=True)
    print(train(num_workers=1))


def cannot_write():
    resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
    print(train(epochs=10), train(num_workers=1))


ENDS = {
    "to the end": lambda: print(train(), train(num_workers=2)),
    "a worker raises": lambda: train(Numbers(raises), num_workers=2),
    "the main process raises in next": lambda: train(Numbers(raises)),
    "a worker has no memory left": lambda: train(Numbers(takes_all_memory), num_workers=1),
    "abort": lambda: in_a_frame(os.abort),
    "segmentation fault": lambda: in_a_frame(lambda: ctypes.string_at(0)),
    "killed": lambda: in_a_frame(lambda: os.kill(os.getpid(), signal.SIGKILL)),
    "becomes another": becomes_another,
    "leaves a daemon": leaves_a_daemon,
    "forks": forks,
    "loses its run": loses_its_run,
    "cannot write": cannot_write,
}

if __name__ == "__main__":
    ENDS[sys.argv[1]]()
