"""Causes that lie in the training process itself and its copies to the device."""
