"""Trains until somebody presses Ctrl-C."""

import tiny

print("training", flush=True)
tiny.train(steps=100_000)
