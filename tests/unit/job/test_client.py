from __future__ import annotations

import ast
import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from supernoded.job import client
from supernoded.job.client import Job, Order, connect
from supernoded.job.protocol import FromDaemon, Refused, Welcome, Withdraw, decode_peer, encode
from supernoded.job.protocol import Order as SaidOrder
from supernoded.job.protocol import Request as SaidRequest

ASKED = SaidRequest(id="i1/save", kind="checkpoint", deadline_s=10.0, hard_s=20.0, reason="sag", number=4)


class Daemon:
    """One that is played by the test: it listens, and says what it is told."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._listener, self._line = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen()
        self._listener.settimeout(10)

    def accept(self) -> list[dict[str, Any]]:
        self._line.close()
        self._line, _ = self._listener.accept()
        return self.hear()

    def hear(self) -> list[dict[str, Any]]:
        self._line.settimeout(10)
        lines = self._line.recv(65_536).splitlines()
        for line in lines:
            decode_peer(line)  # the daemon understands it
        return [json.loads(line) for line in lines]

    def say(self, *messages: FromDaemon | bytes) -> None:
        for message in messages:
            self._line.sendall(message if isinstance(message, bytes) else encode(message))

    def has_nobody(self) -> bool:
        return self._line.recv(1) == b""

    def end(self) -> None:
        self._line.close()
        self._listener.close()
        self.path.unlink(missing_ok=True)


@pytest.fixture
def daemon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Daemon]:
    monkeypatch.setattr(client, "BEAT_S", 0.0)
    monkeypatch.setattr(client, "PAUSES", (0.0, 0.0))
    daemon = Daemon(tmp_path / "job.sock")
    yield daemon
    daemon.end()


def make_job(daemon: Daemon, rank: int = 0, **more: Any) -> Job:
    return connect("train", rank, path=str(daemon.path), **more)


@pytest.fixture
def job(daemon: Daemon) -> Iterator[Job]:
    job = make_job(daemon)
    yield job
    job.stopped()


def test_it_is_written_in_python_3_8_with_the_standard_library_alone() -> None:
    tree = ast.parse(Path(client.__file__).read_text(), feature_version=(3, 8))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names
    newer = {"removeprefix", "removesuffix", "bit_count", "pairwise", "batched", "is_relative_to", "readlink", "with_stem", "strict"}
    assert not newer & {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert not newer & {node.arg for node in ast.walk(tree) if isinstance(node, ast.keyword)}


def test_without_a_daemon_nothing_happens(tmp_path: Path) -> None:
    job = connect("train", 0, path=str(tmp_path / "none"))
    with job.phase("evaluation", 10.0):
        assert job.beat(1) is None
    assert job.agree(None, 1, lambda value: value) is None
    job.stopped()
    assert job.beat(2) is None


@pytest.mark.parametrize("step", [None, "x", float("nan"), float("inf")])
def test_a_beat_never_raises(step: Any, job: Job) -> None:
    assert job.beat(step) is None
    assert "a step is a whole number" in job.trouble


@pytest.mark.parametrize("name", ["", "../up", "a/b", "x" * 129])
def test_a_job_that_can_be_no_folder_is_refused_at_once(name: str) -> None:
    with pytest.raises(ValueError, match="a name has"):
        connect(name, 0)


def test_ranks_and_socket_are_found_in_the_environment(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    variables = {"RANK": "7", "LOCAL_RANK": "3", "WORLD_SIZE": "16", "LOCAL_WORLD_SIZE": "8", "SUPERNODED_JOB_TOKEN": "s"}
    for name, value in {**variables, "SUPERNODED_JOB_SOCKET": str(daemon.path)}.items():
        monkeypatch.setenv(name, value)
    connect("train").beat(5)
    (hello,) = daemon.accept()
    said = {key: hello[key] for key in ("job", "kind", "rank", "local_rank", "world", "local", "token", "step")}
    assert said == {"job": "train", "kind": "rank", "rank": 7, "local_rank": 3, "world": 16, "local": 8, "token": "s", "step": 5}


def test_beats_are_told_and_bring_the_request_until_it_is_withdrawn(daemon: Daemon, job: Job) -> None:
    job.beat(1)
    daemon.accept()
    daemon.say(Welcome(node="n0"), ASKED)
    request = job.beat(2)
    assert request is not None
    assert (request.id, request.number, request.stop, request.reason) == ("i1/save", 4, False, "sag")
    assert 9.0 < request.deadline - time.monotonic() <= 10.0
    assert daemon.hear() == [{"t": "beat", "step": 2}]
    assert job.beat(3) is request
    daemon.say(Withdraw(id="other"), Withdraw(id="i1/save"))
    assert job.beat(4) is None


def test_a_daemon_that_comes_back_is_told_where_the_rank_stands(daemon: Daemon, job: Job, tmp_path: Path) -> None:
    job.beat(1)
    daemon.accept()
    daemon.say(Welcome(node="n0", tiers=(str(tmp_path / "shm"),)), ASKED)
    assert job.agree(job.beat(2), 2) is not None
    with job.phase("evaluation", 60.0):
        assert job.save(2, {"a": b"12345"}), job.trouble
        daemon.end()
        job.beat(3)
        job.beat(4)
        again = Daemon(daemon.path)
        job.beat(5)
        hello, agreed, phase, saved = again.accept()
    assert (hello["t"], hello["step"]) == ("hello", 5)
    assert agreed == {"t": "agreed", "request": "i1/save", "number": 4, "step": 2}
    assert (phase["name"], saved["t"], saved["step"], saved["size"]) == ("evaluation", "saved", 2, 5)
    again.say(ASKED)
    assert job.beat(6) is None, "it has been agreed on"
    again.end()


@pytest.mark.parametrize(
    "line", [b"[]\n", b"{}\n", b'{"t":"request"}\n', b'{"t":"request","number":"x"}\n', b"\xff\n", b"[" * 5000 + b"\n"]
)
def test_what_it_does_not_understand_does_no_harm(line: bytes, daemon: Daemon, job: Job) -> None:
    job.beat(1)
    daemon.accept()
    daemon.say(line, ASKED)
    request = job.beat(2)
    assert request is not None
    assert request.id == "i1/save"


def test_a_line_without_an_end_is_hung_up_on(daemon: Daemon, job: Job) -> None:
    job.beat(1)
    daemon.accept()
    for _ in range(6):
        with contextlib.suppress(OSError):
            daemon.say(b"x" * 60_000)
        job.beat(2)
    assert daemon.accept()[0]["t"] == "hello"


def test_a_daemon_that_reads_nothing_holds_nobody_up(daemon: Daemon, job: Job) -> None:
    job.beat(1)
    daemon.accept()
    for _ in range(20_000):
        with job.phase("x" * 150, 1.0):
            job.beat(2)
    assert len(job._line._out) <= client.MOST_BYTES


def test_refused_is_said_in_a_sentence_and_tried_again(daemon: Daemon, job: Job) -> None:
    job.beat(1)
    daemon.accept()
    daemon.say(Refused(why="rank 0 is here already"))
    job.beat(2)
    assert job.trouble == "the daemon refuses this rank: rank 0 is here already"


def test_a_child_leaves_the_connection_to_its_parent(daemon: Daemon, job: Job) -> None:
    job.beat(1)
    daemon.accept()
    child = os.fork()
    if not child:
        job.beat(99)
        os._exit(0 if job._line._socket is None else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    job.beat(2)
    assert daemon.hear() == [{"t": "beat", "step": 2}]


def test_a_child_that_is_the_rank_now_dials_anew(daemon: Daemon) -> None:
    job = make_job(daemon, follow_fork=True)
    child = os.fork()
    if not child:
        job.beat(99)
        os._exit(0)
    os.waitpid(child, 0)
    (hello,) = daemon.accept()
    assert hello["step"] == 99


def test_threads_may_speak_at_once(daemon: Daemon, job: Job) -> None:
    job.beat(0)
    daemon.accept()
    heard: list[bytes] = []

    def listen() -> None:
        while b'"bye"' not in b"".join(heard[-2:]):
            heard.append(daemon._line.recv(65_536))

    def speak(first: int) -> None:
        for step in range(first, first + 200):
            with job.phase(f"p{first}", 1.0):
                job.beat(step)

    threads = [threading.Thread(target=speak, args=(first,)) for first in (0, 1000, 2000)]
    listening = threading.Thread(target=listen)
    for thread in (listening, *threads):
        thread.start()
    for thread in threads:
        thread.join()
    job.stopped()
    listening.join()
    kinds = [json.loads(line)["t"] for line in b"".join(heard).splitlines()]
    assert kinds.count("phase") >= 3 * 200 * 2
    assert kinds[-1] == "bye"


def test_an_order_reaches_the_launcher_and_is_answered_again_by_itself(daemon: Daemon, job: Job) -> None:
    launcher = job.launcher()
    assert launcher.wait(0.0) is None
    (hello,) = daemon.accept()
    assert (hello["kind"], hello["rank"]) == ("launcher", -1)
    said = SaidOrder(id="i1/remap", kind="remap", cards={3: "n1/card7"})
    daemon.say(Welcome(node="n0"), said)
    assert launcher.wait(10.0) == Order("i1/remap", "remap", {3: "n1/card7"})
    launcher.acted(Order("i1/remap", "remap", {}), why="no such card")
    answer = {"t": "acted", "order": "i1/remap", "ok": False, "why": "no such card"}
    assert daemon.hear() == [answer]
    daemon.say(said)
    assert launcher.wait(0.2) is None
    assert daemon.hear() == [answer]
    launcher.close()


def test_importing_it_imports_nothing_of_the_daemon(checkout: Path) -> None:
    code = "import sys, client; print([name for name in sys.modules if name.startswith(('supernoded', 'asyncio', 'msgspec'))])"
    path = {**os.environ, "PYTHONPATH": str(checkout / "supernoded/job")}
    ran = subprocess.run([sys.executable, "-S", "-c", code], env=path, cwd="/", capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
