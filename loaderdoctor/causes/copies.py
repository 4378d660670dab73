"""Thresholds that the causes of slow host-to-device copies share, so that each copy has one cause."""

from __future__ import annotations

from loaderdoctor.causes.base import Threshold

EXPOSED = Threshold(0.02, "share", "What explains less than this gains less than two runs of one script differ by.")
# Pinned and blocking shares are near 0 or 1 in real scripts: batches take one way.  Half keeps a stray tensor out of it.
PINNED = Threshold(0.5, "share", "Most bytes come from pinned memory, so pinning is not what is left to gain.")
BLOCKING = Threshold(0.5, "share", "Most copies make the host wait until they are done.")
