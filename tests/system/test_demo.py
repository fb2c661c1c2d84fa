"""`make demo` as a process: what it shows, that it leaves nothing behind, and what it says when the daemon does not start."""

from __future__ import annotations

import os
import re
import runpy
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

WITHIN = 170  # seconds; it takes less than a minute where nothing else runs, and each of its own waits ends after 60


@pytest.fixture
def temporary() -> Iterator[Path]:
    """A folder for temporary files whose path is short enough for sockets, and has blanks."""
    with tempfile.TemporaryDirectory(prefix="a b ", dir="/tmp") as folder:
        yield Path(folder)


def start(checkout: Path, temporary: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "demo"],
        cwd=checkout,
        env=os.environ | {"TMPDIR": str(temporary)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.mark.timeout(WITHIN + 10)
def test_it_shows_the_whole_way_and_leaves_nothing_behind(checkout: Path, temporary: Path) -> None:
    process = start(checkout, temporary)
    out, _ = process.communicate(timeout=WITHIN)
    assert process.returncode == 0, out
    assert "\x1b" not in out
    assert f"SUPERNODE_SIM_DIR='{temporary}/" in out
    text = " ".join(out.split())
    place = 0
    for part in WHOLE_WAY:
        assert part in text[place:], part
        place = text.index(part, place) + len(part)
    incident = find(r"\$ supernodectl incidents (i[0-9a-f]{11}) incident \1 what n0/card2/port0: \d+ (?:symbol|effective) errors in", text)
    for stored in (f"incidents/{incident}", f"actions/{incident}/notify"):
        assert f" {stored} " in text
    assert re.search(rf"{incident} (?:warning|critical) n0/card2/port0 link.ber \S+ \([^)]+\) \d\d:\d\d:\d\d ", text), (
        text
    )  # closed, at that time
    assert not list(temporary.iterdir())
    assert not psutil.pid_exists(int(find(r"supernoded \S+, pid (\d+)", text)))


WHOLE_WAY = (  # in this order
    '"ups/A": "nut://127.0.0.1:',
    "state READY",
    "warning n0 bmc.monitor_off",
    "$ supernodectl ring ring/backplane-n0: 8 hops ┌ n0/card0/port0 ──▶ n0/card1/port1",
    "$ supernode-sim truth ring/backplane-n0 ring.mode QUANTITY VALUE ring.mode sar_ring",
    "link.ber.post_fec 1e-10",
    "done notify n0/card2/port0 link_ber",
    "port or card electronics",
    "$ supernode-sim truth ring/backplane-n0 QUANTITY VALUE ring.mode allreduce",
    "critical cable/n0/card4/port0--n0/card5/port1 link.down",
    "$ supernodectl links --troubled",
    "n0/card4/port0 ─X─ n0/card5/port1 ",
    "1. unseated optic, ",
    "do: Reseat the optic of n0/card4/port0.",
    "$ supernode-sim truth ring/backplane-n0 ring.mode QUANTITY VALUE ring.mode sar_ring",
    "$ supernodectl thermal",
    "cdu/0/valve ",
    "cdu.pump_fail on cdu/0/pump0 is in place",
    "cdu/0/pump0 has tripped; cdu/0/pump1 runs; flow is ",
    "raised power/site ",
    "no feed ha",  # has mains, or had them for a moment: as the polls fall
    "ordered n0 power.cap",
    "done pdu/A1 power.shed: it fired and opened 1 outlet, 3 ms after its trigger by its own clock",
    "ordered job/train job.checkpoint",
    "done job/train job.checkpoint: step",
    "train running 8 of 8",
    "verdict PASS",
    "verdict FAIL",
    "$ supernodectl incidents --all",
    "supernoded ended with code 0, supernode-sim ended with code 0",
)


def find(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    assert found is not None, text
    return found[1]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_stopped_in_the_middle_it_leaves_nothing_behind(checkout: Path, temporary: Path, number: signal.Signals) -> None:
    process = start(checkout, temporary)
    assert process.stdout is not None
    said = ""
    while "READY" not in said:
        line = process.stdout.readline()
        assert line, said
        said += line
    started = psutil.Process(process.pid).children(recursive=True)
    assert len(started) >= 2  # daemon and rack
    process.send_signal(number)
    rest, _ = process.communicate(timeout=WITHIN)
    assert process.returncode == 1
    assert "Traceback" not in rest
    assert not list(temporary.iterdir())
    assert not [child for child in started if child.is_running()]


def test_a_daemon_that_does_not_start_is_named_with_its_last_words(
    tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "supernode-sim").symlink_to(Path(sys.executable).parent / "supernode-sim")
    (tmp_path / "supernoded").write_text("#!/bin/sh\necho the disk has left the building >&2\nexit 78\n")
    (tmp_path / "supernoded").chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr("tempfile.tempdir", None)
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("demo", run_name="__main__")
    for number, handler in before.items():
        signal.signal(number, handler)
    assert ended.value.code == 1
    said = capfd.readouterr().err
    assert "waited for the daemon to be READY, but supernoded ended with code 78.\n" in said
    assert "The last lines of supernoded:\n   the disk has left the building" in said
    assert not list(temporary.iterdir())
