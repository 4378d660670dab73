"""Images are decoded at full size and shrunk right after: most of the decoded pixels are thrown away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.base import Cause, Evidence, Interval, Signal, Threshold, Treatment
from loaderdoctor.causes.cpu_work.cures import AT_WORK, BUSY, COMPUTED, COMPUTING, MAIN_PART, less_work
from loaderdoctor.causes.gates import at_least, derived, known, waits
from loaderdoctor.values import Measured

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals
    from loaderdoctor.values import Value

OVERSIZE = Signal("loader.code.oversize", "Pixels decoded, for each one that is left when the image was shrunk")
LARGE = Threshold(
    4, "times", "JPEG decoders scale by halves: from half the width and half the height on there is one to use."
)
BEST, POOREST = 0.3, 0.6  # left of the work where the decoder scales: it reads all bits, and computes fewer pixels
ADVICE = (
    "Let the JPEG decoder scale: call image.draft(mode, size) before the pixels are read. Other formats have no such way: "
    "shrink the files once, to the size that the largest crop needs."
)
EXAMPLE = """\
image = Image.open(file)
image.draft("RGB", (2 * size, 2 * size))  # the decoder gives the next size above, at a fraction of the work
image = image.convert("RGB").resize((size, size))"""


def _decoding_and_shrinking(_signals: Signals, loader: LoaderSignals) -> Value:
    decode, resize = loader.code.decode_share, loader.code.resize_share
    if not isinstance(decode, Measured) or not isinstance(resize, Measured):
        return decode
    low, best, high = decode.low + resize.low, decode.value + resize.value, decode.high + resize.high
    return Measured(min(1.0, best), min(1.0, low), min(1.0, high), decode.n, decode.unit)


THROWN_AWAY = derived(
    "loader.code.decode_share", "Decoding and shrinking, of the CPU time of making a batch", _decoding_and_shrinking
)


def treat(signals: Signals, loader: LoaderSignals) -> Treatment | tuple[Evidence, ...]:
    """Decode no more than is used; at best only as many pixels as are."""
    left = Interval(1 / max(LARGE.value, known(loader.code.oversize)), BEST, POOREST)
    what = ADVICE, loader.code.place("decode"), EXAMPLE
    return less_work(signals, loader, _decoding_and_shrinking(signals, loader), left, what)


CAUSE = Cause(
    id="oversized-decode",
    title="Images are decoded at full size and shrunk right after",
    gates=(
        waits(),
        at_least(THROWN_AWAY, MAIN_PART),
        at_least(OVERSIZE, LARGE),
        at_least(BUSY, AT_WORK),
        at_least(COMPUTING, COMPUTED),
    ),
    treat=treat,
    explains=("cpu-decode", "slow-collate"),
)
