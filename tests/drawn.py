"""Runs drawn as text: one character is one unit of the consumer's time.

    x   time outside of any loop
    [   a loop over the training loader begins; |  the same, after the loop before it ended
    {   a loop over the evaluation loader begins
    ]   the innermost loop ends because its loader has no more batches;  }  the same
    b   the innermost loop is left by `break`;  !  the process is killed
    g   building the iterator;  s  stopping workers while the loop ends, written before ] } or |
    w   waiting in next();  .  a next() that takes no time;  c  the script's own work on a batch
    o   an optimizer step, takes no time; without any `o`, each step of the training loader ends with one

`"|ggwwc.cc" "wc{wcwc}|wcwc"`: two epochs with an evaluation in between.  A `w` after anything but `w`, and every `.`, asks for
the next batch.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from loaderdoctor.probe.layout import NEXT_BATCH, NEXT_END

TRAIN, EVAL = 1, 2  # numbers of the two loaders


@dataclass
class Call:
    """One next()."""

    iterator: int
    ordinal: int
    begin: int
    end: int = -1
    status: int = NEXT_BATCH


@dataclass
class Loop:
    """One epoch over a loader."""

    iterator: int
    loader: int
    begin: int
    end: int
    epoch: int
    left_at: int | None = None  # by a break
    calls: list[Call] = field(default_factory=list)


@dataclass
class Drawing:
    """What a text draws; times are in units."""

    loops: list[Loop] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)  # when an optimizer stepped
    end: int = 0
    killed: bool = False


def read(text: str) -> Drawing:
    """The loops, calls and optimizer steps of a drawing."""
    reader = _Reader(any(mark == "o" for mark in text))
    for mark in text:
        reader.mark(mark)
    return reader.finish()


class _Reader:
    def __init__(self, explicit_steps: bool) -> None:
        self.drawing = Drawing()
        self.open: list[Loop] = []
        self.explicit_steps = explicit_steps
        self.now = 0
        self.before = ""
        self.epochs = {TRAIN: 0, EVAL: 0}

    def mark(self, mark: str) -> None:
        do: dict[str, Any] = {
            "[": lambda: self.begin(TRAIN),
            "|": lambda: (self.finish_loop() if self.open else None, self.begin(TRAIN)),
            "{": lambda: self.begin(EVAL),
            "]": self.finish_loop,
            "}": self.finish_loop,
            "b": self.leave,
            "!": self.kill,
            "w": self.wait,
            ".": self.ask,
            "s": self.stop,
            "o": lambda: self.drawing.steps.append(self.now),
        }
        if mark in do:
            do[mark]()
        elif mark not in "xcg":
            message = f"no such mark: {mark}"
            raise ValueError(message)
        if mark in "xcgsw":
            self.now += 1
        if mark == "g":
            self.open[-1].end = self.now
        if mark in "ws":
            self.open[-1].calls[-1].end = self.now
        self.before = mark

    def begin(self, loader: int) -> None:
        number = len(self.drawing.loops) + 1
        loop = Loop(number, loader, self.now, self.now, self.epochs[loader])
        self.epochs[loader] += 1
        self.drawing.loops.append(loop)
        self.open.append(loop)

    def ask(self) -> None:
        self.close_step()
        loop = self.open[-1]
        loop.calls.append(Call(loop.iterator, len(loop.calls), self.now, self.now))

    def wait(self) -> None:
        if self.before != "w":
            self.ask()

    def close_step(self) -> None:
        """The innermost loop's step ends here."""
        loop = self.open[-1]
        if loop.calls and loop.loader == TRAIN and not self.explicit_steps:
            self.drawing.steps.append(self.now)

    def stop(self) -> None:
        if self.before != "s":
            self.close_step()
            self.end_call()

    def finish_loop(self) -> None:
        self.stop()
        self.open.pop()

    def leave(self) -> None:
        self.close_step()
        self.open.pop().left_at = self.now

    def end_call(self) -> None:
        loop = self.open[-1]
        loop.calls.append(Call(loop.iterator, len(loop.calls), self.now, self.now, NEXT_END))

    def kill(self) -> None:
        self.drawing.killed = True
        self.open.clear()

    def finish(self) -> Drawing:
        while self.open and not self.drawing.killed:
            self.finish_loop()
        self.drawing.end = self.now
        return self.drawing
