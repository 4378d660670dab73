"""The process that reports on a run which goes on: HTML and JSON, for a PDF takes longer than both and waits for the end."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from loaderdoctor import pipeline, report
from loaderdoctor.launch.ending import each_main_process, gather_sources
from loaderdoctor.live.rendering import NOT_YET, WRITTEN

FORMATS = ("html", "json")
FIRST_TO_GO = "1000"  # where memory runs out, this process is the one to lose


def main() -> NoReturn:
    """Report on the run directory that the command line names, in the language that it names."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(FIRST_TO_GO, encoding="ascii")
    run_dir, lang = sys.argv[1:]
    sys.exit(render(Path(run_dir), lang))


def render(run_dir: Path, lang: str) -> int:
    """WRITTEN, or NOT_YET where there is no verdict so far; a later report takes the place of an earlier one."""
    with suppress(OSError):
        gather_sources(run_dir, each_main_process(run_dir))
    done = pipeline.diagnose(run_dir)
    if done.diagnosis.status == "not-enough-data":
        return NOT_YET
    report.write(done.run, done.signals, done.diagnosis, run_dir, FORMATS, lang)
    return WRITTEN
