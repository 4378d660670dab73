"""Starts the script with the probe, passes signals and exit status through, and ends it after N steps."""
