"""When --steps or --seconds ends the script."""

from __future__ import annotations

import sys
from typing import Any

WHY_STEPS, WHY_SECONDS = 1, 2  # end.why
LEAST_WARM_UP = 3  # steps; the first ones allocate and compile
NS = 1_000_000_000


class StopRule:
    """Counts the steps of training, and says when there were enough.

    A training step is a batch of a loader whose batches are followed by optimizer steps.  Until the first optimizer
    step every batch counts, except where an optimizer exists: then what runs is an evaluation before the training.
    Seconds count from the first batch.
    """

    def __init__(self, steps: int | None, seconds: float | None) -> None:
        # The analysis drops the first tenth as warm-up, so that the steps asked for must be the other nine.
        self.steps = None if steps is None else steps + max(LEAST_WARM_UP, -(-steps // 9))
        self.seconds = seconds
        self.overdue: int | None = None  # why the script is to end, where batches are taken outside the main thread
        self._batches: dict[int, int] = {}  # loader -> batches
        self._training: set[int] = set()  # loaders
        self._last_loader: int | None = None
        self._first_ns: int | None = None

    def delivered(self, loader: int, now_ns: int) -> None:
        """A loader gave a batch to the script."""
        if self._first_ns is None:
            self._first_ns = now_ns
        self._batches[loader] = self._batches.get(loader, 0) + 1
        self._last_loader = loader

    def stepped(self) -> None:
        """An optimizer made a step."""
        if self._last_loader is not None:
            self._training.add(self._last_loader)

    def due(self, now_ns: int) -> int | None:
        """Why the script is to end now, as in `end.why`; None where it goes on."""
        if self.seconds is not None and self._first_ns is not None and now_ns - self._first_ns >= self.seconds * NS:
            return WHY_SECONDS
        if self.steps is None:
            return None
        if self._training:
            done = sum(self._batches[loader] for loader in self._training)
        else:
            done = sum(self._batches.values())
        if done < self.steps or (not self._training and _an_optimizer_exists()):
            return None
        return WHY_STEPS


def in_main_thread() -> bool:
    """Whether a SystemExit raised here ends the script, and not a thread of it."""
    threading: Any = sys.modules["threading"]
    return threading.current_thread() is threading.main_thread()


def _an_optimizer_exists() -> bool:
    """Whether an optimizer of torch was ever built: it then marks the `step` of its class."""
    module: Any = sys.modules.get("torch.optim.optimizer")
    return module is not None and any(_is_marked(kind) for kind in module.Optimizer.__subclasses__())


def _is_marked(kind: Any) -> bool:
    step = getattr(kind, "step", None)
    return getattr(step, "hooked", False) is True or any(_is_marked(child) for child in kind.__subclasses__())
