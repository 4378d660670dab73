"""The command line: one command a file, parsing and exit codes only."""
