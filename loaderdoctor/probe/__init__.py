"""What runs inside the training process: standard library only, nothing of the rest of the package."""
