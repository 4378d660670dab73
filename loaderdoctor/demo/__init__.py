"""A training script with a real illness, shipped so that anybody can see a report within a minute."""

from __future__ import annotations

from pathlib import Path

SCRIPT = Path(__file__).with_name("leaves.py")
