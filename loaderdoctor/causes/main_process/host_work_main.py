"""The training thread does other work after each step: logs, metrics, plots; meanwhile the next batch is ready."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.base import Action, Cause, Interval, Treatment
from loaderdoctor.causes.gates import at_least, derived
from loaderdoctor.causes.main_process.beside import HOST, QUARTER, shorter
from loaderdoctor.values import Measured

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals
    from loaderdoctor.values import Value

LEFT = Interval(
    0.0, 0.1, 0.5
)  # done every few dozen steps, nearly nothing of it is left; half, where it must be each time
ADVICE = (
    "Do what follows the optimizer's step less often: count on the device and read the sum when it is shown, draw and log every "
    "few dozen steps, sort no history that grows, and hand the rest to a thread or process of its own."
)
ACTION = Action(
    "code",
    "After optimizer.step(), where the loop logs, counts or draws.",
    example="if step % 50 == 0:\n    log(total.item() / 50, step)  # the sum is kept on the device until then",
)


def _host_work(signals: Signals, _loader: LoaderSignals) -> Value:
    """On a device only where it ran dry meanwhile: else the host worked ahead of it."""
    work, device = signals.loop.after_step_share, signals.device
    if signals.clock == HOST or not isinstance(work, Measured):
        return work
    if not isinstance(device.drained_share, Measured):
        return device.drained_share
    low, best, high = (end * device.drained_share.value for end in (work.low, work.value, work.high))
    return Measured(best, low, high, work.n, work.unit)


HOST_WORK = derived(
    "loop.after_step_share",
    "Computing in the training thread from the optimizer's step to the next request, of the time",
    _host_work,
)


def treat(signals: Signals, loader: LoaderSignals) -> Treatment:
    """Less of it."""
    return shorter(signals, loader, _host_work(signals, loader), LEFT, (ADVICE, ACTION))


CAUSE = Cause(
    id="host-work-main",
    title="Other work in the training thread delays the next step",
    gates=(at_least(HOST_WORK, QUARTER),),
    treat=treat,
    slice=HOST_WORK,
    scope="run",
    is_limit=True,
)
