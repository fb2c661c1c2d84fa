from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.errors import SettingsError
from supernoded.page import Page
from supernoded.settings import Settings, parse_settings
from supernoded.tables import about, describe_type, find_value, format_key
from supernoded.topology import Topology, read_topology

TEXT = """\
top = 1
[a]
one = 1
"odd key" = 2
[a.b]
deep = 3
[[list]]
name = "x"
[[list.inner]]
number = 1
[[list.inner]]
number = 2
[[list]]
many = [
  1,
  2,
]
dotted.key = 4
"""


class _Colour(Enum):
    RED = "red"
    BLUE = "blue"


@pytest.mark.parametrize(
    ("key", "line"),
    [
        (("top",), 1),
        (("a",), 2),
        (("a", "one"), 3),
        (("a", "odd key"), 4),
        (("a", "b", "deep"), 6),
        (("list", 0, "name"), 8),
        (("list", 0, "inner", 0, "number"), 10),
        (("list", 0, "inner", 1, "number"), 12),
        (("list", 1, "many", 1), 14),
        (("list", 1, "dotted", "key"), 18),
        (("list", 1, "absent"), 13),
        (("absent",), 0),
    ],
)
def test_the_line_of_a_key(key: tuple[str | int, ...], line: int) -> None:
    page = Page("page", TEXT)

    page.report(key, find_value(page.table, key), "fault", "remedy")

    assert (page.problems[0].key, page.problems[0].line) == (format_key(key), line)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (bool, "true or false"),
        (Annotated[int, about("", ge=1, le=1_000_000)], "a whole number from 1 to 1000000"),
        (Annotated[float, about("", unit="s", gt=0)] | None, "a number above 0 s"),
        (Annotated[float, about("", gt=0, le=1)], "a number above 0 and of at most 1"),
        (_Colour, "one of red, blue"),
        (Literal["x", "y"], "one of x, y"),
        (tuple[str, ...], "a list, each entry a text"),
        (list[Annotated[int, about("", ge=1)]], "a list, each entry a whole number of at least 1"),
        (int | str, "a whole number or a text"),
        (dict[str, int], "a table"),
        (Path, "a path"),
    ],
)
def test_a_type_in_words(kind: object, words: str) -> None:
    assert describe_type(kind) == words


class _Leaf(msgspec.Struct, frozen=True):
    number: int = 0


class _Tree(msgspec.Struct, frozen=True):
    by_name: dict[str, _Leaf] = {}
    listed: list[_Leaf] = []
    either: int | str = 0


def test_nested_tables_of_every_shape() -> None:
    page = Page("page", "either = 'x'\n[by_name.a]\nnumber = 1\n[[listed]]\nnumber = 2\n[[listed]]\n")

    assert page.read(_Tree, page.table) == _Tree(by_name={"a": _Leaf(1)}, listed=[_Leaf(2), _Leaf(0)], either="x")


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("[by_name.a]\nnumber = 'x'", "by_name.a.number"),
        ("[[listed]]\n[[listed]]\nnumbre = 3", "listed[1].numbre"),
        ("[listed]\na = 3", "listed"),
        ("by_name = [1]", "by_name"),
        ("either = 1.5", "either"),
    ],
)
def test_nested_tables_are_refused_by_their_full_key(text: str, key: str) -> None:
    page = Page("page", text)

    assert page.read(_Tree, page.table) is None
    assert [problem.key for problem in page.problems] == [key]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)
KEYS = [field.encode_name for kind in (Settings, Topology) for field in msgspec.structs.fields(kind)]


@given(st.dictionaries(st.sampled_from([field.encode_name for field in msgspec.structs.fields(Topology)]), VALUES, max_size=4))
def test_any_table_is_read_or_told(table: dict[str, object]) -> None:
    page = Page("page", "")

    assert (page.read(Topology, table) is None) == bool(page.problems)


@given(st.sampled_from(KEYS), st.text(max_size=30))
def test_any_text_is_read_or_told(key: str, text: str) -> None:
    found = parse_settings(f"{key} = {text}", "page", Path("/"), {})

    assert isinstance(found, Settings) or found


@given(st.integers(0, 2000), st.integers(0, 40))
def test_a_torn_topology_is_read_or_told(start: int, length: int) -> None:
    text = '[[nodes]]\nname = "n0"\ncards = 2\nfeeds = ["A"]\n[[ups]]\nname = "A"\n[[cables]]\na = "n0/card0/port0"\nb = "n0/card1/port1"\n'
    torn = text[: start % len(text)] + text[start % len(text) + length :]
    try:
        assert isinstance(read_topology(torn, "torn"), Topology)
    except SettingsError as error:
        assert str(error).startswith("torn")
