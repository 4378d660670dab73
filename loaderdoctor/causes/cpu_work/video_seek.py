"""Frames at random places of a video are decoded from the last key frame on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.base import Cause, Evidence, Interval, Signal, Treatment
from loaderdoctor.causes.cpu_work.cures import AT_WORK, BUSY, COMPUTED, COMPUTING, MAIN_PART, less_work
from loaderdoctor.causes.gates import at_least, waits

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals

VIDEO = Signal("loader.code.video_share", "Reading video, of the CPU time of making a batch")
LEFT = Interval(
    0.05, 0.3, 0.7
)  # as many frames as are used instead of all since a key frame, of which each takes its time
NOT_TOLD = (
    "How many frames were decoded for each one that is used was not recorded: it is few where clips are read in order."
)
ADVICE = (
    "Encode the videos anew with a key frame every few frames, or store the frames as images; read the frames of a sample sorted "
    "and in one call, with a decoder that is kept open."
)
EXAMPLE = """\
# once: a key frame every 5 frames
# ffmpeg -i in.mp4 -g 5 -keyint_min 5 out.mp4
# here: all frames of the sample in one call, sorted
frames = reader.get_batch(sorted(indices))"""


def treat(signals: Signals, loader: LoaderSignals) -> Treatment | tuple[Evidence, ...]:
    """Fewer frames to decode, at the place that reads them."""
    what = ADVICE, loader.code.place("video"), EXAMPLE
    treatment = less_work(signals, loader, loader.code.video_share, LEFT, what)
    if not isinstance(treatment, Treatment):
        return treatment
    return Treatment(
        treatment.advice, treatment.change, actions=treatment.actions, doubts=(NOT_TOLD,), shows=treatment.shows
    )


CAUSE = Cause(
    id="video-seek",
    title="Frames of videos are decoded from the last key frame on",
    gates=(waits(), at_least(VIDEO, MAIN_PART), at_least(BUSY, AT_WORK), at_least(COMPUTING, COMPUTED)),
    treat=treat,
    explains=("slow-collate",),
)
