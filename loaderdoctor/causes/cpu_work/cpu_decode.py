"""Decoding images, or other compressed data, takes the CPUs that make batches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.base import Cause, Evidence, Interval, Signal, Treatment
from loaderdoctor.causes.cpu_work.cures import AT_WORK, BUSY, COMPUTED, COMPUTING, MAIN_PART, less_work
from loaderdoctor.causes.gates import at_least, waits

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals

DECODING = Signal("loader.code.decode_share", "Decoding, of the CPU time of making a batch")
LEFT = Interval(
    0.0, 0.1, 0.5
)  # reading decoded arrays from memory takes little; a faster decoder twice as little at best
ADVICE = (
    "Decode each file once, and keep the pixels as uint8 in one array that all workers map; where that does not fit, use a "
    "faster decoder (libjpeg-turbo into an array, JPEG instead of PNG), or decode on the device."
)
EXAMPLE = """\
# once, before the training:
np.save("pixels.npy", np.stack([np.asarray(Image.open(file).convert("RGB")) for file in files]))
# in __init__:
self.pixels = np.load("pixels.npy", mmap_mode="r")
# here:
image = self.pixels[i]"""


def treat(signals: Signals, loader: LoaderSignals) -> Treatment | tuple[Evidence, ...]:
    """Decode once, at the place that decodes."""
    what = ADVICE, loader.code.place("decode"), EXAMPLE
    return less_work(signals, loader, loader.code.decode_share, LEFT, what)


CAUSE = Cause(
    id="cpu-decode",
    title="Decoding takes the CPUs that make the batches",
    gates=(waits(), at_least(DECODING, MAIN_PART), at_least(BUSY, AT_WORK), at_least(COMPUTING, COMPUTED)),
    treat=treat,
    explains=("slow-collate",),
)
