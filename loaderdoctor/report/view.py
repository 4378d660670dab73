"""From a run and its diagnosis to everything that a report says; no renderer decides on a word or a number."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from loaderdoctor.report import advice, details, page_one
from loaderdoctor.report.charts import proof
from loaderdoctor.report.charts_ranks import ranks_chart
from loaderdoctor.report.curve import curve
from loaderdoctor.report.flow import flow
from loaderdoctor.report.headline import first_finding, headline
from loaderdoctor.report.lanes import lanes
from loaderdoctor.report.model import Fix, Gain, Labels, Listing, Picture, ReportView, Summary
from loaderdoctor.report.next_run import how_it_ended
from loaderdoctor.report.parts import Parts
from loaderdoctor.report.prescribe import fix_patch
from loaderdoctor.report.spent import spent
from loaderdoctor.report.visible import all_visible
from loaderdoctor.report.watched import watched
from loaderdoctor.report.words import Words

if TYPE_CHECKING:
    from collections.abc import Callable

    from loaderdoctor.analyse.signals import Signals
    from loaderdoctor.causes.base import Diagnosis
    from loaderdoctor.record.run import Run


def view(run: Run, signals: Signals, diagnosis: Diagnosis, lang: str = "en") -> ReportView:
    """The report in one language, with a note on each part that failed.  LoaderDoctorError `unknown-language`."""
    words = Words(lang)
    parts = Parts(words)
    finding = first_finding(diagnosis)
    patched = parts.made("fix.patch", lambda: fix_patch(run, signals, diagnosis), None)
    sentence = parts.made("headline", lambda: headline(signals, diagnosis, words), words("headline.none"))
    is_first = patched is not None and finding is not None and patched.cause == finding.cause
    fault = finding if diagnosis.status == "starving" else None  # a healthy run's finding is about memory, not about it

    def listing(name: str) -> Listing:
        return Listing(words(f"{name}.title"), ())

    seen = ReportView(
        lang=lang,
        title=f"loaderdoctor: {sentence}",
        status=diagnosis.status,
        run_line=parts.made("run-line", lambda: page_one.run_line(run, words), ""),
        headline=sentence,
        lead=parts.made("lead", lambda: advice.lead(run, signals, diagnosis, words), ""),
        ended=parts.made("ended", lambda: how_it_ended(run, signals, words), ""),
        facts=page_one.facts(signals, diagnosis, fault, words, parts),
        proof=proof(signals, words, parts),
        fix=parts.made(
            "fix", lambda: _fix(run, signals, diagnosis, words, in_file=is_first), Fix(words("fix.title"), ())
        ),
        gain=parts.made("gain", lambda: advice.gain(finding, diagnosis, words), Gain(words("gain.title"), None, ())),
        sure=parts.made("sure", lambda: page_one.sure(run, signals, fault, words), listing("sure")),
        ruled_out=parts.made("ruled-out", lambda: page_one.ruled_out(run, diagnosis, words), listing("ruled-out")),
        unmeasured=parts.made(
            "unmeasured", lambda: page_one.unmeasured(run, signals, diagnosis, words), listing("unmeasured")
        ),
        environment=parts.made(
            "environment", lambda: page_one.environment(run, signals, words), listing("environment")
        ),
        details_title=words("details.title"),
        findings_title=words("findings.title"),
        findings=details.other_findings(run, signals, diagnosis, words, patched, parts=parts),
        pictures=_pictures(run, signals, diagnosis, words, parts),
        tables=details.tables(run, signals, diagnosis, words, parts),
        lists=details.lists(run, signals, diagnosis, words, parts),
        method=parts.made("method", lambda: details.method(signals, words), listing("method")),
        summary=Summary(
            gain=parts.made("summary", lambda: advice.gain_in_a_line(finding, words), ""),
            fix=parts.made("summary", lambda: advice.fix_in_a_line(run, signals, diagnosis, finding, words), ""),
            sure=words(f"confidence.{finding.confidence}") if finding and finding.prescription else "",
            next=parts.made("summary", lambda: advice.next_in_a_line(run, signals, diagnosis, finding), ""),
            to_treat=parts.made("summary", lambda: advice.to_treat(run, signals, finding), ""),
        ),
        labels=Labels(
            key_numbers=words("label.key-numbers"),
            data=words("label.data"),
            footer=words("label.footer" if patched is None else "label.footer-patch", run=run.meta.id),
        ),
        ranks=parts.made("ranks", lambda: ranks_chart(signals, words), None),
    )
    return all_visible(_with_notes(seen, parts, words))


def _pictures(run: Run, signals: Signals, diagnosis: Diagnosis, words: Words, parts: Parts) -> tuple[Picture, ...]:
    """Those for which there are numbers; a run that cannot be drawn is told in tables."""
    makers: dict[str, Callable[[], Picture | None]] = {
        "flow": lambda: flow(signals, words),
        "lanes": lambda: lanes(signals, words),
        "curve": lambda: curve(signals, diagnosis, words),
        "phases": lambda: spent(signals, words),
        "watched": lambda: watched(run, signals, words),
    }
    made = (parts.made(name, make, None) for name, make in makers.items())
    return tuple(picture for picture in made if picture is not None)


def _fix(run: Run, signals: Signals, diagnosis: Diagnosis, words: Words, *, in_file: bool) -> Fix:
    finding = first_finding(diagnosis)
    if finding is None or finding.prescription is None:
        return advice.instead(run, signals, diagnosis, words)
    return advice.fix(run, signals, finding, words, in_file=in_file)


def _with_notes(seen: ReportView, parts: Parts, words: Words) -> ReportView:
    """The view with what failed among its notes."""
    if not parts.notes:
        return seen
    notes = Listing(words("notes.title"), tuple(parts.notes))
    others = tuple(one for one in seen.lists if one.title != notes.title)
    said = next((one.entries for one in seen.lists if one.title == notes.title), ())
    return replace(seen, lists=(*others, replace(notes, entries=(*said, *notes.entries))))
