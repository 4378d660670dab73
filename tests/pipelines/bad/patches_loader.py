"""Puts a DataLoader of its own in the place of torch's, as some frameworks do."""

import tiny
import torch.utils.data

_init = torch.utils.data.DataLoader.__init__


def _init_with_shuffle(self, *args, **settings):
    _init(self, *args, **{"shuffle": True, **settings})


class CountingLoader(torch.utils.data.DataLoader):
    batches = 0

    def __iter__(self):
        for batch in super().__iter__():
            CountingLoader.batches += 1
            yield batch


torch.utils.data.DataLoader.__init__ = _init_with_shuffle
torch.utils.data.DataLoader = CountingLoader
print(tiny.train(loader_type=torch.utils.data.DataLoader), CountingLoader.batches)
