"""gc-pause: collections of garbage, in the making of batches or in the loop, and what they hold up."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ailing import answer, computing, fed, on_a_cpu
from builders import around

from loaderdoctor.analyse.signals import LoopSignals, MakingSignals
from loaderdoctor.causes import diagnose
from loaderdoctor.causes.main_process.gc_pause import FELT
from loaderdoctor.values import Missing

UNTOLD = Missing("always-collected", "Each batch had one.")


def collecting(making=0.0, loop=0.0, **shares):
    one = computing(**shares) if making or shares else fed()
    signals = MakingSignals(collected_share=UNTOLD if making is None else around(making, spread=0.01))
    collected = UNTOLD if loop is None else around(loop, spread=0.01)
    return on_a_cpu(replace(one, making=signals), loop=LoopSignals(collected_share=collected))


@pytest.mark.parametrize("where", [{"making": 0.8}, {"loop": 0.3}], ids=["making", "loop"])
def test_found_where_batches_or_steps_are_held_up(where):
    finding = answer("gc-pause", collecting(**where))
    assert (finding.status, finding.prescription.settings) == ("found", {})
    assert finding.gain.speedup.best > 1.1
    assert "gc.freeze()" in finding.prescription.actions[0].example


def test_it_explains_the_code_that_it_struck():
    run = diagnose(collecting(making=0.8, array=0.9))
    status = {one.cause: (one.status, one.explained_by) for one in run.findings}
    assert status["cpu-augment"] == ("explained", "gc-pause")


@pytest.mark.parametrize(("loop", "status"), [(FELT.value * 1.6, "found"), (FELT.value * 0.95, "ruled-out")])
def test_short_pauses_are_not_felt(loop, status):
    assert answer("gc-pause", collecting(loop=loop)).status == status


def test_collections_in_each_batch_and_step_tell_nothing():
    assert answer("gc-pause", collecting(making=None, loop=None)).status == "no-data"


def test_slow_code_without_collections_is_another_illness():
    finding = answer("gc-pause", collecting(python=0.9))
    assert (finding.status, finding.evidence[0].value) == ("ruled-out", 0.0)


def test_the_loops_pauses_are_told_of_one_loader():
    run = collecting(loop=0.3)
    both = replace(run, loaders=(*run.loaders, replace(run.loaders[0], id="eval", role="eval")))
    evaluation = next(one for one in diagnose(both).findings if (one.cause, one.loader) == ("gc-pause", "eval"))
    assert (evaluation.status, evaluation.evidence[0].value) == ("ruled-out", 0.0)
