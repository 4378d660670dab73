"""Writes the README's table of causes from the causes themselves: `python tests/readme.py`."""

from __future__ import annotations

import re
from pathlib import Path

from loaderdoctor.causes import CAUSES, subsystem

README = Path(__file__).resolve().parents[1] / "README.md"
TABLE = re.compile(r"(?<=<!-- causes: written by `python tests/readme\.py` -->\n).*(?=<!-- /causes -->)", re.DOTALL)


def with_causes(text: str) -> str:
    """The README's text with the table as it should be."""
    rows = [f"| [`{cause.id}`]({_page(cause.id)}) | {cause.title} |\n" for cause in CAUSES]
    return TABLE.sub(lambda _: "".join(["\n| cause | what it says |\n|---|---|\n", *rows, "\n"]), text)


def _page(cause_id: str) -> str:
    return f"loaderdoctor/causes/{subsystem(cause_id)}/{cause_id.replace('-', '_')}.md"


if __name__ == "__main__":
    README.write_text(with_causes(README.read_text(encoding="utf-8")), encoding="utf-8")
