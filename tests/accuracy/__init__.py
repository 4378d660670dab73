"""What predictions promise, held against what the changed settings then do: `python -m tests.accuracy`."""
