"""Where batches spend CPU time: stacks by ITIMER_PROF, each weighted with the thread's CPU time since the last one.

    worker           the timer runs from `start` to `stop`, in the worker's main thread
    num_workers=0    it runs while a batch is being made only: `fetch_began`, `fetch_ended` (short ones: profiled.py)

A sampling thread would see only code that lets go of the GIL, and plain counts miss what happens inside long calls that
hold it: the kernel merges the signals.  The CPU time between two signals does not.  Where the script uses SIGPROF or
this timer itself, there are no stacks.  Timers are not inherited by a fork.
"""

from __future__ import annotations

import signal
import threading
from time import perf_counter_ns, thread_time_ns
from typing import TYPE_CHECKING, Any

from .faults import pass_on
from .layout import KIND_OF
from .standard import standard

if TYPE_CHECKING:
    from types import CodeType, FrameType

    from .profiled import Writer

INTERVAL_S = 0.0103  # about 100 Hz, off the beat of loops with a round period
SAME_INTERVAL_S = 1e-5  # the kernel gives a timer back rounded to its clock; no script asks for this odd an interval
DEEPEST = 32  # frames: nested transforms of a library must not hide the line of the script that calls them
MOST_STACKS = 200  # distinct ones held before they are written
MOST_TOLD = 4_000  # distinct ones of a process, some 6 MB: where CPU time goes is seen from fewer, and code made anew is endless
FLUSH_EVERY_NS = 1_000_000_000
_STACK = KIND_OF["stack"]

Stack = tuple[tuple["CodeType", int], ...]


class Sampler:
    """The one sampler of a process."""

    def __init__(self) -> None:
        self.seen: dict[Stack, list[int]] = {}  # stack -> [CPU ns, samples]
        self.told: set[int] = set()  # hashes of the texts written
        self.last_cpu_ns = 0
        self.flushed_ns = perf_counter_ns()
        self.installed = False
        self.armed = False

    def reset(self) -> None:
        """Forget what a parent process saw before it forked; its handler is inherited, its timer is not."""
        self.seen, self.told = {}, set()
        self.armed = False

    def install(self) -> bool:
        """Take SIGPROF where nobody has it; only the main thread may, whose stack and CPU time a handler sees."""
        if not _is_main_thread() or not hasattr(signal, "setitimer"):
            return False
        if self.installed:
            return signal.getsignal(signal.SIGPROF) == self.on_signal
        if signal.getsignal(signal.SIGPROF) is not signal.SIG_DFL or signal.getitimer(signal.ITIMER_PROF)[0]:
            return False
        signal.signal(signal.SIGPROF, self.on_signal)
        signal.siginterrupt(signal.SIGPROF, False)
        self.installed = True
        return True

    def arm(self) -> None:
        """Start the timer anew: the kernel adds a tick to what is left of a stopped one, so it is not carried on."""
        self.armed = True
        self.last_cpu_ns = thread_time_ns()
        signal.setitimer(signal.ITIMER_PROF, INTERVAL_S, INTERVAL_S)

    def disarm(self) -> None:
        """Stop the timer if it is ours, whoever has the signal.  One already sent still finds our handler, so that stays."""
        if not self.armed:
            return
        self.armed = False
        if abs(signal.getitimer(signal.ITIMER_PROF)[1] - INTERVAL_S) < SAME_INTERVAL_S:
            signal.setitimer(signal.ITIMER_PROF, 0)

    def heed_script(self) -> None:
        """Stop where the script has taken the signal since: it is not to be sent what it never asked for."""
        if self.armed and signal.getsignal(signal.SIGPROF) != self.on_signal:
            self.disarm()

    def on_signal(self, _signum: int, frame: FrameType | None) -> None:
        """Add the CPU time since the last signal to the stack that runs now."""
        try:
            now_ns = thread_time_ns()
            entry = self.seen.setdefault(stack_of(frame), [0, 0])
            entry[0] += now_ns - self.last_cpu_ns
            entry[1] += 1
            self.last_cpu_ns = now_ns
        except Exception as error:
            pass_on(error)
            return

    def flush(self, writer: Writer, worker: int) -> None:
        """Write what was seen: one `stack` record for each distinct stack."""
        now_ns = self.flushed_ns = perf_counter_ns()
        seen, self.seen = self.seen, {}
        for stack, (cpu_ns, samples) in seen.items():
            text = describe(stack)
            if self.may_tell(text):
                writer.put(_STACK, worker, now_ns, writer.text(text), cpu_ns, samples, 0)

    def may_tell(self, text: str) -> bool:
        """Whether this stack is one of the first distinct ones of the process."""
        if len(self.told) < MOST_TOLD:
            self.told.add(hash(text))
            return True
        return hash(text) in self.told

    def flush_if_due(self, writer: Writer, worker: int) -> None:
        """Write where the last time was long enough ago, or much has gathered."""
        if self.seen and (len(self.seen) > MOST_STACKS or perf_counter_ns() - self.flushed_ns > FLUSH_EVERY_NS):
            self.flush(writer, worker)


sampler = Sampler()


def start() -> None:
    """Begin in a worker: call it in the worker's main thread, once."""
    sampler.reset()
    if sampler.install():
        sampler.arm()


def stop(writer: Writer, worker: int) -> None:
    """End in a worker, and write the rest."""
    sampler.disarm()
    sampler.flush(writer, worker)


def rest() -> None:
    """Batches of a worker are made that are not told of."""
    sampler.disarm()


def go_on() -> None:
    """They are told of again."""
    if sampler.install():
        sampler.arm()


def tick(writer: Writer, worker: int) -> None:
    """Between two batches of a worker: write now and then, so that a killed worker leaves its stacks."""
    sampler.heed_script()
    sampler.flush_if_due(writer, worker)


def fetch_began() -> None:
    """A batch is being made in the main process from now on."""
    if sampler.install():
        sampler.arm()


def fetch_ended(writer: Writer) -> None:
    """It has been made."""
    if _is_main_thread():  # else the timer is not this fetch's to stop
        sampler.disarm()
        sampler.flush_if_due(writer, -1)


def _is_main_thread() -> bool:
    return threading.get_ident() == threading.main_thread().ident


def stack_of(frame: FrameType | None) -> Stack:
    """The frames that make the batch, innermost first, down to ours or torch's fetch."""
    stack: list[tuple[CodeType, int]] = []
    while frame is not None and len(stack) < DEEPEST and not _calls_the_dataset(frame.f_code):
        stack.append((frame.f_code, frame.f_lineno or frame.f_code.co_firstlineno))
        frame = frame.f_back
    return tuple(stack)


def _calls_the_dataset(code: CodeType) -> bool:
    """Whether the frame is the one that calls the dataset: nothing below it tells about the batch."""
    name = code.co_name
    return (name == "fetch" and code.co_filename.endswith("fetch.py")) or name == "_worker_loop"


def describe(stack: Stack, called: str | None = None) -> str:
    """The JSON of a stack: [[function, file, line], ...], innermost first, without our wrappers.

    `called` is a function written in C that the innermost frame is in; it has the frame's file and line.
    """
    frames = [
        [getattr(code, "co_qualname", code.co_name), code.co_filename, line]
        for code, line in stack
        if "_importlib_bootstrap" not in code.co_filename
    ]
    if called is not None and frames:
        frames.insert(0, [called, *frames[0][1:]])
    json: Any = standard("json")
    return str(json.dumps(frames))
