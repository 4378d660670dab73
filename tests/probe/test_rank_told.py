"""Which rank a process is, as it says itself: torch.distributed's answer, or that it is not in use."""

from __future__ import annotations

from pathlib import Path

import probing
import pytest

from loaderdoctor.record import read_process

SCRIPT = Path(__file__).with_name("scripts") / "joins.py"


@pytest.fixture(autouse=True)
def no_rank(monkeypatch):
    for name in ("RANK", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("words", "environment", "told", "why"),
    [
        (["take"], {}, [[-1]], "nobody to join"),
        (["join", "take", "take"], {}, [[0]], "once"),
        (["take", "take", "join", "take"], {}, [[-1, 0]], "as soon as it is known"),
        (["take"], {"RANK": "16"}, [[-1]], "of an adapter, or of a page: no size of a world beside it"),
        (["take"], {"RANK": "0", "WORLD_SIZE": "1"}, [[]], "the environment says it"),
        (["join", "take"], {"RANK": "3", "WORLD_SIZE": "4"}, [[0]], "the environment is that of whoever started it"),
        (["take", "fork", "take"], {}, [[-1], [-1]], "a fork says it of itself"),
    ],
)
def test_the_rank_is_told(words, environment, told, why, tmp_path):
    probing.run(SCRIPT, tmp_path, *words, **environment)
    ranks = [[row["rank"] for row in process.of("rank")] for process in probing.read(tmp_path)]
    assert ranks == told, why


def test_how_many_ranks_a_host_has_is_told_by_the_header(tmp_path):
    names = {"RANK": "5", "LOCAL_RANK": "1", "WORLD_SIZE": "8", "LOCAL_WORLD_SIZE": "4"}
    probing.run(SCRIPT, tmp_path, "take", **names)
    (path,) = (tmp_path / "records").glob("main-*.bin")
    process = read_process(path)
    assert process is not None
    assert {name.upper(): process.header[name.lower()] for name in names} == {k: int(v) for k, v in names.items()}
