"""What drawings mean, since so many tests rest on them."""

import drawn
import pytest


@pytest.mark.parametrize(
    ("drawing", "calls", "steps"),
    [
        ("[wc]", [[(0, 1, 0), (2, 2, 1)]], [2]),
        ("[wwc.c]", [[(0, 2, 0), (3, 3, 0), (4, 4, 1)]], [3, 4]),
        ("xx[gwc|wc]", [[(3, 4, 0), (5, 5, 1)], [(5, 6, 0), (7, 7, 1)]], [5, 7]),
        ("[wcss]", [[(0, 1, 0), (2, 4, 1)]], [2]),
        ("[wcb", [[(0, 1, 0)]], [2]),
        ("[wc!", [[(0, 1, 0)]], []),
        ("[w{wc}c]", [[(0, 1, 0), (4, 4, 1)], [(1, 2, 0), (3, 3, 1)]], [4]),
        ("[wocwc]", [[(0, 1, 0), (2, 3, 0), (4, 4, 1)]], [1]),
    ],
)
def test_a_drawing_is_read_as_loops_of_calls(drawing, calls, steps):
    read = drawn.read(drawing)
    assert [[(call.begin, call.end, call.status) for call in loop.calls] for loop in read.loops] == calls
    assert read.steps == steps


def test_a_mark_that_means_nothing_is_refused():
    with pytest.raises(ValueError, match="no such mark: y"):
        drawn.read("[wy]")
