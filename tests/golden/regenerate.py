"""Writes the golden reports anew: `python tests/golden/regenerate.py`, then read the diff before you commit it."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
SUFFIXES = ("html", "json", "md", "txt")


def reports() -> dict[str, str]:
    """File name -> text, for every sample in every format that is text."""
    from report_samples import SAMPLES

    from loaderdoctor.report import PATCH_FILE, Written, html, json, markdown, terminal
    from loaderdoctor.report.prescribe import fix_patch
    from loaderdoctor.report.view import view

    files = {}
    for name, make in SAMPLES.items():
        sample = make()
        seen = view(*sample)
        patch = fix_patch(sample.run, sample.signals, sample.diagnosis)
        written = Written((Path("report.html"), *([Path(PATCH_FILE)] if patch else [])), seen)
        files[f"{name}.html"] = html.render(seen)
        files[f"{name}.json"] = json.render(*sample[:3], seen)
        files[f"{name}.md"] = markdown.render(seen)
        files[f"{name}.txt"] = "".join(f"{line}\n" for line in terminal.lines(written))
    return files


def main() -> None:
    """Replace every golden file."""
    for path in HERE.iterdir():
        if path.suffix[1:] in SUFFIXES:
            path.unlink()
    for name, text in reports().items():
        (HERE / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parent))
    main()
