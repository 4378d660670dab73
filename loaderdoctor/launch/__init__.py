"""Starts the script with the probe, passes signals and exit status through, and ends it after N steps."""

from __future__ import annotations

from loaderdoctor.launch.child import end_as
from loaderdoctor.launch.command import Command, of_module, of_script, of_words
from loaderdoctor.launch.run import Launched, Options, Trial, launch

__all__ = ["Command", "Launched", "Options", "Trial", "end_as", "launch", "of_module", "of_script", "of_words"]
