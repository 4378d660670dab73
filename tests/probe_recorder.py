"""A writer that keeps what the probe writes, and work of known length."""

from __future__ import annotations

import time

from loaderdoctor.probe.layout import KINDS

MS = 1_000_000


class Recorder:
    """Takes the place of the probe's writer."""

    def __init__(self):
        self.rows = []
        self.texts = []
        self.notes = []

    def put(self, kind, *fields):
        self.rows.append((KINDS[kind][0], dict(zip(KINDS[kind][1], fields, strict=True))))

    def put_all(self, records):
        for record in records:
            self.put(*record)

    def text(self, text):
        self.texts.append(text)
        return len(self.texts) - 1

    def note(self, slug, sentence):
        self.notes.append((slug, sentence))

    def rows_of(self, name):
        return [row for kind, row in self.rows if kind == name]

    def stages(self):
        return {self.texts[row["name_text"]]: row for row in self.rows_of("stage")}


def burn(ms):
    end = time.thread_time_ns() + ms * MS
    while time.thread_time_ns() < end:
        pass
