"""Which step of the run a step is, where all were looked at and where some were only counted."""

import numpy as np
import pandas as pd
import pytest
from builders import Records

from loaderdoctor.analyse.numbering import numbers_of

TRAIN, EVAL = 1, 2


def steps(*rows):
    """(loader, iterator, ordinal) of each."""
    return pd.DataFrame(rows, columns=["loader", "iterator", "ordinal"])


def main(passed=0):
    records = Records(100)
    if passed:
        records.put("passed", begin_ns=1, end_ns=2, loader=TRAIN, batches=passed, epochs=1, wait_ns=1)
    return records.done()


def test_of_a_run_that_was_looked_at_whole_they_are_counted():
    seen = steps((TRAIN, 1, 0), (EVAL, 2, 0), (TRAIN, 1, 1), (EVAL, 3, 0), (TRAIN, 1, 2))
    assert numbers_of(seen, main(), {TRAIN}).tolist() == [1, 1, 2, 2, 3]
    assert numbers_of(seen, main(), ()).tolist() == [1] * 5


@pytest.mark.parametrize("persistent", [True, False])
def test_of_one_that_was_looked_at_in_parts_they_are_where_the_iterators_say(persistent):
    """Ten epochs of 100 steps, of which every fourth is seen from its middle on."""
    rows, numbers = [], []
    for epoch in range(0, 10, 3):
        for ordinal in range(50, 100):
            rows.append((TRAIN, 1, 101 * epoch + ordinal) if persistent else (TRAIN, epoch + 1, ordinal))
            numbers.append(100 * epoch + ordinal + 1)
    told = numbers_of(steps(*rows), main(passed=1000 - len(rows)), {TRAIN})
    assert told.tolist() == pytest.approx(numbers, rel=0.02)
    assert told[-1] == 1000
    assert (np.diff(told) >= 0).all()
