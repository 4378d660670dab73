"""When the loop has a batch that next() returned: the loop variable is bound anew, and the batch before is given back.

Giving back a large batch takes milliseconds, after next() has returned.  Whoever stands at the top of the loop's body sees it,
and nobody else: so now and then the first line that the loop comes to is listened for, once, and nothing is kept alive.
"""

from __future__ import annotations

import os
import sys
from threading import get_ident
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

from ..layout import KIND_OF

if TYPE_CHECKING:
    from types import CodeType, FrameType

    from ..watch import Watch
    from ..writer import Writer

EVERY = 17  # steps, a number that falls in with no accumulation; from the second on: the first has no batch before it
OFTEN = (
    3  # steps, where batches are long in being given back: that differs from one to the next, and its mean is wanted
)
LONG_NS = 300_000  # a hundred times what listening costs
_HANDED_OVER = KIND_OF["handed_over"]
_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
_MOST_FRAMES = 12  # from the loader to the loop, libraries' loaders around it in between
_MOST_CALLS = 100  # before the loop goes on: what libraries do with a batch; then it is not listened for any longer
_TOOLS = (3, 4)  # of sys.monitoring, for which nobody is expected


def is_due(ordinal: int, gave_ns: int) -> bool:
    """Whether this step is one to listen in; `gave_ns` is what giving back took when it was last heard."""
    return ordinal % (OFTEN if gave_ns > LONG_NS else EVERY) == 1


def listen(writer: Writer, watch: Watch, ordinal: int, frame: FrameType | None) -> None:
    """Listen for the first line after this next(); `frame` is its caller's.

    Not where the script traces or profiles, nor in Python 3.10, where being traced keeps a frame's locals alive.
    """
    if sys.version_info < (3, 11) or sys.gettrace() is not None or sys.getprofile() is not None:
        return
    loop = _loop_of(frame)
    if loop is None:
        return
    monitoring: Any = getattr(sys, "monitoring", None)
    if monitoring is None:
        _Traced(writer, watch, ordinal, loop)
    else:
        _Monitored(monitoring, writer, watch, ordinal, loop.f_code)


def _loop_of(frame: FrameType | None) -> FrameType | None:
    """The script's own frame that waits for the batch; where all are libraries', the nearest one."""
    nearest, steps = frame, 0
    while frame is not None and steps < _MOST_FRAMES:
        if not any(part in frame.f_code.co_filename for part in _INSTALLED):
            return frame
        frame, steps = frame.f_back, steps + 1
    return nearest


class _Listener:
    """What one listener hears; `watch.ordinal` tells whether the loop has asked for another batch meanwhile."""

    def __init__(self, writer: Writer, watch: Watch, ordinal: int) -> None:
        self._put = writer.put
        self._watch = watch
        self._ordinal = ordinal
        self._begun_ns = perf_counter_ns()

    def heard(self, now_ns: int) -> None:
        """The loop goes on."""
        if self._watch.ordinal == self._ordinal + 1:
            self._watch.gave_ns = now_ns - self._begun_ns
            self._put(_HANDED_OVER, self._watch.iterator, self._ordinal, self._begun_ns, now_ns)


class _Traced(_Listener):
    """By a trace function of the loop's frame, in 3.11."""

    def __init__(self, writer: Writer, watch: Watch, ordinal: int, loop: FrameType) -> None:
        super().__init__(writer, watch, ordinal)
        self._calls = 0
        if loop.f_trace is not None:
            return
        loop.f_trace = self._on_line
        self._begun_ns = perf_counter_ns()
        sys.settrace(self._on_call)

    def _on_call(self, frame: FrameType, _event: str, _arg: Any) -> None:
        self._calls += 1
        if self._calls > _MOST_CALLS:
            self._end(frame)

    def _on_line(self, frame: FrameType, event: str, _arg: Any) -> None:
        now_ns = perf_counter_ns()
        self._end(frame)
        if event == "line":
            self.heard(now_ns)

    def _end(self, frame: FrameType | None) -> None:
        """Take off what is ours, and nothing that the script has put on meanwhile."""
        if sys.gettrace() == self._on_call:
            sys.settrace(None)
        while frame is not None:
            if frame.f_trace == self._on_line:
                frame.f_trace = None
                return
            frame = frame.f_back


class _Monitored(_Listener):
    """By an event of the loop's code, from 3.12 on; a loop that is all on one line gives none."""

    def __init__(self, monitoring: Any, writer: Writer, watch: Watch, ordinal: int, code: CodeType) -> None:
        for late in [*_listening]:
            late.end()
        tool = next((tool for tool in _TOOLS if monitoring.get_tool(tool) is None), None)
        if tool is None:
            return
        super().__init__(writer, watch, ordinal)
        self._tool, self._monitoring, self._code, self._thread = tool, monitoring, code, get_ident()
        line = monitoring.events.LINE
        monitoring.use_tool_id(tool, "loaderdoctor")
        monitoring.register_callback(tool, line, self._on_line)
        self._begun_ns = perf_counter_ns()
        _listening.append(self)
        monitoring.set_local_events(tool, code, line)

    def _on_line(self, _code: CodeType, _line: int) -> None:
        now_ns = perf_counter_ns()
        if get_ident() == self._thread:  # another thread may run the same code
            self.end()
            self.heard(now_ns)

    def end(self) -> None:
        """Give the tool back, whether or not a line came."""
        if self not in _listening:
            return
        _listening.remove(self)
        monitoring, tool = self._monitoring, self._tool
        monitoring.set_local_events(tool, self._code, 0)
        monitoring.register_callback(tool, monitoring.events.LINE, None)
        monitoring.free_tool_id(tool)


_listening: list[_Monitored] = []  # one at a time: the next one ends what has waited in vain
