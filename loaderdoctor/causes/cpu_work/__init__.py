"""Causes that lie in what the making of a sample computes."""
