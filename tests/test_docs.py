"""The documents against what they speak of: commands, options, links, the table of causes."""

from __future__ import annotations

import re

import pytest
from readme import README, with_causes
from source import PACKAGE, ROOT

from loaderdoctor.cli import commands

DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document):
    # The tests against the wheel run without the source beside them; there the package stands elsewhere.
    targets = LINK.findall(document.read_text(encoding="utf-8"))
    homes = [PACKAGE.parent if target.startswith("loaderdoctor/") else document.parent for target in targets]
    assert [target for home, target in zip(homes, targets, strict=True) if not (home / target).exists()] == []


def test_the_table_of_causes_is_current():
    text = README.read_text(encoding="utf-8")
    assert text == with_causes(text), "run: python tests/readme.py"


def test_the_readme_names_every_command_and_no_other():
    named = set(re.findall(r"`?loaderdoctor ([a-z]+)", README.read_text(encoding="utf-8")))
    assert named == set(commands.commands)


def test_the_readme_names_every_option_of_profile_and_no_other():
    text = README.read_text(encoding="utf-8")
    start = text.index("Options of `profile`")
    named = set(re.findall(r"`(--?[a-z-]+)", text[start : text.index("\n\n", start)]))
    options = {name for option in commands.commands["profile"].params for name in option.opts if name.startswith("-")}
    assert named == options - {"-m", "--output"}
