"""The training waits while its state is written to a file; meanwhile batches are ready."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.base import Action, Cause, Interval, Signal, Treatment
from loaderdoctor.causes.gates import at_least
from loaderdoctor.causes.main_process.beside import QUARTER, shorter

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals

SAVING = Signal("loop.save_share", "Rare steps that write much, beyond what others take, of the time")
LEFT = Interval(
    0.0, 0.2, 0.5
)  # a copy of the state in memory is what the training has to wait for; half, if saved half as often
ADVICE = (
    "Save less often, or write aside: copy the state to memory and let a thread write it (torch.distributed.checkpoint.async_save); "
    "leave out compression, and write to a fast local disk first."
)
ACTION = Action(
    "code",
    "Where the state is saved.",
    example=(
        "state = {name: value.detach().cpu().clone() for name, value in model.state_dict().items()}\n"
        "threading.Thread(target=torch.save, args=(state, path)).start()"
    ),
)


def treat(signals: Signals, loader: LoaderSignals) -> Treatment:
    """Less of it in the training's way."""
    return shorter(signals, loader, signals.loop.save_share, LEFT, (ADVICE, ACTION))


CAUSE = Cause(
    id="checkpoint-stall",
    title="Saving checkpoints holds up the training",
    gates=(at_least(SAVING, QUARTER),),
    treat=treat,
    shows=(
        Signal("loop.save_s", "One of them, beyond a usual step"),
        Signal("loop.save_bytes", "Written in it"),
        Signal("loop.steps_per_save", "Steps from one to the next"),
    ),
    slice=SAVING,
    scope="run",
    is_limit=True,
)
