"""What `serve` tells of what happens."""

from __future__ import annotations

import asyncio
import json

import click
import pytest

from sim_hardware.command.options import Invocation
from sim_hardware.command.serve import _Teller
from sim_hardware.plant.words import Happening

NEWS = Happening(1.5, "breaker.tripped", "breaker/A1", "It \x1b[2J trips.", 31.5)


@pytest.mark.parametrize("output", ["table", "json"])
def test_a_happening_is_one_line_that_cannot_steer_the_terminal(output: str, capsys: pytest.CaptureFixture[str]) -> None:
    _Teller(Invocation(output=output), asyncio.Event()).tell(NEWS)
    (line,) = capsys.readouterr().out.splitlines()
    assert "\x1b" not in line  # nor is there colour where no terminal is
    assert "breaker/A1" in line
    if output == "json":
        assert json.loads(line) == {"at": 1.5, "kind": NEWS.kind, "subject": NEWS.subject, "text": NEWS.text, "value": 31.5}


def test_when_nobody_reads_on_the_serving_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr(click, "secho", fail)
    stopped = asyncio.Event()
    teller = _Teller(Invocation(), stopped)
    teller.tell(NEWS)
    assert stopped.is_set()
    assert isinstance(teller.broken, BrokenPipeError)
