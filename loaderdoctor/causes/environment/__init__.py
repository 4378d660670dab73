"""Causes that lie in cores, memory and clocks that the job is given."""
