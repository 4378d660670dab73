"""The sums of what the hooks took, from the first step that was weighed on."""

from __future__ import annotations

from probe_recorder import Recorder

from loaderdoctor.probe.own_cost import MOST_NS, OwnCost

US, MS = 1000, 10**6


class Writer(Recorder):
    """A recorder whose one record of a kind is written over."""

    def __init__(self):
        super().__init__()
        self.detail = self
        self.told = []

    def put_over(self, kind, *fields):
        """As the writer's."""
        self.rows = []
        self.put(kind, *fields)

    def costs(self, own_ns, now_ns):
        """As those of the stretches of detail."""
        self.told.append((own_ns, now_ns))


def test_steps_stand_for_those_between_them_and_one_put_aside_for_no_more_than_its_most():
    writer = Writer()
    cost = OwnCost(writer)
    for number, own_ns in enumerate((99 * US, 20 * US, 40 * US, 4 * MS)):
        cost.weighed(own_ns, 10, 1000 * MS + number * 300 * MS)
    sums_ns = [200 * US, 400 * US, 10 * MOST_NS]
    assert [own_ns for own_ns, _ in writer.told] == sums_ns
    (row,) = writer.rows_of("own")
    assert row == {
        "of_ns": 900 * MS,
        "own_ns": sum(sums_ns),
        "own_us2": sum((own_ns // US) ** 2 for own_ns in sums_ns),
        "weighed": 3,
    }
