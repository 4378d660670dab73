"""Text is tokenized anew for every sample, in every epoch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.base import Cause, Evidence, Interval, Signal, Treatment
from loaderdoctor.causes.cpu_work.cures import AT_WORK, BUSY, COMPUTED, COMPUTING, MAIN_PART, less_work
from loaderdoctor.causes.gates import at_least, waits

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals

TOKENIZING = Signal("loader.code.tokenize_share", "Tokenizing, of the CPU time of making a batch")
LEFT = Interval(0.0, 0.05, 0.4)  # stored ids are read; a batch at a time is what remains where they cannot be stored
ADVICE = (
    "Tokenize once, and store the ids. Where the text changes in each epoch, tokenize the whole batch in one call in the collate "
    'function, with TOKENIZERS_PARALLELISM set: "true" without workers, "false" with them.'
)
EXAMPLE = """\
# once, in __init__ or in a script before the training:
self.ids = [torch.tensor(ids) for ids in tokenizer(texts, truncation=True)["input_ids"]]
# here:
return self.ids[i]"""


def treat(signals: Signals, loader: LoaderSignals) -> Treatment | tuple[Evidence, ...]:
    """Tokenize once, at the place that tokenizes."""
    what = ADVICE, loader.code.place("tokenize"), EXAMPLE
    return less_work(signals, loader, loader.code.tokenize_share, LEFT, what)


CAUSE = Cause(
    id="tokenize-on-the-fly",
    title="Text is tokenized anew for every sample",
    gates=(waits(), at_least(TOKENIZING, MAIN_PART), at_least(BUSY, AT_WORK), at_least(COMPUTING, COMPUTED)),
    treat=treat,
    explains=("python-overhead", "slow-collate"),
)
