"""A run whose every text is hostile: nothing of it is fetched, opened, run or taken for markup in any format."""

import json
import os
import re
import sys
from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace
from html.parser import HTMLParser
from types import MappingProxyType

import drawn_runs
import pytest
from report_samples import SAMPLES

from loaderdoctor import pipeline, report
from loaderdoctor.cli.reporting import say
from loaderdoctor.errors import LoaderDoctorError
from loaderdoctor.record import meta as run_meta
from loaderdoctor.report import Written, pdf, terminal
from loaderdoctor.report.view import view
from loaderdoctor.report.visible import LONGEST_TEXT

SERVER = "http://127.0.0.1:8765/leak"
HOSTILE = {
    "css": f'x\n; }} }} html {{ background: url({SERVER}) !important; list-style-image: url(file:///etc/hostname) }} "',
    "quotes": f'"\\" ; }} @import "{SERVER}"; </style><style>*{{background:url({SERVER})}}</style>',
    "html": f'</title></style></svg><script src="{SERVER}"></script><img src=file:///etc/hostname onerror=alert(1)>',
    "svg": f'<image href="{SERVER}"/><use href="file:///etc/hostname"/>"/><style>@import url({SERVER})',
    "template": "{{7*7}}{% include '/etc/hostname' %}{{ ''.__class__.__mro__ }}${7*7}#{7*7}{0.__class__}",
    "link": f"javascript:alert(1) [x](javascript:alert(1)) ![x]({SERVER}) <{SERVER}> [r]: {SERVER}",
    "markdown": "|a|b|\n\n# heading\n\n```\n<script>alert(1)</script>\n~~~\n@somebody #1 &lt;b&gt; $x$ **b**\n---\n- [ ] x",
    "ansi": "\x1b[2J\x1b[31mred\x1b]8;;http://evil/\x1b\\link\x1b]8;;\x1b\\ \x9b31m \x07 \x00 \x7f \r overwritten",
    "bidi": "\u202egpj.exe\u202c \u2066x\u2069 \u200e\u200f \u2028 \ufeff \udc80",
    "rich": "[bold red]x[/] [link=http://evil]y[/link] :warning:",
    "pickle": "cos\nsystem\n(S'touch /tmp/x'\ntR. !!python/object/apply:os.system ['x'] __import__('os')",
    "path": "/etc/hostname",
}  # fmt: skip
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
ALLOWED = {
    "html", "head", "title", "style", "meta", "body", "header", "main", "section", "article", "h1", "h2", "h3",
    "h4", "p", "br", "div", "span", "strong", "small", "code", "pre", "ul", "li", "dl", "dt", "dd", "figure",
    "figcaption", "details", "summary", "table", "caption", "thead", "tbody", "tr", "th", "td", "svg", "line",
    "rect", "path", "circle", "text", "polygon", "polyline",
}  # fmt: skip
OURS = {  # fields that the analysis fills from lists of its own, never from a run
    "status", "cause", "limit", "confidence", "basis", "safety", "clock", "role", "kind", "name", "where",
    "slug", "unit", "ended_by", "lang", "loader", "id",
}  # fmt: skip


def poisoned(owner, text, name=""):
    """The same with this text in every field that is text."""
    if isinstance(owner, str):
        return owner if name in OURS else text
    if isinstance(owner, tuple):
        return tuple(poisoned(entry, text, name) for entry in owner)
    if isinstance(owner, (dict, MappingProxyType)) and name in {"facts", "environment", "options"}:
        return {text: text, **{key: poisoned(value, text) for key, value in owner.items()}}
    if is_dataclass(owner):
        return replace(
            owner, **{f.name: poisoned(getattr(owner, f.name), text, f.name) for f in fields(owner) if f.init}
        )
    return owner


def hostile(text):
    """A starving run that says this wherever it can say anything."""
    sample = SAMPLES["starving"]()
    meta = replace(poisoned(sample.run.meta, text), id=text, notes=({"slug": text, "text": text},))
    said = replace(sample.run.processes[0], texts={1: json.dumps({"torch": text, "python": text, text: text})})
    run = replace(sample.run, meta=meta, processes=(said,), sources={text: text, "/etc/hostname": text})
    signals = poisoned(sample.signals, text)
    signals = replace(signals, notes=((text, text),), loaders=tuple(replace(one, id=text) for one in signals.loaders))
    diagnosis = poisoned(sample.diagnosis, text)
    findings = tuple(replace(one, loader=text) for one in diagnosis.findings)
    return run, signals, replace(diagnosis, findings=findings)


