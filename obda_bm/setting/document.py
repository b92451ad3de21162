"""A TOML file as values that know where they stand."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time
from pathlib import Path

from obda_bm.diagnostics import Diagnostic, SettingError, SourceText, Span, did_you_mean
from obda_bm.setting.mistakes import Mistake
from obda_bm.setting.positions import Located, TomlPath, locate


@dataclass(frozen=True, slots=True)
class Node:
    """A value in a TOML document, with the path that leads to it."""

    value: object
    path: TomlPath = ()
    locations: Mapping[TomlPath, Located] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        return str(self.path[-1])

    @property
    def dotted(self) -> str:
        """The path as TOML writes it.

        >>> Node(1, ("streams", "a.b", "time")).dotted
        "streams.'a.b'.time"
        """
        parts = map(str, self.path)
        return ".".join(p if re.fullmatch("[A-Za-z0-9_-]+", p) else repr(p) for p in parts)

    @property
    def key(self) -> Span:
        return self.locations[self.path].key

    @property
    def place(self) -> Span:
        """The value; where it is spread over the text, its name."""
        return self.locations[self.path].place

    def child(self, step: str | int, value: object) -> Node:
        return Node(value, (*self.path, step), self.locations)


def read_source(path: Path) -> SourceText:
    """The text of a file.

    Raises:
        SettingError: where there is no such file, or it is not text.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError as error:
        hint = "Check the path, or name another file with --setting."
        missing = Mistake.UNREADABLE_FILE.at(None, f"there is no file {str(path)!r}", hint)
        raise SettingError(missing) from error
    except (OSError, ValueError) as error:  # ValueError: the path contains a NUL
        reason = getattr(error, "strerror", None) or str(error)
        message = f"cannot read {str(path)!r}: {reason.lower()}"
        hint = "Name a TOML file that you may read."
        raise SettingError(Mistake.UNREADABLE_FILE.at(None, message, hint)) from error
    return _decoded(str(path), content)


def _decoded(name: str, content: bytes) -> SourceText:
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        source = SourceText(name, content.decode("utf-8", errors="replace"))
        start = len(content[: error.start].decode("utf-8"))
        span = Span(source, start, start + 1)
        hint = "Save the file in the encoding UTF-8."
        raise SettingError(Mistake.NOT_UTF8_TEXT.at(span, "not UTF-8", hint)) from error
    if text.startswith("\ufeff"):
        span = Span(SourceText(name, text[1:]), 0, 1)
        hint = "Save the file as UTF-8 without a byte order mark."
        raise SettingError(Mistake.NOT_UTF8_TEXT.at(span, "a byte order mark", hint))
    if "\0" in text:
        # A terminal would swallow the character, and the caret would miss it.
        source = SourceText(name, text.replace("\0", "\ufffd"))
        span = Span(source, text.index("\0"), text.index("\0") + 1)
        hint = "Remove the character, or save the file as UTF-8 text."
        raise SettingError(Mistake.NOT_UTF8_TEXT.at(span, "a NUL character", hint))
    return SourceText(name, text)


def parse(source: SourceText) -> Node:
    """The root table of a TOML document.

    Raises:
        SettingError: where the text is not TOML.
    """
    try:
        value = tomllib.loads(source.text)
    except tomllib.TOMLDecodeError as error:
        raise SettingError(_syntax_error(source, str(error))) from error
    except RecursionError as error:
        raise SettingError(_nested_too_deeply(source)) from error
    except ValueError as error:  # Python converts no more than some thousand digits
        raise SettingError(_number_too_long(source)) from error
    start = Span(source, 0, 0)
    return Node(value, (), {(): Located(start, start), **locate(source)})


_DECODE_ERROR = re.compile(
    r"(?P<what>.*) \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)", re.DOTALL
)
_HINTS = {
    "Invalid value": "Put text in quotes; only numbers, dates, true and false stand without.",
    "Invalid statement": "Write [table] or name = value.",
    "Expected '='": "Write name = value.",
    "Expected newline": "Write one name = value per line, and text in quotes.",
    "Cannot": "Every table and every key may be given once only: merge the two.",
    "Duplicate": "Every key may be given once only: merge the two.",
    "Illegal character": "Close the string on its line, or use triple quotes.",
    "Unterminated": "Close the string with the quotes that open it.",
    "Expected \"'": "Close the string with the quotes that open it.",
    "Unclosed": "Close the bracket, and separate what is in it by commas.",
    "Unescaped": "Write the backslash twice, or the text in single quotes.",
}


