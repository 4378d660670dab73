"""Causes that lie in the order of batches and the edges of epochs."""
