"""Turns DataLoader settings into a unified diff of the script, or into None where the text does not allow it."""

from __future__ import annotations

import difflib
import io
import re
import tokenize
from typing import TYPE_CHECKING, Any

from loaderdoctor.probe.injection import NEEDS_WORKERS
from loaderdoctor.treat.call import Call, find_call, line_end, line_start

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from loaderdoctor.treat.call import Argument

    Edit = tuple[int, int, str]  # from, to, new text

# torch.utils.data.DataLoader takes these by position; the rest by name only.
POSITIONS = (
    "dataset", "batch_size", "shuffle", "sampler", "batch_sampler", "num_workers", "collate_fn", "pin_memory",
    "drop_last", "timeout", "worker_init_fn", "multiprocessing_context", "generator",
)  # fmt: skip
_BYTE_ORDER_MARK = "\ufeff"
_UNQUOTED_PATH = re.compile(r'[^"\\\x00-\x1f\x7f]+')  # others need git's own quoting


def patch(source: str, path: str, line: int, settings: Mapping[str, Any]) -> str | None:
    """A diff that `git apply` takes in the folder that `path` is relative to.

    `line` (1-based) is where the loader is built, `settings` are arguments of the DataLoader; None as a value takes the
    argument out.  None comes back where the line is not exactly one DataLoader call with its arguments written out,
    where a value is no plain literal, or where nothing would change.
    """
    body = source.removeprefix(_BYTE_ORDER_MARK)
    if not _UNQUOTED_PATH.fullmatch(path) or not _is_utf8(body) or re.search("\r(?!\n)", body):
        return None
    wanted = _complete(settings)
    if not all(_is_literal(value) for value in wanted.values()):
        return None
    edited = _edited(body, line, wanted)
    if edited is None or edited == body:
        return None
    return _diff(source, source.removesuffix(body) + edited, path)


def _edited(source: str, line: int, settings: Mapping[str, Any]) -> str | None:
    """The source with its arguments replaced and taken out, then with the new ones added."""
    before = find_call(source, line)
    if before is None or _hides_positions(before):
        return None
    first_line = source.count("\n", 0, before.opening) + 1
    replaced = find_call(_apply(source, _changes(before, settings)), first_line)
    if replaced is None:
        return None
    after = find_call(_apply(replaced.source, _additions(replaced, settings)), first_line)
    return after.source if after is not None and _holds(before, after, settings) else None


def _is_utf8(source: str) -> bool:
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(source.encode()).readline)
    except (SyntaxError, UnicodeError):
        return False
    return encoding.startswith("utf-8")


def _is_literal(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, str))


def _complete(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings, and what has to go with them for torch to accept them."""
    if settings.get("num_workers") != 0:
        return dict(settings)
    return dict(settings) | dict.fromkeys(NEEDS_WORKERS)


def _hides_positions(call: Call) -> bool:
    """Whether arguments are given by position to a loader class whose order is not known."""
    by_position = sum(argument.name is None for argument in call.arguments)
    return by_position > (len(POSITIONS) if call.is_plain else POSITIONS.index("num_workers"))


def _present(call: Call) -> dict[str, Argument]:
    return {argument.name or POSITIONS[index]: argument for index, argument in enumerate(call.arguments)}


def _changes(call: Call, settings: Mapping[str, Any]) -> Iterator[Edit]:
    for name, argument in _present(call).items():
        if name not in settings:
            continue
        if settings[name] is None and argument.name is not None:
            yield _removal(call, argument)
        else:
            yield argument.value_start, argument.end, _text(name, settings[name])


def _text(name: str, value: Any) -> str:
    """The value as source; an argument given by position is not taken out but given torch's own default."""
    return repr(NEEDS_WORKERS.get(name) if value is None else value)


def _removal(call: Call, argument: Argument) -> Edit:
    """Take an argument out with its comma; with its whole line where it stands there alone."""
    text = call.source
    behind = argument.end if argument.comma is None else argument.comma + 1
    start, end = line_start(text, argument.start), line_end(text, behind)
    rest = text[behind:end].strip()
    if not text[start : argument.start].strip() and (not rest or rest.startswith("#")):
        return start, text.index("\n", end) + 1, ""
    index = call.arguments.index(argument)
    if index:
        return call.arguments[index - 1].end, argument.end, ""
    following = call.arguments[1].start if len(call.arguments) > 1 else call.closing
    return argument.start, following, ""


def _additions(call: Call, settings: Mapping[str, Any]) -> Iterator[Edit]:
    """Write the arguments that are not there yet behind the last one, laid out as it is."""
    present = _present(call)
    new = [f"{name}={value!r}" for name, value in settings.items() if name not in present and value is not None]
    if not new:
        return
    if not call.arguments:
        yield call.opening + 1, call.opening + 1, ", ".join(new)
        return
    last, text = call.arguments[-1], call.source
    start = line_start(text, last.start)
    if start <= call.opening:
        yield last.end, last.end, "".join(f", {argument}" for argument in new)
        return
    behind = last.end if last.comma is None else last.comma + 1
    end = line_end(text, behind)
    rest = text[behind:end].strip()
    at = end if not rest or rest.startswith("#") else behind  # a comment stays with the argument that it is about
    line_break = ("\r\n" if text.startswith("\r\n", line_end(text, start)) else "\n") + _indent(text[start:])
    yield at, at, line_break + f",{line_break}".join(new) + ("" if last.comma is None else ",")
    if last.comma is None:
        yield last.end, last.end, ","


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def _apply(source: str, edits: Iterable[Edit]) -> str:
    """Edit from the back, so that offsets in front stay right; of two at one place the later one comes in front."""
    for start, end, text in sorted(edits, key=lambda edit: edit[0], reverse=True):
        source = source[:start] + text + source[end:]
    return source


def _holds(before: Call, after: Call, settings: Mapping[str, Any]) -> bool:
    """Whether the edited call, read again, says what was asked for and otherwise what it said before."""
    old, new = _values(before), _values(after)
    untouched = {name: text for name, text in old.items() if name not in settings}
    given = {name: _text(name, value) for name, value in settings.items() if value is not None or name in new}
    return new == untouched | given


def _values(call: Call) -> dict[str, str]:
    return {name: call.source[argument.value_start : argument.end] for name, argument in _present(call).items()}


def _diff(before: str, after: str, path: str) -> str:
    name = f"{path}\t" if " " in path else path  # as git marks the end of a name with blanks
    lines = difflib.unified_diff(_lines(before), _lines(after), f"a/{name}", f"b/{name}", n=3)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _lines(text: str) -> list[str]:
    """Lines with their ends, cut at line feeds alone: str.splitlines cuts at form feeds too."""
    return io.StringIO(text, newline="\n").readlines()
