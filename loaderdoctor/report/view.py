"""From a run and its diagnosis to everything that a report says; no renderer decides on a word or a number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.report import advice, details, page_one
from loaderdoctor.report.charts import proof
from loaderdoctor.report.headline import first_finding, headline
from loaderdoctor.report.model import Labels, ReportView
from loaderdoctor.report.prescribe import fix_patch
from loaderdoctor.report.words import Words

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import Signals
    from loaderdoctor.causes.base import Diagnosis
    from loaderdoctor.record.run import Run


def view(run: Run, signals: Signals, diagnosis: Diagnosis, lang: str = "en") -> ReportView:
    """The report in one language.  LoaderDoctorError `unknown-language`."""
    words = Words(lang)
    finding = first_finding(diagnosis)
    patched = fix_patch(run, signals, diagnosis)
    sentence = headline(signals, diagnosis, words)
    is_first = patched is not None and finding is not None and patched.cause == finding.cause
    prescribed = finding is not None and finding.prescription is not None
    fault = finding if diagnosis.status == "starving" else None  # a healthy run's finding is about memory, not about it
    return ReportView(
        lang=lang,
        title=f"loaderdoctor: {sentence}",
        status=diagnosis.status,
        run_line=page_one.run_line(run, words),
        headline=sentence,
        lead=advice.lead(run, signals, diagnosis, words),
        facts=page_one.facts(signals, diagnosis, fault, words),
        proof=proof(signals, words),
        fix=advice.fix(run, signals, finding, words, in_file=is_first)
        if finding is not None and prescribed
        else advice.instead(run, signals, diagnosis, words),
        gain=advice.gain(finding, diagnosis, words),
        sure=page_one.sure(run, signals, fault, words),
        ruled_out=page_one.ruled_out(run, diagnosis, words),
        environment=page_one.environment(run, signals, words),
        details_title=words("details.title"),
        findings_title=words("findings.title"),
        findings=details.other_findings(run, signals, diagnosis, words, patched),
        tables=details.tables(run, signals, diagnosis, words),
        lists=details.lists(run, signals, diagnosis, words),
        method=details.method(signals, words),
        labels=Labels(
            key_numbers=words("label.key-numbers"),
            data=words("label.data"),
            footer=words("label.footer" if patched is None else "label.footer-patch", run=run.meta.id),
        ),
    )
