"""Everything odd that a script may do with loaders; prints a line for each, the same under any tool that is transparent."""

import gc
import inspect
import os
import pickle
import signal
import sys
import threading
import time
import warnings

import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info

ODD = 9  # the sample at which something happens


class Numbers(Dataset):
    def __init__(self, at_odd=None, length=40):
        self.at_odd = at_odd
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        if index == ODD and self.at_odd is not None:
            self.at_odd()
        return torch.tensor(index)


class Counted(IterableDataset):
    def __len__(self):
        return 3

    def __iter__(self):
        return iter(range(8))


class TwoArgumentsError(Exception):
    def __init__(self, first, second):
        super().__init__(f"{first}{second}")


class Shifted(DataLoader):
    def __iter__(self):
        for batch in super().__iter__():
            yield batch + 1


class Nested(Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, index):
        means = [batch.float().mean() for batch in DataLoader(Numbers(), batch_size=10)]
        return torch.stack(means).sum() + index


def key_error():
    raise KeyError("bad sample")


def stop_iteration():
    raise StopIteration


def two_arguments():
    raise TwoArgumentsError(1, 2)


def kill():
    os.kill(os.getpid(), signal.SIGKILL)


def crash():
    os.kill(os.getpid(), signal.SIGSEGV)


def leave():
    os._exit(3)


def dawdle():
    time.sleep(0.6)


def lists(loader):
    return [batch.tolist() for batch in loader]


def loaded(at_odd=None, **settings):
    return lambda: lists(DataLoader(Numbers(at_odd), batch_size=4, **settings))


def resumed():
    iterator = iter(DataLoader(Numbers(key_error), batch_size=4, num_workers=2))
    batches = errors = 0
    while True:
        try:
            next(iterator)
            batches += 1
        except StopIteration:
            return batches, errors
        except KeyError:
            errors += 1


def broken_off():
    for _ in range(3):
        for place, _batch in enumerate(DataLoader(Numbers(), batch_size=4, num_workers=2)):
            if place == 2:
                break
    return "ok"


def two_alive():
    kept = DataLoader(Numbers(), batch_size=4, num_workers=2, persistent_workers=True)
    other = DataLoader(Numbers(), batch_size=8, num_workers=1)
    total = 0
    for _ in range(2):
        for place, batch in enumerate(kept):
            total += int(batch.sum())
            if place == 4:
                total += sum(int(inner.sum()) for inner in other)
    return total


def local_class():
    class Local(Numbers):
        pass

    def stacked(samples):
        return torch.stack(samples)

    return lists(
        DataLoader(Local(), batch_size=20, num_workers=1, collate_fn=stacked, worker_init_fn=lambda _index: None)
    )


def interrupted():
    threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    return lists(DataLoader(Numbers(dawdle), batch_size=4, num_workers=2, sampler=[ODD] * 40))


def in_threads():
    lengths = []

    def load():
        lengths.append(len(loaded(num_workers=1)()))

    threads = [threading.Thread(target=load) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return lengths


def told_lengths():
    """A length asked of the loader, and too short: torch warns."""
    loader = DataLoader(Counted(), batch_size=1)
    return len(loader), len(list(loader))


def patched_by_the_script():
    seen = []
    original = DataLoader.__init__

    def __init__(self, *args, **kwargs):  # noqa: N807 - it takes the place of one
        seen.append(kwargs)
        original(self, *args, **kwargs)

    DataLoader.__init__ = __init__
    try:
        return len(loaded(num_workers=1)()), seen
    finally:
        DataLoader.__init__ = original


def reflected():
    from torch.utils.data._utils import fetch

    return (
        str(inspect.signature(DataLoader.__init__)),
        inspect.getsource(fetch._MapDatasetFetcher.fetch),
        inspect.getsource(DataLoader.__init__)[:60],
        sorted(vars(DataLoader(Numbers()))),
        type(DataLoader(Numbers())) is DataLoader,
        get_worker_info(),
    )


def pickled():
    return type(pickle.loads(pickle.dumps(DataLoader(Numbers())))).__name__  # noqa: S301 - our own


def next_descriptor():
    loaded()()
    with open(os.devnull) as file:  # noqa: PTH123 - what counts is the number
        return file.fileno()


EDGES = {
    "next descriptor": next_descriptor,
    "worker raises": loaded(key_error, num_workers=2),
    "worker is killed": loaded(kill, num_workers=2),
    "worker crashes": loaded(crash, num_workers=2),
    "worker leaves": loaded(leave, num_workers=2),
    "worker stops iteration": loaded(stop_iteration, num_workers=2),
    "worker raises what cannot be rebuilt": loaded(two_arguments, num_workers=2),
    "main raises": loaded(key_error),
    "main stops iteration": loaded(stop_iteration),
    "timeout": loaded(dawdle, num_workers=1, timeout=0.3),
    "resume after an error": resumed,
    "early break": broken_off,
    "two alive": two_alive,
    "nested in a worker": lambda: lists(DataLoader(Nested(), batch_size=2, num_workers=2)),
    "nested in main": lambda: lists(DataLoader(Nested(), batch_size=2)),
    "local class": local_class,
    "subclass": lambda: lists(Shifted(Numbers(), batch_size=20, num_workers=1)),
    "out of order": lambda: sorted(loaded(dawdle, num_workers=2, in_order=False)()),
    "no batches": lambda: lists(DataLoader(Numbers(), batch_size=None, num_workers=2)),
    "interrupted": interrupted,
    "threads": in_threads,
    "lengths": told_lengths,
    "pinned without a device": loaded(pin_memory=True),
    "too many workers": lambda: iter(DataLoader(Numbers(), num_workers=9)) and None,
    "patched by the script": patched_by_the_script,
    "reflected": reflected,
    "pickled": pickled,
}


def told(error):
    lines = str(error).splitlines()
    return f"{type(error).__name__}: {lines[0] if lines else ''} | {len(lines)} lines"


if __name__ == "__main__":
    # torch waits 5 s for each worker of an iterator that the collector finds in a cycle, as an error leaves one: whether
    # and when it runs would be chance.
    gc.disable()
    warnings.simplefilter("always")
    wanted = sys.argv[1:] or EDGES
    for name in wanted:
        try:
            result = EDGES[name]()
        except BaseException as error:  # noqa: BLE001 - KeyboardInterrupt and all
            result = told(error)
        print(f"{name}: {result}", flush=True)
