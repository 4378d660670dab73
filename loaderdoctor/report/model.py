"""What a report says, in words and rounded numbers: the one value that every renderer draws."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fact:
    """One of the four numbers at the top."""

    label: str
    value: str
    detail: str


@dataclass(frozen=True)
class Part:
    """A part of the step.  `kind` is wait|copy|compute|other, `share` is of the median step."""

    kind: str
    label: str
    share: float


@dataclass(frozen=True)
class Column:
    """A column's heading, and whether its cells are numbers."""

    label: str
    is_number: bool = False


@dataclass(frozen=True)
class Table:
    """Rows of text; `note` says what was left out or how to read it."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


@dataclass(frozen=True)
class SplitBar:
    """Where the median step goes.  `sentence` says it without the picture."""

    sentence: str
    parts: tuple[Part, ...]
    total: str
    caption: str
    data: Table


@dataclass(frozen=True)
class StepsChart:
    """The steps in order, each bar the mean of as many as fit: heights 0..1 of `top`, a row for each kind from below."""

    sentence: str
    kinds: tuple[str, ...]
    bars: tuple[tuple[float, ...], ...]
    ticks: tuple[tuple[float, str], ...]
    first: str
    last: str
    caption: str
    legend: tuple[tuple[str, str], ...]
    data: Table


@dataclass(frozen=True)
class RankRow:
    """A training process: shares 0..1 of its time and of the steps, and both in words."""

    label: str
    waits: float
    last: float
    numbers: str
    is_worst: bool


@dataclass(frozen=True)
class RanksChart:
    """The training processes beside each other."""

    title: str
    sentence: str
    rows: tuple[RankRow, ...]
    caption: str
    legend: tuple[tuple[str, str], ...]
    data: Table


@dataclass(frozen=True)
class IntervalChart:
    """A speed-up with its interval; places 0..1 on the axis."""

    sentence: str
    low: float
    best: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    caption: str
    measured: float | None = None  # of the run with the prescription


@dataclass(frozen=True)
class Mark:
    """A piece of a picture.  `kind` is its colour.

    shape: bars (x, y, width, height of each), line and area (x, y of each corner), dash (as line), text (x, y of its start,
    middle or end, as `anchor` says), dot (x, y).
    """

    shape: str
    kind: str
    at: tuple[float, ...]
    text: str = ""
    anchor: str = "start"


@dataclass(frozen=True)
class Picture:
    """A drawing on a sheet of its own units, and its numbers behind it; where there is nothing to draw, why."""

    title: str
    sentence: str
    width: float = 0.0
    height: float = 0.0
    marks: tuple[Mark, ...] = ()
    caption: str = ""
    legend: tuple[tuple[str, str], ...] = ()
    data: Table | None = None


@dataclass(frozen=True)
class SpellsChart:
    """How much of the time was waiting in each part of the run: begin, end and height, all 0..1."""

    sentence: str
    spells: tuple[tuple[float, float, float], ...]
    ticks: tuple[tuple[float, str], ...]
    first: str
    last: str
    caption: str
    data: Table


@dataclass(frozen=True)
class Proof:
    """The charts on the first page, and the sentence in their place where nothing was measured."""

    title: str
    split: SplitBar | None
    steps: StepsChart | None
    absent: str = ""
    spells: SpellsChart | None = None  # of a run that changed


@dataclass(frozen=True)
class DiffLine:
    """A line of a unified diff.  `kind` is add|del|ctx."""

    kind: str
    text: str


@dataclass(frozen=True)
class Example:
    """A place in the code, or a thing to do, and how it is written."""

    text: str
    code: str


@dataclass(frozen=True)
class Fix:
    """What to change, or what to run instead: sentences before the diff, commands behind it."""

    title: str
    sentences: tuple[str, ...]
    diff: tuple[DiffLine, ...] = ()
    apply: str = ""  # the sentence before the commands
    commands: tuple[str, ...] = ()
    safety: str = ""
    examples: tuple[Example, ...] = ()


@dataclass(frozen=True)
class Gain:
    """What is to be expected of the fix: a chart where it is speed, else a sentence."""

    title: str
    chart: IntervalChart | None
    sentences: tuple[str, ...]


@dataclass(frozen=True)
class Listing:
    """A titled list; `entries` are (term, text), the term a cause id or empty."""

    title: str
    entries: tuple[tuple[str, str], ...]
    note: str = ""


@dataclass(frozen=True)
class FindingBlock:
    """A finding after the first."""

    cause: str
    title: str
    facts: tuple[str, ...]
    evidence: tuple[str, ...]
    fix: Fix


@dataclass(frozen=True)
class Summary:
    """What a terminal shows beside headline and files: empty where there is nothing to say."""

    gain: str
    fix: str
    sure: str
    next: str  # without a patch
    to_treat: str = ""  # folder of the run, where `treat` can prove what is prescribed and has not


@dataclass(frozen=True)
class Labels:
    """The few words that belong to no section."""

    key_numbers: str
    data: str  # opens the table behind a chart
    footer: str


@dataclass(frozen=True)
class ReportView:
    """The whole report.  `lang` is a BCP 47 tag."""

    lang: str
    title: str
    status: str
    run_line: str
    headline: str
    lead: str
    ended: str  # how, where not by itself
    facts: tuple[Fact, ...]
    proof: Proof
    fix: Fix
    gain: Gain
    sure: Listing
    ruled_out: Listing
    unmeasured: Listing
    environment: Listing
    details_title: str
    findings_title: str
    findings: tuple[FindingBlock, ...]
    pictures: tuple[Picture, ...]
    tables: tuple[Table, ...]
    lists: tuple[Listing, ...]
    method: Listing
    summary: Summary
    labels: Labels
    ranks: RanksChart | None = None  # where more than one process trains
