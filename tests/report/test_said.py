"""Each sentence of causes, signals and recorders has its translation, and is found with its values filled in."""

import pytest
import sentences

from loaderdoctor.report.said import HOLE, Sayings
from loaderdoctor.report.said_causes_zh import CAUSES_SAY
from loaderdoctor.report.said_runs_zh import RUNS_SAY
from loaderdoctor.report.words import Words

SAYS = {**CAUSES_SAY, **RUNS_SAY}
SENTENCES = sentences.sentences()
# Texts that are no sentences for a reader: patterns, names of fields, notes to whoever writes a backend, errors on a terminal.
NOT_SAID = (
    "/numpy/lib/", "ext2 ext3", "nfs nfs4", "overlay aufs", "tmpfs ramfs", "a stat line of", "{} cannot be started",
    "There is no script", "{} has record schema", "{} is not the {} of a run", "{} has schema", "A note in {}", "{} is larger than",
    "{} is not a run directory", "{} cannot be read: ", "As in `torch", "Whether `elapsed_ns`", "Whether `active`",
    "text part parts", "Memcpy HtoD",
)  # fmt: skip


def test_every_sentence_has_its_translation():
    missing = {text: file for text, file in SENTENCES.items() if text not in SAYS and not text.startswith(NOT_SAID)}
    assert missing == {}, "say these in loaderdoctor/report/said_causes_zh.py or said_runs_zh.py"


def test_no_translation_is_left_over():
    units = {text for text in SAYS if " " not in text} | {"1 worker", "{} workers"}
    assert set(SAYS) - set(SENTENCES) - units == set()


@pytest.mark.parametrize("text", SAYS)
def test_a_translation_has_as_many_places_as_its_sentence(text):
    holes = text.count(HOLE)
    assert SAYS[text].format(*map(str, range(holes)))
    assert all(f"{{{index}}}" in SAYS[text] for index in range(holes))


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("The loader has no workers.", "加载器没有 worker。"),
        ("The loader has 3 workers.", "加载器有 3 个 worker。"),
        ("Replayed with 1 worker, at the low end", "以 1 个 worker重放，取低端"),
        ("rank 3", "rank 3"),
        (
            "Start 4 workers: with 2, all of them are busy and the training still waits.",
            "启动 4 个 worker：现有 2 个都在忙，而训练仍在等待。",
        ),
        ("In Photos.load (photos.py:9): Freeze what stays.", "在 Photos.load (photos.py:9) 中：冻结长期存在的对象。"),
        ("One process trains. No batch was pinned.", "只有一个进程在训练。没有批次被锁页。"),
        ("Something that nobody translated.", "Something that nobody translated."),
    ],
)
def test_sentences_are_found_with_their_values(english, chinese):
    assert Words("zh").said(english) == chinese
    assert Words("en").said(english) == english


def test_the_sentence_with_the_most_fixed_words_is_taken():
    says = Sayings({"{} and {}": "{0}+{1}", "{} and nothing else": "{0}!"})
    assert says("salt and nothing else") == "salt!"
    assert says("salt and bread") == "salt+bread"
