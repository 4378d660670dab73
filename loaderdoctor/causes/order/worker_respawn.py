"""Workers are started anew for every epoch, and the training waits for them each time."""

from __future__ import annotations

from loaderdoctor.causes.base import Cause, Signal, Threshold
from loaderdoctor.causes.gates import at_least, has_workers, is_torchs, waits
from loaderdoctor.causes.order.gaps import EPOCH_GAPS, GAP_S, GAPS, STARTED, has_epochs, keep_workers, starts_anew

STARTING = Threshold(
    0.3,
    "share",
    "A gap of which new workers are less than this is filled by something else: reading, sampling, listing.",
)

CAUSE = Cause(
    id="worker-respawn",
    title="The workers are started anew for every epoch, and the training waits for them",
    applies=(has_workers, is_torchs, has_epochs, starts_anew),
    gates=(waits(), at_least(EPOCH_GAPS, GAPS), at_least(STARTED, STARTING)),
    treat=keep_workers,
    shows=(
        GAP_S,
        Signal("loader.making.worker_start_s", "From starting a worker until it asks for work"),
        Signal("loader.making.first_made_s", "Making an epoch's first batch"),
    ),
    slice=EPOCH_GAPS,
    explains=("too-few-workers",),
)
