"""Fails before it does anything."""

message = "the data set moved"
raise RuntimeError(message)
