"""Causes that lie in num_workers and what passes between processes."""
