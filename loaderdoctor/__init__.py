"""Says why a PyTorch training starves for data, what to change, and how much faster it gets."""

__version__ = "0.1.0"
