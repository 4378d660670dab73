"""Steps that compile, tune or allocate take much of the time; the loaders keep up."""

from __future__ import annotations

from loaderdoctor.causes.base import Cause, Signal, Threshold
from loaderdoctor.causes.gates import at_least
from loaderdoctor.causes.not_the_loader.fed import FED

MATERIAL = Threshold(0.2, "share", "Less than a fifth of the time is what any training needs to get going.")
EARLY = Threshold(
    0.8, "share", "Saving, evaluating and collecting garbage come again and again; what compiles comes first and ends."
)

CAUSE = Cause(
    id="warmup-compile",
    title="Compiling and tuning take the first steps; the data keeps up",
    gates=(
        FED,
        at_least(Signal("training.slow_share", "Computing beyond that of the other steps, of the whole run"), MATERIAL),
        at_least(Signal("training.slow_early_share", "Of that, in the first third of the steps"), EARLY),
    ),
    slice=Signal("training.slow_share", "Computing beyond that of the other steps, of the whole run"),
    scope="run",
    is_limit=True,
)
