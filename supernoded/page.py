"""One settings file being read: TOML becomes typed structs, and what is wrong becomes problems with line, key, value and remedy."""

from __future__ import annotations

import difflib
import math
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar, get_origin

import msgspec

from supernoded.errors import SettingsError
from supernoded.tables import (
    Key,
    Problem,
    Table,
    describe_type,
    find_element,
    find_value,
    format_key,
    format_value,
    is_struct,
    suggest_value,
    unwrap,
)

T = TypeVar("T", bound=msgspec.Struct)

_MOST_SHOWN = 50
_HEADER = re.compile(r"\s*(\[\[?)\s*([^\[\]]+?)\s*\]")
_ASSIGNMENT = re.compile(r"""\s*((?:"[^"]*"|'[^']*'|[\w-]+)(?:\s*\.\s*(?:"[^"]*"|'[^']*'|[\w-]+))*)\s*=""")
_PART = re.compile(r""""([^"]*)"|'([^']*)'|([\w-]+)""")
_SECRET = re.compile(r"(password|passwd|secret|token)(?!.*_file$)")
_URL_PASSWORD = re.compile(r"(://[^:/@\s]*):[^@\s]*@")


class Page:
    """One file being read: its text, the table in it, and the problems found so far."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.problems: list[Problem] = []
        self.table: Mapping[str, object] = {}
        self._lines: dict[str, int] | None = None
        self._fields: dict[type[msgspec.Struct], Mapping[str, msgspec.structs.FieldInfo]] = {}
        self._text = text
        try:
            self.table = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            self._report_syntax(str(error))

    def read(self, kind: type[T], table: object, key: Key = ()) -> T | None:
        """The table as `kind`, a msgspec Struct; None when there were problems, which are then all in `problems`."""
        if isinstance(table, kind):
            return table
        before = len(self.problems)
        if not isinstance(table, Mapping):
            self.report(key, table, "a table is due here", f"write it as [{format_key(key)}]")
            return None
        fields = self._list_fields(kind)
        for name in table:
            if name not in fields:
                self._report_unknown((*key, name), table[name], fields)
        values = {f.name: self._read_value(f, table[n], (*key, n)) for n, f in fields.items() if n in table}
        for name, field in fields.items():
            if field.required and name not in table:
                self.report((*key, name), None, "is missing", f"add {name} = {describe_type(field.type)}")
        if len(self.problems) > before:
            return None
        return self._build(kind, values, table, key)

    def report(self, key: Key, value: object, fault: str, remedy: str) -> None:
        """Add a problem; the line is looked up."""
        shown = "(hidden)" if key and _SECRET.search(str(key[-1])) else _URL_PASSWORD.sub(r"\1:(hidden)@", format_value(value))
        written = Problem(file=self.name, key=format_key(key), value=shown, fault=fault, remedy=remedy, line=self._find_line(key))
        self.problems.append(written)

    def _list_fields(self, kind: type[msgspec.Struct]) -> Mapping[str, msgspec.structs.FieldInfo]:
        if kind not in self._fields:  # msgspec evaluates the annotations anew each time
            self._fields[kind] = {field.encode_name: field for field in msgspec.structs.fields(kind)}
        return self._fields[kind]

    def _build(self, kind: type[T], values: Mapping[str, object], table: Mapping[str, object], key: Key) -> T | None:
        try:
            built = kind(**values)
        except (ValueError, TypeError) as error:
            self.report(key, None, str(error), "correct it")
            return None
        found = list(built.conflicts()) if isinstance(built, Table) else []
        for conflict in found:
            self.report((*key, *conflict.key), find_value(table, conflict.key), conflict.fault, conflict.remedy)
        return None if found else built

    def _read_value(self, field: msgspec.structs.FieldInfo, value: object, key: Key) -> object:
        base = unwrap(field.type)[0]
        if is_struct(base):
            return self.read(base, value, key)
        element, origin = find_element(base), get_origin(base)
        if element is not None and origin in (tuple, list) and isinstance(value, list):
            return origin(self.read(element, entry, (*key, index)) for index, entry in enumerate(value))
        if element is not None and origin not in (tuple, list) and isinstance(value, Mapping):
            return {name: self.read(element, entry, (*key, name)) for name, entry in value.items()}
        return self._read_leaf(field, value, key)

    def _read_leaf(self, field: msgspec.structs.FieldInfo, value: object, key: Key) -> object:
        try:
            converted = msgspec.convert(value, field.type, dec_hook=_convert_foreign)
        except msgspec.ValidationError as error:
            at = re.search(r"at `\$\[(\d+)\]`", str(error))
            where: Key = (*key, int(at[1])) if at else key
            found = value[int(at[1])] if at and isinstance(value, list) else value
            self.report(where, found, f"must be {describe_type(field.type)}", suggest_value(field))
            return None
        if isinstance(converted, float) and not math.isfinite(converted):
            self.report(key, value, f"must be {describe_type(field.type)}, and finite", suggest_value(field))
        return converted

    def _report_unknown(self, key: Key, value: object, fields: Iterable[str]) -> None:
        known = sorted(fields)
        near = difflib.get_close_matches(str(key[-1]), known, n=1)
        if f"{key[-1]}_file" in known:
            near = [f"{key[-1]}_file"]
        remedy = f"did you mean {near[0]}?" if near else f"remove it; known here are {', '.join(known) or 'none'}"
        self.report(key, value, "no such key", remedy)

    def _report_syntax(self, text: str) -> None:
        at = re.search(r"\s*\(at (?:line (\d+), column (\d+)|end of document)\)", text)
        line = int(at[1]) if at and at[1] else self._text.count("\n") + 1
        fault = text[: at.start()] if at else text
        column = f" at column {at[2]}" if at and at[2] else ""
        self.problems.append(
            Problem(file=self.name, key="", value="", fault=f"this is not TOML, {fault}{column}", remedy="correct that line", line=line)
        )

    def _find_line(self, key: Key) -> int:
        if self._lines is None:
            self._lines = _index_lines(self._text)
        for end in range(len(key), 0, -1):
            line = self._lines.get(format_key(key[:end]))
            if line is not None:
                return line
        return 0


def as_error(problems: Sequence[Problem]) -> SettingsError:
    """One error with a line for every problem."""
    lines = [str(problem) for problem in problems[:_MOST_SHOWN]]
    more = len(problems) - len(lines)
    return SettingsError("\n".join([*lines, f"... and {more} more"] if more else lines))


def read_file(path: Path) -> str | Problem:
    """The text of a settings file, or why it cannot be read."""
    fault, remedy = "", "create it, name another, or make it readable"
    try:
        if path.is_file() or not path.exists():  # a FIFO would wait for its writer for ever
            return path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
        fault, remedy = "is not a regular file", "name a file"
    except UnicodeDecodeError as error:
        fault, remedy = f"is not UTF-8 at byte {error.start}", "save it as UTF-8"
    except OSError as error:
        fault = f"cannot be read, {error.strerror}"
    return Problem(file=str(path), key="", value="", fault=fault, remedy=remedy)


def _convert_foreign(kind: type, value: object) -> object:
    if kind is Path and isinstance(value, str) and value:
        return Path(value)
    raise ValueError("a path is due")


def _index_lines(text: str) -> dict[str, int]:
    """Key -> the line it stands in, for tables, lists of tables and assignments; values inside lists are not looked for."""
    lines: dict[str, int] = {}
    counts: dict[str, int] = {}
    prefix: Key = ()
    for number, line in enumerate(text.split("\n"), start=1):
        header, assignment = _HEADER.match(line), _ASSIGNMENT.match(line)
        if header is not None:
            prefix = _place_header(_split_key(header[2]), header[1] == "[[", counts)
        elif assignment is None:
            continue
        key = prefix if assignment is None or header is not None else (*prefix, *_split_key(assignment[1]))
        lines.setdefault(format_key(key), number)
    return lines


def _place_header(parts: Sequence[str], is_list: bool, counts: dict[str, int]) -> Key:
    key: Key = ()
    for depth, part in enumerate(parts, start=1):
        key = (*key, part)
        name = format_key(key)
        if is_list and depth == len(parts):
            counts[name] = counts.get(name, -1) + 1
        if name in counts:
            key = (*key, counts[name])
    return key


def _split_key(text: str) -> tuple[str, ...]:
    return tuple(next(part for part in match.groups() if part is not None) for match in _PART.finditer(text))
