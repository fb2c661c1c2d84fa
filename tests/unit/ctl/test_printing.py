"""What a sheet looks like on a terminal; `test_verbs.py` sees it in a pipe."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tests.unit.admin.fake_desk import INCIDENT, FakeDesk, serving


def look(path: Path, columns: int, *arguments: str, **environment: str) -> list[str]:
    """The lines that supernodectl writes on a terminal."""
    here, there = pty.openpty()
    env = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    env |= {"SUPERNODED_SOCKET": str(path), "TERM": "xterm", "COLUMNS": str(columns), **environment}
    command = [sys.executable, "-m", "supernoded.ctl", *arguments]
    with subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=there, stderr=there) as process:
        os.close(there)
        seen = b""
        try:
            while part := os.read(here, 65536):
                seen += part
        except OSError:  # EIO: the other side is closed
            pass
        assert process.wait(60) == 0
    os.close(here)
    return [line.rstrip() for line in seen.decode().splitlines()]


def read(path: Path, columns: int, *arguments: str) -> list[str]:
    """The same without what steers the terminal."""
    return [click.unstyle(line).rstrip() for line in look(path, columns, *arguments)]


@pytest.fixture(scope="module")
def socket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("printing") / "s"
    with serving(path, FakeDesk()):
        yield path


def test_sentences_stand_below_their_row_where_they_do_not_fit(socket: Path) -> None:
    lines = read(socket, 80, "incidents")
    assert lines[0].split() == ["ID", "SEVERITY", "SUBJECT", "KIND", "OPENED"]
    assert lines[1].startswith(f"{INCIDENT.id}  critical  n0/card3/port0  link.ber  ")
    assert lines[2].startswith("    n0/card3/port0 has a post-FEC bit error rate")
    assert max(map(len, lines)) <= 80
    assert " ".join(line.strip() for line in lines[2:]) == INCIDENT.text


def test_several_sentences_are_named(socket: Path) -> None:
    lines = read(socket, 60, "actions")
    first = lines.index("    id       i0123456789a/isolate")
    assert lines[first + 1 : first + 3] == ["    outcome  it is out", "    why      its link corrupts data"]
    assert lines.count("    outcome  it is out") == 1  # the others have none: what there is nothing to say of has no line


def test_what_fits_is_one_table(socket: Path) -> None:
    lines = read(socket, 150, "actions")
    assert len(lines) == 4
    assert lines[0].split() == ["ISSUED", "RESULT", "ACTION", "TARGET", "POLICY", "ID", "OUTCOME", "WHY"]


def test_no_column_is_lost_on_a_narrow_terminal(socket: Path) -> None:
    lines = read(socket, 50, "readings")
    assert lines[0].split() == ["SUBJECT", "QUANTITY", "VALUE", "STATE", "READ"]
    assert max(map(len, lines)) <= 50


def test_colours_are_for_terminals_that_want_them(socket: Path) -> None:
    assert any("\x1b[1;31mcritical" in line for line in look(socket, 80, "incidents"))
    assert not any("\x1b[31m" in line or "\x1b[1;31m" in line for line in look(socket, 80, "incidents", NO_COLOR="1"))
