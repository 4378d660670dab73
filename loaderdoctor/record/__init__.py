"""What is stored of a run, and how it is read again."""
