"""timer-misattribution: never found, always with its number."""

from __future__ import annotations

import pytest
from ailing import answer, fed, on_a_cpu, on_a_gpu

from loaderdoctor.causes import diagnose
from loaderdoctor.causes.not_the_loader.timer_misattribution import MISLED


@pytest.mark.parametrize("hidden", [0.0, MISLED.value, 0.9])
def test_hidden_waits_are_a_number_and_no_fault(hidden):
    finding = answer("timer-misattribution", on_a_gpu(fed(), hidden_wait_share=hidden))
    assert (finding.status, finding.evidence[0].value, finding.evidence[0].threshold) == (
        "ruled-out",
        hidden,
        MISLED.value,
    )


def test_on_the_hosts_clock_alone_it_cannot_be_said():
    answers = {finding.cause: finding.status for finding in diagnose(on_a_cpu(fed())).findings}
    assert answers["timer-misattribution"] == "not-applicable"
