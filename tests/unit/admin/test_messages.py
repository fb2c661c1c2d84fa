from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from supernoded import messages
from supernoded.admin.routes import make_routes
from supernoded.messages import ModeChange, Problem, ReadingFilter, Readings, encode
from supernoded.model import Mode, Reading, State
from tests.unit.admin.fake_desk import NOW, READINGS, FakeDesk


def test_one_message_has_one_spelling() -> None:
    flags = Reading(subject="ups/A", quantity="ups.status", value=frozenset({"OL", "CHRG", "BOOST"}), unit="flags", at=NOW)
    assert b'["BOOST","CHRG","OL"]' in encode(Readings(now=NOW, readings=(flags,)))
    assert encode(ModeChange(mode=Mode.ACT)) == b'{"mode":"act"}'


def test_a_newer_daemons_fields_do_not_disturb() -> None:
    assert msgspec.json.decode(b'{"schema":1,"error":"no","more":[]}', type=Problem).error == "no"


@pytest.mark.parametrize(
    ("wanted", "count"),
    [
        (ReadingFilter(), 3),
        (ReadingFilter(subject="n0/*"), 2),
        (ReadingFilter(quantity="link.fec.*"), 1),
        (ReadingFilter(state=State.STALE), 1),
        (ReadingFilter(subject="n0/*", state=State.STALE), 0),
    ],
)
def test_filters_admit_what_matches(wanted: ReadingFilter, count: int) -> None:
    assert sum(wanted.admits(reading) for reading in READINGS) == count


def test_the_documentation_shows_every_path_and_true_examples(checkout: Path) -> None:
    text = (checkout / "docs/admin-api.md").read_text()
    documented = dict(re.findall(r"^### `(?:GET|PUT|POST) (/\S+?)(?:\?\S*)?`(?: → `(\w+)`)?", text, re.MULTILINE))
    assert set(documented) == {route.path for route in make_routes(FakeDesk())}
    examples = re.findall(r"^<!-- (\w+) -->\n```json\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert {name for name, _ in examples} >= {name for name in documented.values() if name}
    for name, example in examples:
        kind = getattr(messages, name)
        shown = msgspec.json.decode(example)
        assert set(shown) == {field.name for field in msgspec.structs.fields(kind)}, name
        msgspec.json.decode(example, type=kind)
