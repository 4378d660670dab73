"""The catalogs hold the same keys and the same places to fill in, and a phrase for each cause of the contract."""

import ast
import re
import string
from pathlib import Path

import pytest

import loaderdoctor.report
from loaderdoctor import causes
from loaderdoctor.errors import LoaderDoctorError
from loaderdoctor.report import causes_en, causes_zh, text_en, text_zh
from loaderdoctor.report.words import LANGUAGES, Words

CONTRACT = """
no-workers too-few-workers too-many-workers ipc-overhead per-sample-fetch ipc-object-count payload-too-wide
over-provisioned thread-oversubscription affinity-collapsed cpu-quota noisy-neighbour memory-pressure cow-memory-growth
clock-throttled numa-misplacement storage-bandwidth small-file-latency remote-latency cold-page-cache page-cache-overflow
read-amplification handle-reopen fork-shared-handle cpu-decode oversized-decode video-seek audio-on-the-fly cpu-augment
python-overhead tokenize-on-the-fly slow-collate ineffective-cache head-of-line bursty-prefetch first-batch-latency
worker-respawn spawn-startup sampler-cost shuffle-buffer-fill dataset-scan iterable-duplicates too-few-shards
fork-deadlock shm-exhausted fd-exhausted unpinned-memory blocking-h2d pin-thread-contention device-sync host-work-main
gc-pause eval-stall checkpoint-stall rank0-dispatch input-straggler compute-imbalance gpu-bound launch-bound comm-bound
warmup-compile timer-misattribution
"""


def places(text):
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize(("english", "chinese"), [(text_en.TEXT, text_zh.TEXT), (causes_en.CAUSES, causes_zh.CAUSES)])
def test_catalogs_match(english, chinese):
    assert {key: places(text) for key, text in english.items()} == {key: places(text) for key, text in chinese.items()}


def test_a_phrase_for_every_cause():
    assert set(causes_en.CAUSES) == set(CONTRACT.split())
    assert {cause.id for cause in causes.CAUSES} <= set(causes_en.CAUSES)


def test_every_sentence_is_used_and_every_one_used_is_there():
    """Keys stand in the source as they are, or as f-strings whose fixed beginning they share."""
    literal, prefixes = set(), set()
    for path in Path(loaderdoctor.report.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and not path.stem.startswith("text_"):
                literal.add(node.value)
            if isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
                prefixes.add(node.values[0].value)
    prefixes = {prefix for prefix in prefixes if re.fullmatch(r"[a-z-]+\.([a-z.-]+\.)?", prefix)}
    unused = {key for key in text_en.TEXT if key not in literal and not key.startswith(tuple(prefixes))}
    assert unused == set()


def test_counts():
    words = Words("en")
    assert [words.count("worker", n) for n in (0, 1, 2, 12345)] == [
        "0 workers",
        "1 worker",
        "2 workers",
        "12,345 workers",
    ]


def test_a_cause_from_elsewhere_is_named_by_its_id():
    assert Words("en").cause("solar-flare") == "solar flare"


def test_an_unknown_language():
    with pytest.raises(LoaderDoctorError, match="en, zh") as raised:
        Words("tlh")
    assert raised.value.slug == "unknown-language"
    assert LANGUAGES == ("en", "zh")
