"""The hook of trials that measure the perfect loader: it gives the kept batch in the place of one that is to be made."""

from __future__ import annotations

from typing import Any

from .. import state
from ..faults import pass_on
from ..kept import ATTRIBUTE, Kept


def next_data(original: Any) -> Any:
    """Of an iterator without workers."""

    def _next_data(self: Any) -> Any:
        kept = self.__dict__.get(ATTRIBUTE)
        if kept is None:
            return original(self)
        if not kept.is_there:
            batch = original(self)
            _keep(kept, batch)
            return batch
        given = _given(kept)
        if given is None:
            return original(self)
        self._next_index()  # ends the epoch where the loader would
        return given

    return _next_data


def _given(kept: Kept) -> Any:
    """None where the batch cannot be given once more."""
    try:
        return kept.give()
    except Exception as error:
        pass_on(error, asked_script=True)
        return None


def _keep(kept: Kept, batch: Any) -> None:
    try:
        if kept.saw(batch) and state.probe is not None:
            state.probe.note(
                "one-batch-kept",
                "The training loader gave one kept batch again and again from its fourth batch on: what this run measures is its "
                "speed, and what it trained is worth nothing.",
            )
    except Exception as error:
        pass_on(error, asked_script=True)
