"""fd-exhausted: found where a broken run had nearly all descriptors open that it may have."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ailing import answer, fed, on_a_cpu, workers_busy
from builders import exact

from loaderdoctor.analyse.signals import BrokenSignals
from loaderdoctor.causes import diagnose
from loaderdoctor.causes.order.fd_exhausted import NEAR_LIMIT
from loaderdoctor.values import Missing


def crashed(share, one=None):
    return replace(on_a_cpu(one or workers_busy()), broken=BrokenSignals(descriptors_share=share))


@pytest.mark.parametrize(("share", "status"), [(NEAR_LIMIT.value, "found"), (NEAR_LIMIT.value - 0.01, "ruled-out")])
def test_found_near_the_limit(share, status):
    finding = answer("fd-exhausted", crashed(exact(share)))
    assert finding.status == status


def test_the_sharing_strategy_is_shown():
    assert "file_system" in answer("fd-exhausted", crashed(exact(0.97))).prescription.actions[0].example


def test_a_run_without_counts_says_so():
    finding = answer("fd-exhausted", crashed(Missing("not-counted", "Not counted.")))
    assert (finding.status, finding.reasons) == ("no-data", ("Not counted.",))


def test_a_healthy_run_has_no_finding_however_many_it_holds():
    assert not [one for one in diagnose(crashed(exact(0.97), fed())).findings if one.status == "found"]


def test_without_workers_no_tensor_holds_one():
    assert answer("fd-exhausted", crashed(exact(0.97), workers_busy(0))).status == "not-applicable"
