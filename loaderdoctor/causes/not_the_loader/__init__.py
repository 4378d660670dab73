"""Causes that lie in limits and faults that no loader setting cures."""
