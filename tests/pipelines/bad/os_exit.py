"""Leaves without a word to anybody's exit handlers."""

import os

import tiny

print(tiny.train(), flush=True)
os._exit(7)
