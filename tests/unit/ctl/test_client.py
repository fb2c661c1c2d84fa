"""Against peers on a real unix socket that do what a daemon never should."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from supernoded.ctl.client import SYSTEM_SOCKET, AdminClient, UnreachableError, list_sockets
from supernoded.errors import AdminError
from supernoded.messages import ReadingFilter, Readings, Status
from supernoded.model import State
from tests.unit.admin.fake_desk import STATUS, FakeDesk, serving


@contextmanager
def peer(path: Path, behave: Callable[[socket.socket], None]) -> Iterator[None]:
    """One that takes one connection and then does as told."""
    with socket.socket(socket.AF_UNIX) as line:
        line.bind(str(path))
        line.listen(1)

        def work() -> None:
            caller, _ = line.accept()
            with caller:
                behave(caller)

        thread = threading.Thread(target=work)
        thread.start()
        yield
        thread.join(10)


def ask(*sockets: Path, patience: float = 10.0) -> Status:
    return AdminClient(sockets, patience).get("status", Status).answer


def answer(body: bytes, status: str = "200 OK") -> Callable[[socket.socket], None]:
    def behave(caller: socket.socket) -> None:
        caller.recv(65536)
        caller.sendall(f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)

    return behave


def wait_for_the_end(caller: socket.socket) -> None:
    while caller.recv(65536):
        pass


def test_the_answer_is_a_message(tmp_path: Path) -> None:
    with serving(tmp_path / "s", FakeDesk()):
        assert ask(tmp_path / "s") == STATUS


def test_only_what_is_asked_for_is_in_the_query(tmp_path: Path) -> None:
    desk, wanted = FakeDesk(), ReadingFilter(subject="n0/card3 &=?*", state=State.STALE, history=True)
    with serving(tmp_path / "s", desk):
        AdminClient([tmp_path / "s"], 10).get("readings", Readings, wanted)
    assert desk.asked == [wanted]


def test_the_first_that_answers_is_asked(tmp_path: Path) -> None:
    with serving(tmp_path / "s", FakeDesk()):
        assert ask(tmp_path / "absent", tmp_path / "s") == STATUS


def test_each_socket_tried_is_named_with_its_own_reason(tmp_path: Path) -> None:
    stale = tmp_path / "stale"
    with socket.socket(socket.AF_UNIX) as line:
        line.bind(str(stale))
    with pytest.raises(UnreachableError) as caught:
        ask(tmp_path / "absent", stale)
    text = str(caught.value)
    assert f"{tmp_path}/absent: there is no such file" in text
    assert f"{stale}: nobody listens: the daemon that made it has ended" in text
    assert "systemctl status supernoded" in text


def test_a_full_queue_is_told(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as line, ExitStack() as stack:
        line.bind(str(path))
        line.listen(0)
        stack.enter_context(socket.socket(socket.AF_UNIX)).connect(str(path))
        with pytest.raises(UnreachableError, match="its queue is full"):
            ask(path, patience=0.1)


def test_a_peer_that_hangs_is_given_up(tmp_path: Path) -> None:
    with peer(tmp_path / "s", wait_for_the_end), pytest.raises(UnreachableError, match=r"did not answer within 0\.1 s"):
        ask(tmp_path / "s", patience=0.1)


@pytest.mark.parametrize("start", [b"", b"HTTP/1.1 200 OK\r\nX: ", b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"])
def test_a_peer_that_trickles_cannot_stretch_the_wait(tmp_path: Path, start: bytes) -> None:
    def trickle(caller: socket.socket) -> None:
        caller.settimeout(0.01)
        caller.sendall(start)
        for _ in range(500):
            try:
                caller.sendall(b"x")
                if caller.recv(65536) == b"":
                    return
            except TimeoutError:
                continue
            except OSError:
                return
        raise AssertionError("the caller waited on")

    with peer(tmp_path / "s", trickle), pytest.raises(UnreachableError, match=r"within 0\.2 s"):
        ask(tmp_path / "s", patience=0.2)


@pytest.mark.parametrize(
    "behave",
    [
        lambda caller: caller.sendall(b"SSH-2.0-OpenSSH_9.2\r\n"),
        lambda _: None,
        answer(b"<html>"),
        answer(b"{}"),
        answer(b'{"schema":1,"now":5}'),
        answer(b"\xff\xfe"),
        answer(b"not found", "404 Not Found"),
    ],
)
def test_what_is_no_daemon_is_told_apart(tmp_path: Path, behave: Callable[[socket.socket], None]) -> None:
    with peer(tmp_path / "s", behave), pytest.raises(UnreachableError, match="gives no proper answer"):
        ask(tmp_path / "s")


def test_a_file_that_is_no_socket_is_said_to_be_none(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UnreachableError, match=r"/file: is no socket\n"):
        ask(tmp_path / "file")


def test_another_schema_is_named(tmp_path: Path) -> None:
    with peer(tmp_path / "s", answer(b'{"schema":99}')), pytest.raises(AdminError, match="the daemon speaks schema 99") as caught:
        ask(tmp_path / "s")
    assert not isinstance(caught.value, UnreachableError)


def test_a_daemon_that_fails_says_where_to_look(tmp_path: Path) -> None:
    with peer(tmp_path / "s", answer(b"500", "500 Internal Server Error")), pytest.raises(AdminError, match="journalctl -u supernoded"):
        ask(tmp_path / "s")


def test_where_the_daemon_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SUPERNODED_SOCKET", raising=False)
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    assert list_sockets(None) == (SYSTEM_SOCKET,)
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/user/7")
    assert list_sockets(None) == (SYSTEM_SOCKET, Path("/run/user/7/supernoded/admin.sock"))
    monkeypatch.setenv("SUPERNODED_SOCKET", "/a")
    assert list_sockets(None) == (Path("/a"),)
    assert list_sockets(Path("/b")) == (Path("/b"),)


def test_no_timer_is_left_running(tmp_path: Path) -> None:
    with peer(tmp_path / "s", answer(b"{}")), pytest.raises(UnreachableError):
        ask(tmp_path / "s", patience=3600)
    timers = [thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)]
    for timer in timers:
        timer.join(10)
    assert not any(timer.is_alive() for timer in timers)
