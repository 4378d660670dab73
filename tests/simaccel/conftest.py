"""Keeps the simulator's own tests out of this process: installing it changes torch for good (tests/test_simaccel.py)."""

collect_ignore = ["tests"]
