"""supernodectl as a process of its own, also of another user, against a daemon that lives, is stopped, or was killed."""

from __future__ import annotations

import grp
import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from supernoded.admin.access import Access
from supernoded.admin.desk import Caller
from supernoded.model import Mode
from tests.unit.admin.fake_desk import FakeDesk, serving

DAEMON = """
import sys, threading
from pathlib import Path
from tests.unit.admin.fake_desk import FakeDesk, serving
with serving(Path(sys.argv[1]), FakeDesk()):
    print("ready", flush=True)
    threading.Event().wait()
"""
# Imports as root, then becomes nobody for good: nobody may not be able to read the checkout.
AS_NOBODY = """
import os, pwd
from supernoded.ctl.main import main
nobody = pwd.getpwnam("nobody")
os.setgroups([])
os.setgid(nobody.pw_gid)
os.setuid(nobody.pw_uid)
main()
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that other users may enter, as /run/supernoded is."""
    made = Path(tempfile.mkdtemp(prefix="ctl-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


def run(checkout: Path, path: Path, *arguments: str, start: tuple[str, ...] = ("-m", "supernoded.ctl")) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"SUPERNODED_SOCKET": str(path)}
    command = [sys.executable, *start, *arguments]
    return subprocess.run(command, cwd=checkout, env=env, capture_output=True, text=True, check=False, timeout=60, stdin=subprocess.DEVNULL)


def run_as_nobody(checkout: Path, path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    if os.getuid() != 0:
        pytest.skip("only root can become another user: run this test as root")
    return run(checkout, path, *arguments, start=("-c", AS_NOBODY))


@pytest.fixture
def daemon(checkout: Path, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A process with the admin server."""
    command = [sys.executable, "-c", DAEMON, str(folder / "admin.sock")]
    with subprocess.Popen(command, cwd=checkout, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


def test_the_kernel_names_the_caller(checkout: Path, folder: Path) -> None:
    desk = FakeDesk()
    with serving(folder / "s", desk):
        result = run(checkout, folder / "s", "mode", "observe", "--policy", "thermal", "-o", "json")
    assert result.returncode == 0
    assert json.loads(result.stdout)["after"] == "observe"
    [(policy, mode, caller)] = desk.changes
    assert (policy, mode) == ("thermal", Mode.OBSERVE)
    assert (caller.uid, caller.gid) == (os.getuid(), os.getgid())
    assert caller.pid != os.getpid()


def test_the_socket_is_closed_to_strangers(checkout: Path, folder: Path) -> None:
    with serving(folder / "s", FakeDesk()):
        result = run_as_nobody(checkout, folder / "s", "status")
    assert result.returncode == 3
    assert "permission denied: it belongs to group" in result.stderr
    assert "mode 0660; `sudo usermod -aG" in result.stderr


def test_a_member_of_the_reading_group_reads_and_does_not_change(checkout: Path, folder: Path) -> None:
    nobody = pwd.getpwnam("nobody")
    group, desk = grp.getgrgid(nobody.pw_gid).gr_name, FakeDesk()
    with serving(folder / "s", desk, access=Access(reading_group=group, operator_group="daemon"), group=group):
        read = run_as_nobody(checkout, folder / "s", "status")
        changed = run_as_nobody(checkout, folder / "s", "mode", "act", "--policy", "thermal", "--yes")
    assert (read.returncode, changed.returncode) == (0, 1)
    assert "nobody may not change anything on this daemon" in changed.stderr
    assert "usermod -aG daemon nobody" in changed.stderr
    assert not desk.changes
    [record] = desk.recorded
    assert (record.caller.uid, record.caller.gid, record.accepted) == (nobody.pw_uid, nobody.pw_gid, False)


def test_an_operator_changes(checkout: Path, folder: Path) -> None:
    nobody = pwd.getpwnam("nobody")
    group, desk = grp.getgrgid(nobody.pw_gid).gr_name, FakeDesk()
    with serving(folder / "s", desk, access=Access(operator_group=group), group=group):
        changed = run_as_nobody(checkout, folder / "s", "mode", "act", "--policy", "thermal", "--yes")
    assert changed.returncode == 0
    [record] = desk.recorded
    assert record.caller == Caller(record.caller.pid, nobody.pw_uid, nobody.pw_gid)
    assert record.accepted


def test_a_stopped_daemon_is_told_from_a_killed_and_an_absent_one(checkout: Path, folder: Path, daemon: subprocess.Popen[str]) -> None:
    path = folder / "admin.sock"
    assert run(checkout, path, "status").returncode == 0
    daemon.send_signal(signal.SIGSTOP)
    stuck = run(checkout, path, "--timeout", "0.3", "status")
    daemon.kill()
    daemon.wait()
    dead = run(checkout, path, "status")
    path.unlink()
    absent = run(checkout, path, "status")
    assert [stuck.returncode, dead.returncode, absent.returncode] == [3, 3, 3]
    assert "did not answer within 0.3 s" in stuck.stderr
    assert "nobody listens: the daemon that made it has ended" in dead.stderr
    assert "there is no such file" in absent.stderr
    assert all("Traceback" not in one.stderr and not one.stdout for one in (stuck, dead, absent))


def test_the_next_daemon_takes_the_place_of_a_killed_one(checkout: Path, folder: Path, daemon: subprocess.Popen[str]) -> None:
    daemon.kill()
    daemon.wait()
    with serving(folder / "admin.sock", FakeDesk()):
        assert run(checkout, folder / "admin.sock", "status").returncode == 0


def test_a_pipe_that_closes_early_is_no_traceback(checkout: Path, folder: Path) -> None:
    with serving(folder / "s", FakeDesk()):
        command = f"{sys.executable} -m supernoded.ctl readings | true"
        env = os.environ | {"SUPERNODED_SOCKET": str(folder / "s")}
        result = subprocess.run(["sh", "-c", command], cwd=checkout, env=env, capture_output=True, text=True, check=False, timeout=60)
    assert result.stderr == ""


def test_top_looks_again_and_survives_a_restart(checkout: Path, folder: Path) -> None:
    screen, terminal = os.openpty()
    command = [sys.executable, "-m", "supernoded.ctl", "--socket", str(folder / "s"), "top", "--every", "0.1"]
    seen = b""

    def read_until(words: bytes) -> None:
        nonlocal seen
        while words not in seen:
            seen += os.read(screen, 65536)
        seen = b""

    with serving(folder / "s", FakeDesk()):
        process = subprocess.Popen(
            command, cwd=checkout, stdin=terminal, stdout=terminal, stderr=terminal, env=os.environ | {"TERM": "xterm"}
        )
        read_until(b"n0 of cluster lab")
        read_until(b"n0 of cluster lab")
    read_until(b"no daemon can be reached")
    with serving(folder / "s", FakeDesk()):
        read_until(b"n0 of cluster lab")
    process.send_signal(signal.SIGINT)
    assert process.wait(10) == 1
    os.close(terminal)
    os.close(screen)
