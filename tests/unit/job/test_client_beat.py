"""What makes a beat cheap, counted instead of timed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

from supernoded.job import client
from supernoded.job.client import connect
from tests.unit.job.test_client import Daemon, daemon, make_job

__all__ = ["daemon"]


def count_calls(work: Callable[[], object]) -> list[str]:
    """The names of all that it calls in this thread, Python's and the interpreter's own."""
    names: list[str] = []

    def note(frame: FrameType, event: str, called: object) -> None:
        if event in {"call", "c_call"}:
            names.append(frame.f_code.co_name if event == "call" else str(getattr(called, "__name__", called)))

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return names[1:-1]  # but for the work itself and the end of counting


@pytest.mark.parametrize("with_daemon", [True, False])
def test_a_beat_makes_few_calls_and_asks_the_system_at_most_whether_a_line_has_come(
    with_daemon: bool, daemon: Daemon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What makes it cheap (at most 20 us), counted: nothing here can be late on a machine with other work."""
    monkeypatch.setattr(client, "BEAT_S", 3600.0)  # as steps that follow fast: the first beat is sent
    job = make_job(daemon) if with_daemon else connect("train", 0, path=str(tmp_path / "none"))
    job.beat(1)

    calls = count_calls(lambda: job.beat(2))

    assert "beat" in calls
    assert len(calls) <= 12, calls
    assert set(calls) & {"send", "sendall", "connect", "socket", "select", "poll", "open", "write", "dumps", "loads", "encode"} == set()
    assert calls.count("recv") == int(with_daemon)
    job.stopped()