WATCHED = {"open", "socket.connect", "socket.getaddrinfo", "subprocess.Popen", "os.system", "pickle.find_class"}
watching = []  # an audit hook stays for good, so that there is one, and it is asked only meanwhile


def _audit(event, arguments):
    if watching and event in WATCHED:
        watching[-1].append((event, str(arguments[0])))


sys.addaudithook(_audit)


@contextmanager
def watched():
    """What this process opens, connects to, starts and unpickles meanwhile."""
    seen = []
    watching.append(seen)
    try:
        yield seen
    finally:
        watching.remove(seen)


def reached(seen):
    """Of that, what lies outside; fonts, modules and the reports themselves are ours."""
    return [(event, what) for event, what in seen if event != "open" or "/etc/host" in what or "leak" in what]


@pytest.fixture(params=HOSTILE)
def text(request):
    return HOSTILE[request.param]


def written(text, folder, formats):
    with watched() as seen:
        made = report.write(*hostile(text), folder, formats)
    assert reached(seen) == []
    return {path.name: path.read_bytes() for path in made.files}, made


class Tags(HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.style = set(), set(), ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data):
        self.style += data if self.lasttag == "style" and self.cdata_elem else ""


def test_html(text, tmp_path):
    files, _ = written(text, tmp_path, ["html"])
    page = files["report.html"].decode()
    tags = Tags(page)
    assert tags.tags - ALLOWED == set()
    assert not {name for name in tags.attributes if name.startswith("on") or name in {"href", "src", "style"}}
    assert "url(" not in tags.style
    assert "49" not in re.findall(r"\{\{7\*7\}\}|49\$", page)
    assert not UNSEEN.search(page)


def test_json(text, tmp_path):
    files, _ = written(text, tmp_path, ["json"])
    kept = files["report.json"].decode()
    assert not UNSEEN.search(kept)
    said = json.loads(kept)
    assert said["run"]["id"] == text
    assert said["environment"][next(iter(said["environment"]))] is not None


def test_markdown(text, tmp_path):
    files, _ = written(text, tmp_path, ["md"])
    lines = files["report.md"].decode().splitlines()
    assert not UNSEEN.search("".join(lines))
    outside = [line for line, is_code in with_fences(lines) if not is_code]
    bare = re.sub(r"\\.|`[^`]*`", "", "\n".join(outside))
    assert set(re.findall(r"</?(\w+)", bare)) <= {"details", "summary", "sub"}
    assert "](" not in bare
    assert "://" not in bare
    assert not re.search(r"(?:^|\W)@\w", bare)
    assert [line for line in outside if line.startswith("#") and "heading" in line] == []


def with_fences(lines):
    """Each line, and whether it stands in a block of code."""
    fence = None
    for line in lines:
        if fence is None and line.startswith("```"):
            fence = re.match("`+", line)[0]
            yield line, True
        elif fence is not None:
            yield line, True
            fence = None if line == fence else fence
        else:
            yield line, False
    assert fence is None


@pytest.mark.parametrize("text", [HOSTILE[kind] for kind in ("css", "quotes", "svg", "ansi")])  # each takes seconds
def test_pdf(text):
    asked = []
    real = pdf.fetcher

    def double(weasyprint):
        only_ours = real(weasyprint)
        fetch = only_ours.fetch
        only_ours.fetch = lambda url, headers=None: asked.append(url) or fetch(url, headers)
        return only_ours

    pytest.importorskip("weasyprint")  # it looks for its libraries as it is loaded, whatever is drawn
    with pytest.MonkeyPatch.context() as patch, watched() as seen:
        patch.setattr(pdf, "fetcher", double)
        drawn = pdf.render(view(*hostile(text)), {"report.json": "{}"}, text)
    assert reached(seen) == []
    assert {url for url in asked if not url.startswith("loaderdoctor:fonts/")} == set()
    assert asked
    assert [warning for warning in drawn.warnings if "notdef" not in warning] == []
    assert b"/URI" not in drawn.data
    assert b"/JavaScript" not in drawn.data


