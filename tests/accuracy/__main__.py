"""`python -m tests.accuracy [--count N] [--first N] [--keep FOLDER] [--again]`: measures, and prints the table."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from . import table
from .measure import compare, record
from .pipelines import draw


def main() -> None:
    asked = argparse.ArgumentParser(prog="python -m tests.accuracy")
    asked.add_argument("--first", type=int, default=0, help="number of the first pipeline")
    asked.add_argument("--count", type=int, default=60, help="how many pipelines")
    asked.add_argument("--keep", type=Path, help="where runs stay, so that they can be told again")
    asked.add_argument("--again", action="store_true", help="tells the runs in --keep again and measures nothing")
    asked.add_argument("--write", type=Path, help="where the table goes, as Markdown")
    options = asked.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        runs = options.keep or Path(folder)
        rows = []
        for number in range(options.first, options.first + options.count):
            run = runs / f"{number:03}"
            if not options.again and not run.exists():
                record(draw(number), run)
            if (run / "times.json").exists():
                its = compare(run)
                print(*(table.line(row) for row in its), sep="\n", flush=True)
                rows += its
        print(table.summary(rows))
        if options.write:
            options.write.write_text(table.markdown(rows), encoding="utf-8")


main()
