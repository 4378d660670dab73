"""Audio is loaded whole, resampled or turned into spectra anew for every sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.base import Cause, Evidence, Interval, Signal, Treatment
from loaderdoctor.causes.cpu_work.cures import AT_WORK, BUSY, COMPUTED, COMPUTING, MAIN_PART, less_work
from loaderdoctor.causes.gates import at_least, waits

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals

AUDIO = Signal(
    "loader.code.audio_share", "Loading, resampling and transforming audio, of the CPU time of making a batch"
)
LEFT = Interval(
    0.0, 0.1, 0.5
)  # files of the right rate are only read; half is left where features must stay on the CPU
ADVICE = (
    "Resample all files once, to the rate that the model wants; read only the part that is used; compute spectra for the whole "
    "batch on the device. Where a resampler stays, build it once, not for each sample: it computes its filter anew."
)
EXAMPLE = """\
# once, before the training:
sf.write(out, librosa.resample(y, orig_sr=rate, target_sr=16000), 16000)
# here: no resampling, and no more than is used
wave, rate = sf.read(file, start=offset, frames=length, dtype="float32")"""


def treat(signals: Signals, loader: LoaderSignals) -> Treatment | tuple[Evidence, ...]:
    """Resample once, at the place that does it now."""
    what = ADVICE, loader.code.place("audio"), EXAMPLE
    return less_work(signals, loader, loader.code.audio_share, LEFT, what)


CAUSE = Cause(
    id="audio-on-the-fly",
    title="Audio is loaded and resampled anew for every sample",
    gates=(waits(), at_least(AUDIO, MAIN_PART), at_least(BUSY, AT_WORK), at_least(COMPUTING, COMPUTED)),
    treat=treat,
    explains=("cpu-augment", "python-overhead", "slow-collate"),
)
