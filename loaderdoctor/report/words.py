"""The report's sentences in one language."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loaderdoctor.errors import LoaderDoctorError
from loaderdoctor.report import causes_en, causes_zh, text_en, text_zh
from loaderdoctor.report.said import Sayings
from loaderdoctor.report.said_causes_zh import CAUSES_SAY
from loaderdoctor.report.said_runs_zh import RUNS_SAY

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

LANGUAGES = ("en", "zh")
_IN_CHINESE = Sayings({**CAUSES_SAY, **RUNS_SAY})


class Words:
    """Looks sentences up by key and fills in their values.

    What causes and signals say of a run (evidence, reasons, advice, notes) is written in English where the number is known:
    `said` gives it in this language.
    """

    def __init__(self, lang: str = "en") -> None:
        """LoaderDoctorError `unknown-language` where there is no catalog."""
        catalogs: Mapping[str, tuple[Mapping[str, str], Mapping[str, str]]] = {
            "en": (text_en.TEXT, causes_en.CAUSES),
            "zh": (text_zh.TEXT, causes_zh.CAUSES),
        }
        if lang not in catalogs:
            sentence = f"There is no report in {lang!r}; choose one of {', '.join(LANGUAGES)}."
            raise LoaderDoctorError("unknown-language", sentence)
        self.lang = lang
        self._text, self._causes = catalogs[lang]
        self._sayings = _IN_CHINESE if lang == "zh" else None

    def __call__(self, key: str, **values: Any) -> str:
        """Give the sentence of the key with its values filled in."""
        return self._text[key].format(**values)

    def said(self, text: str) -> str:
        """Give what a cause or a signal says, in this language; as it is where there is no translation."""
        return text if self._sayings is None else self._sayings(text)

    def count(self, noun: str, number: int) -> str:
        """Give the number with its noun: "1 worker", "2 workers"."""
        return self(f"count.{noun}.{'one' if number == 1 else 'many'}", n=f"{number:,}")

    def listed(self, entries: Iterable[str]) -> str:
        """Give them one after the other."""
        return ("、" if self.lang == "zh" else ", ").join(entries)

    def cause(self, cause: str, **values: Any) -> str:
        """Say what a cause is, as half a sentence; its id in words where it came from elsewhere."""
        return self._causes.get(cause, cause.replace("-", " ")).format(**values)