def _syntax_error(source: SourceText, text: str) -> Diagnostic:
    match = _DECODE_ERROR.fullmatch(text)
    what = match["what"] if match else text
    hints = (hint for start, hint in _HINTS.items() if what.startswith(start))
    hint = next(hints, "The file must be TOML, as described on https://toml.io.")
    message = re.sub(r"\('(.*)',?\)", lambda key: key[1].replace("', '", "."), what)
    if match and match["line"]:
        start = _offset(source, int(match["line"]), int(match["column"]))
    else:
        start = len(source.text.rstrip())
    span = Span(source, start, start + 1)
    return Mistake.NOT_TOML.at(span, message[:1].lower() + message[1:], hint)


def _offset(source: SourceText, line: int, column: int) -> int:
    """
    >>> _offset(SourceText("obda.toml", "a = 1\\r\\nb = x"), 2, 5)
    11
    """
    return sum(len(text) + 1 for text in source.text.split("\n")[: line - 1]) + column - 1


def _nested_too_deeply(source: SourceText) -> Diagnostic:
    # Where the parser gave up is not known; the fullest line is the likely culprit.
    lines = source.text.split("\n")
    fullest = max(range(len(lines)), key=lambda i: lines[i].count("[") + lines[i].count("{"))
    start = _offset(source, fullest + 1, 1)
    span = Span(source, start, start + len(lines[fullest]))
    hint = "No setting needs more than a few levels of brackets."
    return Mistake.NOT_TOML.at(span, "nested too deeply", hint)


def _number_too_long(source: SourceText) -> Diagnostic:
    digits = max(re.finditer(r"[0-9_]+|$", source.text), key=lambda m: m.end() - m.start())
    span = Span(source, *digits.span())
    return Mistake.NOT_TOML.at(span, "a number with too many digits", "Write a shorter number.")


_LARGEST_INTEGER = 2**63 - 1
_KINDS = {
    str: "a string",
    bool: "a boolean",
    int: "an integer",
    float: "a float",
    datetime: "a date-time",
    date: "a date",
    time: "a time",
    list: "a list",
    dict: "a table",
}


def wrong_type(node: Node, expected: str, hint: str) -> Diagnostic:
    message = f"expected {expected}, found {_KINDS[type(node.value)]}"
    return Mistake.WRONG_TOML_TYPE.at(node.place, message, hint)


def missing(node: Node, name: str, hint: str) -> Diagnostic:
    return Mistake.MISSING_KEY.at(node.key, f"{node.dotted} has no key {name!r}", hint)


def members(node: Node, hint: str, mistakes: list[Diagnostic]) -> dict[str, Node]:
    """The entries of a table; none, and a mistake, where `node` is no table."""
    if isinstance(node.value, dict):
        return {name: node.child(name, value) for name, value in node.value.items()}
    mistakes.append(wrong_type(node, "a table", hint))
    return {}


def known_members(
    node: Node, known: tuple[str, ...], required: tuple[str, ...], mistakes: list[Diagnostic]
) -> dict[str, Node]:
    """The entries of a table that may have the keys `known` only, and must have `required`."""
    found = members(node, f"Write [{node.dotted}], and what belongs to it below.", mistakes)
    for name in found.keys() - set(known):
        hint = did_you_mean(name, known) or f"Known here: {', '.join(known)}."
        mistakes.append(Mistake.UNKNOWN_KEY.at(found[name].key, f"unknown key {name!r}", hint))
    if isinstance(node.value, dict):
        absent = (name for name in required if name not in found)
        mistakes.extend(missing(node, name, f"Add {name} = …, it is required.") for name in absent)
    return {name: found[name] for name in found if name in known}


def elements(node: Node) -> tuple[Node, ...]:
    """The elements of a list; a value that is no list counts as a list of itself."""
    if isinstance(node.value, list):
        return tuple(node.child(i, value) for i, value in enumerate(node.value))
    return (node,)


def string(node: Node, hint: str, mistakes: list[Diagnostic]) -> str | None:
    if isinstance(node.value, str):
        return node.value
    mistakes.append(wrong_type(node, "a string", hint))
    return None


def integer(node: Node, smallest: int, hint: str, mistakes: list[Diagnostic]) -> int | None:
    """An integer that is at least `smallest` and fits 64 bits."""
    if isinstance(node.value, bool) or not isinstance(node.value, int):
        mistakes.append(wrong_type(node, "an integer", hint))
        return None
    if not smallest <= node.value <= _LARGEST_INTEGER:
        # The number is not repeated: Python refuses to print very long ones.
        what = f"less than {smallest}" if node.value < smallest else "too large for 64 bits"
        mistakes.append(Mistake.NUMBER_OUT_OF_RANGE.at(node.place, f"the number is {what}", hint))
        return None
    return node.value
