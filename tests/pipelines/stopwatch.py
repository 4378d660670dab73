"""A script's own stopwatch, so that a report can be held against what the script says of itself.

    stopwatch.loop()            just before each loop over a loader, evaluation too
    for batch in loader:
        stopwatch.got()         first line of the loop
        ...
        stopwatch.done()        last line of the loop
    stopwatch.over()            first line after it, where what the last next() takes (it ends the workers) is to count

At exit the file named by STOPWATCH gets [{"began": s, "steps": [[got, done], ...], "over": s}, ...], seconds of
`time.perf_counter`.  Under torchrun each rank writes a file of its own, with the rank appended to the name; a process that has no
rank in its environment, or ends without its exit handlers, says `stopwatch.write(rank)` when it is done.
"""

import atexit
import json
import os
import time
from pathlib import Path

_loops = []


def loop() -> None:
    _loops.append({"began": time.perf_counter(), "steps": []})


def got() -> None:
    _loops[-1]["steps"].append([time.perf_counter()])


def done() -> None:
    _loops[-1]["steps"][-1].append(time.perf_counter())


def over() -> None:
    _loops[-1]["over"] = time.perf_counter()


def write(rank: object) -> None:
    path = os.environ.get("STOPWATCH")
    if path and _loops:  # workers inherit this module but never call loop()
        Path(f"{path}{rank}").write_text(json.dumps(_loops), encoding="utf-8")
    _loops.clear()


@atexit.register
def _write() -> None:
    write(os.environ.get("RANK", ""))
