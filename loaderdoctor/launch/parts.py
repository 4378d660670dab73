"""Whether a command is one of several that make up a job: then each writes a part, all of them below one folder."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# How many commands of the job there are, as those say it who start them: srun, mpirun, Kubeflow and other operators (which
# set what torchrun reads, or the ranks themselves).
_COMMANDS = ("SLURM_STEP_NUM_TASKS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PET_NNODES", "WORLD_SIZE")
# How many hosts torchrun and accelerate are told of.
_OPTIONS = frozenset({"--nnodes", "--num-machines"})


def is_part(command: Sequence[str], variables: Mapping[str, str]) -> bool:
    """Whether other commands like this one run for the same job, on this host or another."""
    return any(_most(variables.get(name, "")) > 1 for name in _COMMANDS) or any(
        _most(value) > 1 for value in _values(command)
    )


def _values(command: Sequence[str]) -> list[str]:
    found = []
    for word, following in zip(command, [*command[1:], ""], strict=True):
        name, equals, value = word.partition("=")
        if name.replace("_", "-") in _OPTIONS:
            found.append(value if equals else following)
    return found


def _most(count: str) -> int:
    """Of `2`, and of torchrun's range `1:4`; 0 of anything else."""
    told = re.fullmatch(r"(?:\d+:)?(\d{1,6})", count.strip())
    return int(told[1]) if told else 0
