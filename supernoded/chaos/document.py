"""A YAML file being read: it becomes typed structs, and what is wrong becomes problems with line, column, key, value and remedy."""

from __future__ import annotations

import math
import re
from typing import TypeVar

import msgspec
import yaml

from supernoded.chaos.durations import FORMS, parse_duration
from supernoded.errors import ChaosError
from supernoded.page import Page
from supernoded.tables import Key, Problem, format_key, format_value, unwrap

T = TypeVar("T", bound=msgspec.Struct)

_INTEGER = re.compile(r"[-+]?[0-9]{1,18}")
_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]{1,4})?")
_WORDS: dict[str, bool | None] = {"": None, "~": None, "null": None, "true": True, "false": False}  # those of YAML 1.2: `on` is text
_PLAIN_TAG = re.compile(r"tag:yaml\.org,2002:[a-z]+")
_MOST_SHOWN = 50


class Flaw(Problem, frozen=True, kw_only=True):
    """A problem with its column, written as compilers do."""

    column: int = 0  # 0 = not known

    def __str__(self) -> str:
        """`file:line:column: key value: fault; remedy`."""
        place = ":".join([self.file, *(str(number) for number in (self.line, self.column) if number)])
        subject = f"{self.key}: {self.value}" if self.value and self.key else self.key or self.value
        return f"{place}: " + (f"{subject}: " if subject else "") + f"{self.fault}; {self.remedy}"


class Document(Page):
    """A page in YAML. A struct whose `shorthand` names a field may be written as that field's text alone."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(name, "")
        self._places: dict[str, tuple[int, int]] = {}
        try:
            node = _Loader(text).get_single_node()
            built = self._build_node(node, ()) if node is not None else None
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            place = (mark.line + 1, mark.column + 1) if mark is not None else (0, 0)
            self._add_flaw((), "", f"this is not YAML as taken here: {error.problem or error.context}", "correct that line", place)
            return
        except yaml.YAMLError as error:
            self._add_flaw((), "", f"cannot be read as YAML: {error}".split("\n", maxsplit=1)[0], "correct it", (0, 0))
            return
        except RecursionError:
            self._add_flaw((), "", "is nested too deeply", "write it flatter", (0, 0))
            return
        if isinstance(built, dict):
            self.table = built
        else:
            self.report((), built, "a mapping is due here", "begin with `apiVersion:` and `kind:`")

    def read(self, kind: type[T], table: object, key: Key = ()) -> T | None:
        """See `Page.read`; a text stands for a struct that has a shorthand."""
        short = getattr(kind, "shorthand", "")
        if short and isinstance(table, str):
            self._places.setdefault(format_key((*key, short)), self._find_place(key))
            table = {short: table}
        if not isinstance(table, kind | dict):
            self.report(key, table, "a mapping is due here", "write `key: value` lines below it, or {} for all defaults")
            return None
        return super().read(kind, table, key)

    def report(self, key: Key, value: object, fault: str, remedy: str) -> None:
        """See `Page.report`."""
        if fault == "is missing":
            remedy = remedy.replace(" = ", ": ", 1)  # the page speaks TOML
        self._add_flaw(key, "[...]" if isinstance(value, list) else format_value(value), fault, remedy, self._find_place(key))

    def as_error(self) -> ChaosError:
        """All that is wrong, a line each, by place."""
        lines = sorted(self.problems, key=lambda problem: problem.line)
        more = len(lines) - _MOST_SHOWN
        return ChaosError("\n".join([*map(str, lines[:_MOST_SHOWN]), *([f"... and {more} more"] if more > 0 else [])]))

    def _add_flaw(self, key: Key, value: str, fault: str, remedy: str, place: tuple[int, int]) -> None:
        line, column = place
        name, shown, fault, remedy = (_on_one_line(text) for text in (format_key(key), value, fault, remedy))
        flaw = Flaw(file=self.name, key=name, value=shown, fault=fault, remedy=remedy, line=line, column=column)
        if flaw not in self.problems:
            self.problems.append(flaw)

    def _find_place(self, key: Key) -> tuple[int, int]:
        places = (self._places.get(format_key(key[:end])) for end in range(len(key), -1, -1))
        return next((place for place in places if place is not None), (0, 0))

    def _build_node(self, node: yaml.Node, key: Key) -> object:
        self._places.setdefault(format_key(key), (node.start_mark.line + 1, node.start_mark.column + 1))
        if not _PLAIN_TAG.fullmatch(node.tag):
            self.report(key, node.tag, "tags are not taken", "leave it out")
        if isinstance(node, yaml.SequenceNode):
            return [self._build_node(entry, (*key, index)) for index, entry in enumerate(node.value)]
        if isinstance(node, yaml.MappingNode):
            return self._build_mapping(node, key)
        return _resolve(node)

    def _build_mapping(self, node: yaml.MappingNode, key: Key) -> dict[str, object]:
        table: dict[str, object] = {}
        for name, value in node.value:
            word = str(name.value) if isinstance(name, yaml.ScalarNode) else ""
            place = (name.start_mark.line + 1, name.start_mark.column + 1)
            if not word or word in table:
                fault, remedy = ("this key stands here twice", "keep one") if word else ("a key must be a word", "write `key: value`")
                self._add_flaw((*key, word) if word else key, "", fault, remedy, place)
                continue
            self._places[format_key((*key, word))] = place
            table[word] = self._build_node(value, (*key, word))
        return table

    def _read_leaf(self, field: msgspec.structs.FieldInfo, value: object, key: Key) -> object:
        _, meta = unwrap(field.type)
        if isinstance(value, str) and meta is not None and (meta.extra or {}).get("unit") == "s":
            seconds = parse_duration(value)
            if seconds is None:
                self.report(key, value, "is no duration", FORMS)
                return None
            value = seconds
        return super()._read_leaf(field, value, key)


class _Loader(yaml.SafeLoader):
    """Nodes only. An alias is refused: it can make a small file endless."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.MarkedYAMLError(problem="aliases are not taken, write it out", problem_mark=self.current_event.start_mark)
        return super().compose_node(parent, index)


def _on_one_line(text: str) -> str:
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def _resolve(node: yaml.Node) -> object:
    text = str(node.value)
    if not isinstance(node, yaml.ScalarNode) or node.style is not None:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    number = float(text) if _NUMBER.fullmatch(text) else math.inf
    return number if math.isfinite(number) else text
