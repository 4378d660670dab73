"""The picture of ranks: who is in it, who is marked, and what is said of those that are not."""

from __future__ import annotations

from dataclasses import replace

import pytest
import report_samples
from builders import exact

from loaderdoctor.analyse.signals import ProcessSignals, RankSignals
from loaderdoctor.report import html, markdown
from loaderdoctor.report.charts_ranks import MOST_ROWS, ranks_chart
from loaderdoctor.report.view import view
from loaderdoctor.report.words import Words
from loaderdoctor.values import Missing

UNKNOWN = Missing("no-ranks", "They are none.")


def process(rank, share, last=None, host="host-1"):
    told = UNKNOWN if last is None else exact(last)
    return RankSignals(rank, host, 100, exact(0.1, "s"), exact(share * 10, "s"), exact(share), told)


def signals_with(*each, are_ranks=True):
    return replace(report_samples.starving().signals, processes=ProcessSignals(each, are_ranks))


def chart_of(*each, are_ranks=True, lang="en"):
    return ranks_chart(signals_with(*each, are_ranks=are_ranks), Words(lang))


@pytest.mark.parametrize(
    ("each", "worst", "why"),
    [
        ((process(0, 0.1, 0.0), process(1, 0.6, 0.9)), 1, "late, and the others wait for it"),
        ((process(0, 0.5, 0.8), process(1, 0.6, 0.1)), 0, "whom the others wait for, not who waits most"),
        ((process(0, 0.4, 0.02), process(1, 0.3, 0.05)), 0, "none is last often: who waits most"),
        ((process(0, 0.2), process(1, 0.3)), 1, "no ranks of one job"),
    ],
)
def test_the_worst_one_is_marked_and_named(each, worst, why):
    chart = chart_of(*each)
    assert [row.is_worst for row in chart.rows] == [rank == worst for rank in range(2)], why
    assert f"rank {worst} " in chart.sentence


def test_one_process_has_no_picture():
    assert chart_of() is None
    assert chart_of(process(0, 0.5)) is None


def test_hosts_are_told_where_there_are_several():
    assert [row.label for row in chart_of(process(0, 0.1, 0.0), process(1, 0.2, 0.0)).rows] == ["rank 0", "rank 1"]
    several = chart_of(process(0, 0.1, 0.0), process(1, 0.2, 0.0, host="host-2"))
    assert [row.label for row in several.rows] == ["rank 0 · host-1", "rank 1 · host-2"]


def test_of_many_those_that_cost_most_are_drawn_in_order_and_the_others_counted():
    each = [process(rank, 0.5 if rank % 10 == 7 else 0.01, 0.3 if rank == 97 else 0.0) for rank in range(100)]
    chart = chart_of(*each)
    ranks = [int(row.label.removeprefix("rank ")) for row in chart.rows]
    assert len(chart.rows) == MOST_ROWS == len(chart.data.rows)
    assert ranks == sorted(ranks)
    assert set(range(7, 100, 10)) <= set(ranks)
    assert "36 ranks that cost less are left out" in chart.caption
    assert "36 more rows" in chart.data.note


def test_trainings_of_their_own_are_not_called_ranks():
    chart = chart_of(process(0, 0.2), process(1, 0.3), are_ranks=False)
    assert chart.title == "Training processes"
    assert "rank" not in f"{chart.sentence} {chart.caption} {chart.rows[0].label}"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_format_has_it(lang):
    sample = report_samples.starving()
    signals = signals_with(process(0, 0.1, 0.0), process(1, 0.6, 0.9, host="host-2"))
    seen = view(sample.run, signals, sample.diagnosis, lang)
    assert seen.ranks is not None
    assert html.render(seen).count("<title>") == html.render(view(*sample[:3], lang)).count("<title>") + 1
    assert "host-2" in markdown.render(seen)
