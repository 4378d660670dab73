"""When --steps or --seconds ends the script."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from .control import STOP

if TYPE_CHECKING:
    from .control import Control

WHY_STEPS, WHY_SECONDS = 1, 2  # end.why
LEAST_WARM_UP = 3  # steps; the first ones allocate and compile
NS = 1_000_000_000
MARGIN = (
    3  # optimizer steps: one that each rank may be ahead of another, one in which the word spreads, and one to spare
)


def with_warm_up(steps: int) -> int:
    """Steps in all where so many are to be measured: the analysis drops the first tenth, so that these are the other nine."""
    return steps + max(LEAST_WARM_UP, -(-steps // 9))


class StopRule:
    """Counts the steps of training, and says when there were enough.

    A training step is a batch of a loader whose batches are followed by optimizer steps.  Until the first optimizer
    step every batch counts, except where an optimizer exists: then what runs is an evaluation before the training.
    Seconds count from the first batch.

    Ranks of a job end after the same optimizer step, which the first one that has enough says on the page of the run: what
    they exchange in each step keeps them closer together than MARGIN steps.
    """

    def __init__(self, steps: int | None, seconds: float | None, control: Control | None = None) -> None:
        self.steps = None if steps is None else with_warm_up(steps)
        self.seconds = seconds
        self.overdue: int | None = None  # why the script is to end, where batches are taken outside the main thread
        self._control = control
        self._batches: dict[int, int] = {}  # loader -> batches
        self._training: set[int] = set()  # loaders
        self._last_loader: int | None = None
        self._first_ns: int | None = None
        self._optimized = 0  # optimizer steps

    @property
    def is_asked_for(self) -> bool:
        """Whether there is anything to wait for."""
        return self.steps is not None or self.seconds is not None

    def delivered(self, loader: int, now_ns: int) -> None:
        """A loader gave a batch to the script."""
        if self._first_ns is None:
            self._first_ns = now_ns
        self._batches[loader] = self._batches.get(loader, 0) + 1
        self._last_loader = loader

    def stepped(self) -> None:
        """An optimizer made a step."""
        self._optimized += 1
        if self._last_loader is not None:
            self._training.add(self._last_loader)

    def due(self, now_ns: int, loader: int | None = None) -> int | None:
        """Why the script is to end at a next() of this loader, as in `end.why`; None where it goes on."""
        why = self._had_enough(now_ns)
        control = self._control
        if control is None or _ranks() <= 1:
            return why
        if why is not None and control.word(STOP) == 0:
            control.set_word(STOP + 1, why)
            control.set_word(STOP, self._made() + MARGIN)
        last = control.word(STOP)
        if not last or self._made() < last or (self._training and loader not in self._training):
            return None
        return why or control.word(STOP + 1)

    def _had_enough(self, now_ns: int) -> int | None:
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

    def _made(self) -> int:
        """Steps that all ranks count alike."""
        return self._optimized or sum(self._batches.values())


def _ranks() -> int:
    """How many processes of this job train together: torch knows, or whoever started them."""
    distributed: Any = sys.modules.get("torch.distributed")
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return int(distributed.get_world_size())
    return 1


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
