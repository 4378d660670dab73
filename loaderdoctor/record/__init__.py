"""What is stored of a run, and how it is read again."""

from __future__ import annotations

from loaderdoctor.record.job import RECORDED_AS_A_PART, parts_in, read_job
from loaderdoctor.record.meta import read_meta, write_meta
from loaderdoctor.record.reader import read, read_process, read_processes
from loaderdoctor.record.run import ProcessRecords, Run, RunMeta, Samples

__all__ = [
    "RECORDED_AS_A_PART",
    "ProcessRecords",
    "Run",
    "RunMeta",
    "Samples",
    "parts_in",
    "read",
    "read_job",
    "read_meta",
    "read_process",
    "read_processes",
    "write_meta",
]
