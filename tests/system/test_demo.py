"""`make demo` as a process: what it shows, that it leaves nothing behind, and what it says when the daemon does not start."""

from __future__ import annotations

import os
import re
import runpy
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import psutil
import pytest

WITHIN = 100  # seconds; each of its own waits ends after 30


def start(checkout: Path, temporary: Path, *arguments: str) -> subprocess.Popen[str]:
    temporary.mkdir(exist_ok=True)
    return subprocess.Popen(
        [sys.executable, "-m", "demo", *arguments],
        cwd=checkout,
        env=os.environ | {"TMPDIR": str(temporary)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_it_shows_the_whole_way_and_keeps_what_it_is_told_to(checkout: Path, tmp_path: Path) -> None:
    kept, temporary = tmp_path / "what is kept", tmp_path / "t m p"
    process = start(checkout, temporary, "--keep", str(kept))
    out, _ = process.communicate(timeout=WITHIN)
    text = " ".join(out.split())
    assert process.returncode == 0, out
    assert "\x1b" not in out
    for part in (
        "mode observe",
        "reading demo host.memory_used = ",
        "reading demo/card0/port0 link.symbol_errors = 0, good",
        "event link.ber raised. demo/card0/port0: ",
        "MQTT supernode/v1/c0/node/demo/event",
        "action notify on demo/card0/port0",
        "reason demo/card0/port0: ",
        "$ supernodectl status node demo of cluster c0",
        "$ supernodectl actions ISSUED RESULT",
        "event link.ber cleared. demo/card0/port0: no symbol errors in ",
        "in mode observe nothing is written to a device",
    ):
        assert part in text
    incident = find(r"incident (i[0-9a-f]{11}), warning, open", text)
    assert f"$ supernodectl incidents {incident} incident {incident}" in text
    assert f"incident {incident} closed, " in text
    with closing(sqlite3.connect(kept / "state/journal.db")) as journal:
        for table, key in re.findall(r"table (\w+), key (\S+)", text):
            assert journal.execute(f"select count(*) from {table} where id = ?", (key,)).fetchone() == (1,)
        assert {table for table, _ in re.findall(r"table (\w+), key (\S+)", text)} == {"readings", "events", "incidents", "rehearsals"}
        assert journal.execute("select count(*) from actions").fetchone() == (0,)
    assert not list(temporary.iterdir())
    assert not psutil.pid_exists(int(find(r"daemon pid (\d+)", text)))


def find(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    assert found is not None, text
    return found[1]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_stopped_in_the_middle_it_leaves_nothing_behind(checkout: Path, tmp_path: Path, number: signal.Signals) -> None:
    process = start(checkout, tmp_path / "tmp")
    assert process.stdout is not None
    said = ""
    while "daemon   " not in said:
        line = process.stdout.readline()
        assert line, said
        said += line
    process.send_signal(number)
    rest, _ = process.communicate(timeout=WITHIN)
    assert process.returncode == 1
    assert "Traceback" not in rest
    assert not list((tmp_path / "tmp").iterdir())
    assert not psutil.pid_exists(int(find(r"daemon +pid (\d+)", said)))


def test_a_daemon_that_does_not_start_is_named_with_its_last_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho the disk has left the building >&2\nexit 78\n")
    broken.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(broken))
    monkeypatch.setattr(sys, "argv", ["demo"])
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("demo", run_name="__main__")
    for number, handler in before.items():
        signal.signal(number, handler)
    assert ended.value.code == 1
    said = capfd.readouterr().err
    assert "waited for the daemon to start, but the daemon ended with code 78. The daemon's last lines:" in said
    assert "   the disk has left the building" in said
    assert list(tmp_path.iterdir()) == [broken]


def test_a_folder_with_something_in_it_is_not_taken(checkout: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/letter").touch()
    process = start(checkout, tmp_path / "tmp", "--keep", str(tmp_path / "mine"))
    out, _ = process.communicate(timeout=WITHIN)
    assert process.returncode == 2
    assert "is no empty folder; name another" in out
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["letter"]
