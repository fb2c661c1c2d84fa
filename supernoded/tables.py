"""Tables of a settings file as typed structs whose fields carry their own words.

`readings_days: Annotated[int, about("how long readings are kept", unit="day", ge=1)] = 7`
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import Enum
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec

Key = tuple[str | int, ...]  # ("cables", 3, "b") is written cables[3].b

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_LONGEST_VALUE = 200


def about(
    meaning: str, *, unit: str = "", source: str = "", ge: float | None = None, gt: float | None = None, le: float | None = None
) -> msgspec.Meta:
    """What a field means, its unit, its bounds and the id of docs/sources.md that it comes from."""
    words = {"unit": unit, "source": source}
    if gt is not None:
        return msgspec.Meta(gt=gt, le=le, description=meaning, extra=words)
    return msgspec.Meta(ge=ge, le=le, description=meaning, extra=words)


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is wrong with a file: where, the value, what is wrong with it, and what to do."""

    file: str
    key: str
    value: str
    fault: str
    remedy: str
    line: int = 0  # 0 = not known

    def __str__(self) -> str:
        """One line for a person."""
        place = f"{self.file}, line {self.line}" if self.line else self.file
        subject = f"{self.key} = {self.value}" if self.value else self.key
        return f"{place}: " + (f"{subject}: " if subject else "") + f"{self.fault}; {self.remedy}"


class Conflict(msgspec.Struct, frozen=True, kw_only=True):
    """Values that cannot stand together; `key` is the one to look at first."""

    key: Key
    fault: str
    remedy: str


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """A table of a file; `conflicts` is asked once every value is in itself right."""

    def conflicts(self) -> Iterable[Conflict]:
        """What cannot stand together."""
        return ()


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One key of a type of tables, as data for people."""

    key: str
    value: object  # the default; msgspec.NODEFAULT when it must be given
    allowed: str
    unit: str
    source: str
    meaning: str


def list_rows(kind: type[msgspec.Struct], key: Key = ()) -> list[Row]:
    """Every key of a type of tables with default, bounds, unit, source and meaning."""
    rows: list[Row] = []
    for field in msgspec.structs.fields(kind):
        base, meta = unwrap(field.type)
        path = (*key, field.encode_name)
        element = find_element(base)
        if is_struct(base):
            rows += list_rows(base, path)
        elif element is not None:
            rows += list_rows(element, (*path, "*"))
        else:
            rows.append(_describe_row(field, meta, format_key(path)))
    return rows


def describe_type(kind: object) -> str:
    """What may stand there, in words: `a whole number from 1 to 65535`."""
    base, meta = unwrap(kind)
    if isinstance(base, type) and issubclass(base, Enum):
        return "one of " + ", ".join(str(member.value) for member in base)
    names = {bool: "true or false", int: "a whole number", float: "a number", str: "a text", Path: "a path"}
    if base in names:
        return names[base] + _describe_bounds(meta)
    options = get_args(base)
    if get_origin(base) is Literal:
        return "one of " + ", ".join(str(option) for option in options)
    if get_origin(base) in (Union, UnionType):
        return " or ".join(describe_type(option) for option in options if option is not type(None))
    return f"a list, each entry {describe_type(options[0])}" if get_origin(base) in (tuple, list, frozenset) else "a table"


def format_key(key: Key) -> str:
    """`cables[3].b`; parts that TOML wants quoted are quoted."""
    written = ""
    for part in key:
        if isinstance(part, int):
            written += f"[{part}]"
        else:
            written += ("." if written else "") + (part if _BARE.fullmatch(part) or part == "*" else f'"{part}"')
    return written


def format_value(value: object) -> str:
    """A value as the file has it, shortened; nothing for None."""
    if value is None:
        return ""
    if isinstance(value, Mapping):
        return "{...}"  # may hold a secret
    text = ("true" if value else "false") if isinstance(value, bool) else f'"{value}"' if isinstance(value, str | Path) else f"{value}"
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 3] + "..."


def find_value(table: object, key: Key) -> object:
    """The value at `key` of nested tables and lists; None when there is none."""
    for part in key:
        if isinstance(table, list) and isinstance(part, int) and part < len(table):
            table = table[part]
        else:
            table = table.get(part) if isinstance(table, Mapping) else None
    return table


def _describe_row(field: msgspec.structs.FieldInfo, meta: msgspec.Meta | None, key: str) -> Row:
    extra = (meta.extra if meta else None) or {}
    default = field.default_factory() if field.default_factory is not msgspec.NODEFAULT else field.default
    meaning = (meta.description if meta else None) or ""
    source, unit = str(extra.get("source", "")), str(extra.get("unit", ""))
    return Row(key=key, value=default, allowed=describe_type(field.type), unit=unit, source=source, meaning=meaning)


def _describe_bounds(meta: msgspec.Meta | None) -> str:
    if meta is None:
        return ""
    unit = f" {meta.extra['unit']}" if meta.extra and meta.extra.get("unit") not in {None, "", "1", "text"} else ""
    if meta.ge is not None and meta.le is not None:
        return f" from {meta.ge:.12g} to {meta.le:.12g}{unit}"
    words = (("of at least", meta.ge), ("above", meta.gt), ("of at most", meta.le))
    return " and".join(f" {word} {bound:.12g}{unit}" for word, bound in words if bound is not None)


def suggest_value(field: msgspec.structs.FieldInfo) -> str:
    """What to do about a wrong value."""
    default = field.default
    if default is msgspec.NODEFAULT:
        return "correct it"
    if default is None or isinstance(default, tuple | Mapping):
        return "correct it, or leave it out"
    shown = format_value(default.value if isinstance(default, Enum) else default)
    return f"correct it, or leave it out for the default {shown}"


def unwrap(kind: object) -> tuple[Any, msgspec.Meta | None]:
    """The bare type and its Meta; a type or None counts as the type."""
    meta = None
    while True:
        if get_origin(kind) is Annotated:
            bare, *extras = get_args(kind)
            meta = meta or next((extra for extra in extras if isinstance(extra, msgspec.Meta)), None)
            kind = bare
        elif get_origin(kind) in (Union, UnionType) and len(options := [one for one in get_args(kind) if one is not type(None)]) == 1:
            kind = options[0]
        else:
            return kind, meta


def is_struct(kind: object) -> bool:
    """Whether `kind` is a type of tables."""
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def find_element(kind: object) -> Any:
    """The struct type of which `kind` is a tuple or a mapping; None for anything else."""
    return next((unwrap(option)[0] for option in get_args(kind) if is_struct(unwrap(option)[0])), None)
