"""Whether --steps or --seconds ends the script at this next(), as sys.exit(0) in its main thread would."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..faults import pass_on
from ..stop import in_main_thread

if TYPE_CHECKING:
    from ..watch import Watch


def ends_here(watch: Watch, now_ns: int) -> int | None:
    """Why this is the next() to end at, as in `end.why`; None where the script goes on."""
    probe = watch.probe
    stop = probe.stop
    if probe.is_worker or not stop.is_asked_for or probe.writer.control.ended:
        return None
    try:
        why = stop.due(now_ns, watch.loader)
    except Exception as error:  # other threads iterate too, and change what is being counted
        pass_on(error)
        return None
    if why is None:
        return None
    if not in_main_thread():
        stop.overdue = why  # the thread that trains ends it, at its next optimizer step
        return None
    if probe.trace is not None and probe.trace.goes_on():
        return None
    return why
