"""The iterators of other libraries that training loops wait in."""

from __future__ import annotations

# Module -> classes that define the __next__ which the training loop calls.
CLASSES = {
    "nvidia.dali.plugin.pytorch": ("DALIGenericIterator", "DALIRaggedIterator"),
    "ffcv.loader.epoch_iterator": ("EpochIterator",),
    "grain._src.python.data_loader": ("DataLoaderIterator",),
    "grain._src.python.dataset.transformations.prefetch": ("ThreadPrefetchDatasetIterator",),
}
