"""The training processes beside each other: how long each waits for data, and for which of them the others wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.report import figures
from loaderdoctor.report.model import RankRow, RanksChart, Table
from loaderdoctor.report.tables import table
from loaderdoctor.values import Measured, value_or_none

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loaderdoctor.analyse.signals import HostSignals, RankSignals, Signals
    from loaderdoctor.report.words import Words

MOST_ROWS = 64  # a page has room for as many
NOTABLE_LAST = 0.1  # of the steps: of equal ranks, some are last now and then


def ranks_chart(signals: Signals, words: Words) -> RanksChart | None:
    """A row a process, the worst one marked; of more than fit, those that cost most."""
    every = signals.processes.each
    if len(every) <= 1:
        return None
    of = "rank" if signals.processes.are_ranks else "process"
    worst = max(every, key=_cost)
    shown = sorted(sorted(every, key=_cost, reverse=True)[:MOST_ROWS], key=every.index)
    several_hosts = len({one.host for one in every}) > 1
    return RanksChart(
        title=words(f"ranks.title.{of}"),
        sentence=_sentence(worst, len(every), of, words),
        rows=tuple(_row(one, words, of, is_worst=one is worst, with_host=several_hosts) for one in shown),
        caption=" ".join(_caption(every, shown, words, of)),
        legend=tuple((kind, words(f"legend.{key}")) for kind, key in (("wait", "wait"), ("compute", "last"))),
        data=_table(every, words, of),
    )


def _cost(one: RankSignals) -> tuple[float, float]:
    """What the others wait for it counts before what it waits itself."""
    last = value_or_none(one.last_share) or 0.0
    return (last if last >= NOTABLE_LAST else 0.0), value_or_none(one.starved_share) or 0.0


def _sentence(worst: RankSignals, count: int, of: str, words: Words) -> str:
    values = {
        "count": words.count(of, count),
        "name": words(f"ranks.name.{of}", n=worst.rank),
        "host": worst.host,
        "share": figures.cell(worst.starved_share),
    }
    if isinstance(worst.last_share, Measured) and worst.last_share.value >= NOTABLE_LAST:
        return words("ranks.sentence.last", last=figures.cell(worst.last_share), **values)
    return words("ranks.sentence", **values)


def _row(one: RankSignals, words: Words, of: str, *, is_worst: bool, with_host: bool) -> RankRow:
    name = words(f"ranks.name.{of}", n=one.rank)
    numbers = [one.starved_share, *([one.last_share] if isinstance(one.last_share, Measured) else [])]
    return RankRow(
        label=f"{name} · {one.host}" if with_host else name,
        waits=min(1.0, value_or_none(one.starved_share) or 0.0),
        last=min(1.0, value_or_none(one.last_share) or 0.0),
        numbers=" · ".join(map(figures.cell, numbers)),
        is_worst=is_worst,
    )


def _caption(every: Sequence[RankSignals], shown: Sequence[RankSignals], words: Words, of: str) -> list[str]:
    sentences = [words(f"ranks.caption.{of}")]
    left = [one for one in every if one not in shown]
    if left:
        most = max(value_or_none(one.starved_share) or 0.0 for one in left)
        sentences.append(words("ranks.more", count=words.count(of, len(left)), most=figures.share(most)))
    return sentences


def _table(every: Sequence[RankSignals], words: Words, of: str) -> Table:
    heads = {of: False, "host": False, "batches": True, "step": True, "waiting": True, "share": True, "last": True}
    rows = [
        (
            f"{one.rank}",
            one.host,
            f"{one.batches:,}",
            figures.cell(one.step_s),
            figures.cell(one.wait_s),
            figures.cell(one.starved_share),
            figures.cell(one.last_share),
        )
        for one in every
    ]
    return table(words(f"ranks.title.{of}"), heads, rows, words, most=MOST_ROWS)


def hosts_table(signals: Signals, words: Words) -> Table:
    """A row a part of the job: its machine by its own samples.  Without rows where the job was recorded in one."""
    heads = {"host": False, "ranks": False, "cpus": True, "memory": True, "cpu": True, "neighbours": True}
    rows = [_host(one) for one in signals.processes.by_host]
    return table(words("hosts.title"), heads, rows, words, most=MOST_ROWS)


def _host(one: HostSignals) -> tuple[str, ...]:
    machine = one.machine
    return (
        one.host,
        ", ".join(map(str, one.ranks)) or figures.ABSENT,
        figures.cell(machine.cpus_allowed),
        figures.cell(machine.memory_limit_bytes),
        figures.cell(machine.cpu_busy_share),
        figures.cell(machine.neighbour_cpu_share),
    )
