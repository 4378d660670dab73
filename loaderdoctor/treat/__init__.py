"""What changes a script: the source patch."""
