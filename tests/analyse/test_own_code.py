"""What lines of a script call, and whether that depends on the sample."""

from __future__ import annotations

import pytest

from loaderdoctor.analyse.own_code import calls_at

SCRIPT = """\
class Pages(Dataset):
    def __getitem__(self, i):
        archive = zipfile.ZipFile(self.path)
        name = self.names[i]
        raw = archive.read(name)
        own = Volume(self.paths[i])
        part = Volume(
            self.path,
            name,
        )
        self.current = i
        again = Volume(self.current)
        other = Volume(random.choice(self.paths))
        for path in self.paths:
            each = Volume(path)
        with tarfile.open(self.path) as tar:
            return tar
    def reader(self):
        return Volume(self.path)
for line in open(path):
    pass
class Short:
    def __getitem__(s, i):
        return Volume(s.path), Volume(s.paths[i])
def helper(s):
    return Volume(s.path)
"""


def at(line):
    return {call.name: call.varies for call in calls_at(SCRIPT, line)}


@pytest.mark.parametrize(
    ("line", "name", "varies"),
    [
        (3, "zipfile.ZipFile", False),
        (5, "archive.read", True),
        (6, "Volume", True),
        (7, "Volume", True),
        (9, "Volume", True),
        (12, "Volume", True),
        (13, "Volume", True),
        (15, "Volume", True),
        (16, "tarfile.open", False),
        (19, "Volume", False),
    ],
)
def test_a_call_varies_where_it_is_made_of_the_sample(line, name, varies):
    assert at(line)[name] == varies


def test_the_body_of_a_statement_is_not_its_line():
    assert at(16) == {"tarfile.open": False}
    assert at(17) == {}


def test_what_a_loop_runs_over_is_told():
    assert [(call.last, call.in_loop_head) for call in calls_at(SCRIPT, 20)] == [("open", True)]


def test_a_methods_object_may_have_any_name_and_a_functions_argument_is_none():
    assert [call.varies for call in calls_at(SCRIPT, 24)] == [False, True]
    assert [call.varies for call in calls_at(SCRIPT, 26)] == [True]


@pytest.mark.parametrize("text", ["def f(:", "\0", "", "print 'old'"])
def test_what_is_no_python_has_no_calls(text):
    assert calls_at(text, 1) == ()