@pytest.mark.parametrize(
    "url", [SERVER, "file:///etc/hostname", "loaderdoctor:fonts/../pdf.css", "data:text/plain,x", "", "fonts/x"]
)
def test_the_fetcher_refuses_all_but_fonts(url):
    import weasyprint

    with watched() as seen, pytest.raises(ValueError, match="fetches nothing"):
        pdf.fetcher(weasyprint)(url)
    assert reached(seen) == []


def test_terminal(text, tmp_path, capsys):
    run, signals, diagnosis = hostile(text)
    terminal.summary(Written((tmp_path / "report.html",), view(run, signals, diagnosis), (("x", text),)))
    say(text)
    err = capsys.readouterr().err
    assert not UNSEEN.search(err.replace("\n", ""))
    assert all(line.startswith("loaderdoctor: ") for line in err.splitlines())
    assert text not in err or not UNSEEN.search(text)
    assert "[" not in text or "[" in err  # taken for markup, it would be gone


def test_a_patch_is_true_to_its_source_or_there_is_none(text, tmp_path):
    sample = SAMPLES["starving"]()
    folder = "/home/user/leaves"
    odd = sample.run.sources[f"{folder}/train.py"].replace('"train"', ascii(text))
    name = f"{folder}/{text}.py"
    site = replace(sample.diagnosis.findings[0].site, file=name)
    loaders = (replace(sample.signals.loaders[0], site=site),)
    diagnosis = replace(sample.diagnosis, findings=(replace(sample.diagnosis.findings[0], site=site),))
    run = replace(sample.run, sources=MappingProxyType({name: odd}))
    made = report.write(run, replace(sample.signals, loaders=loaders), diagnosis, tmp_path, ["json"])
    patches = [path.read_text() for path in made.files if path.name == "fix.patch"]
    for patch in patches:
        lines = patch.splitlines()
        assert lines[0].startswith("--- a/")
        assert lines[1].startswith("+++ b/")
        assert lines[2].startswith("@@ ")
        assert all(line[:1] in {" ", "+", "-"} for line in lines[3:])
        assert {line[1:] for line in lines[3:] if line[:1] in {" ", "-"}} <= set(odd.splitlines())
        assert not UNSEEN.search(patch)


def poisoned_record(said, text):
    """A record's text: a JSON object with this in it, or a place in a file of this name."""
    try:
        return json.dumps({key: text if isinstance(value, str) else value for key, value in json.loads(said).items()})
    except ValueError:
        return f"{said}{text}:7"


def test_what_records_say(text, tmp_path):
    """From what was read to every format, with each text of records and notes of the same kind."""
    run = drawn_runs.run_from("[" + "wwc" * 40, num_workers=2)
    processes = tuple(
        replace(one, texts={number: poisoned_record(said, text) for number, said in one.texts.items()})
        for one in run.processes
    )
    meta = replace(poisoned(run.meta, text), id=text, options={text: text}, notes=({"slug": text, "text": text},))
    with watched() as seen:
        from loaderdoctor import analyse, causes

        signals = analyse.signals_of(replace(run, meta=meta, processes=processes))
        made = report.write(
            replace(run, meta=meta, processes=processes),
            signals,
            causes.diagnose(signals),
            tmp_path,
            ["html", "json", "md"],
        )
    assert reached(seen) == []
    assert [slug for slug, _ in made.notes] == []
    assert Tags((tmp_path / "report.html").read_text()).tags - ALLOWED == set()


def test_a_note_of_a_gigabyte_is_cut(tmp_path):
    run, signals, diagnosis = hostile("x" * 3_000_000)
    made = report.write(run, signals, diagnosis, tmp_path, ["html", "json", "md"])
    assert all(path.stat().st_size < 500 * LONGEST_TEXT for path in made.files if path.suffix != ".patch")


def test_a_run_json_of_a_gigabyte_is_an_error(tmp_path):
    with (tmp_path / "run.json").open("wb") as file:
        os.truncate(file.fileno(), 1 << 30)  # a hole: it takes no room
    with pytest.raises(LoaderDoctorError, match="larger than") as raised:
        pipeline.diagnose(tmp_path)
    assert raised.value.slug == "not-a-run"
    assert run_meta.MOST_BYTES < 1 << 30
