"""The socket of the reflex process, and whoever comes to it."""

from __future__ import annotations

import logging
import select
import socket
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from supernoded.errors import WireError
from supernoded.reflex.desk import LONGEST, MOST_VISITORS, Desk
from supernoded.reflex.frames import seal
from supernoded.wire.reflex import Ask, Loan, Reply, Returned, Told
from tests.unit.reflex.worlds import World, make_registers

READ = seal(bytes.fromhex("07 03 0000 0001"))
LOG = logging.getLogger("reflex")


class Guest:
    """Somebody at the socket; the bridge turns only as far as visitors are concerned."""

    def __init__(self, place: Path, world: World) -> None:
        self._world = world
        self._line = socket.socket(socket.AF_UNIX)
        self._line.connect(str(place))
        self._line.settimeout(10)

    def pump(self) -> None:
        """Have the desk deal with everything that has come."""
        visitors = self._world.bridge.visitors
        while ready := select.select(list(visitors), (), (), 0)[0]:
            for fd in ready:
                if fd in visitors:
                    visitors[fd](self._world.now)

    def say(self, data: bytes) -> None:
        self._line.sendall(data)
        self.pump()

    def hear(self) -> Reply | None:
        """The next reply, None when the desk has hung up."""
        data = self._line.recv(65_536)
        return msgspec.json.decode(data, type=Reply) if data else None

    def leave(self) -> None:
        self._line.close()
        self.pump()


@pytest.fixture
def world() -> World:
    return make_registers(poll_ms=15)


@pytest.fixture
def desk(tmp_path: Path, world: World) -> Iterator[Desk]:
    desk = Desk(tmp_path / "run" / "s", world.bridge, LOG)
    desk.open()
    yield desk
    desk.close()
    assert not (tmp_path / "run" / "s").exists()


@pytest.fixture
def guest(tmp_path: Path, world: World, desk: Desk) -> Iterator[Guest]:
    del desk
    guest = Guest(tmp_path / "run" / "s", world)
    yield guest
    guest.leave()


def loan(line: str = "pduA") -> bytes:
    return msgspec.json.encode(Loan(line=line, request=READ, within_s=0.5)) + b"\n"


def test_it_is_for_our_user_alone(tmp_path: Path, desk: Desk) -> None:
    del desk
    assert (tmp_path / "run" / "s").stat().st_mode & 0o777 == 0o600


def test_how_it_stands_is_told(guest: Guest) -> None:
    guest.say(msgspec.json.encode(Ask()) + b"\n")
    told = guest.hear()
    assert isinstance(told, Told)
    assert [standing.line for standing in told.lines] == ["upsA", "upsB", "pduA", "pduB"]
    assert {standing.state for standing in told.lines} == {"ok"}
    assert told.counts == {"fired": 0, "late": 0, "held": 0, "blind": 0}


def test_a_request_may_come_in_pieces(guest: Guest, world: World) -> None:
    for byte in loan():
        guest.say(bytes((byte,)))
    assert len(world.bridge.lendings[2].waiting) == 1
    world.bridge.lendings[2].waiting.clear()


@pytest.mark.parametrize(
    "said", [b"{}\n", b"\xff\xfe\n", b"\n", b'{"type":"loan"}\n', b'{"type":"loan","line":1,"request":"","within_s":1}\n']
)
def test_what_is_no_request_is_refused(guest: Guest, said: bytes) -> None:
    guest.say(said)
    told = guest.hear()
    assert isinstance(told, Returned)
    assert (told.came, told.text.startswith("this is no request")) == ("refused", True)


def test_a_line_that_is_not_there(guest: Guest) -> None:
    guest.say(loan("pduC"))
    assert guest.hear() == Returned(came="refused", text="there is no line pduC in [[reflex.lines]], there are upsA, upsB, pduA, pduB")


@pytest.mark.parametrize("said", [b"x" * (LONGEST + 1), loan() + loan(), loan() + b"x"])
def test_who_says_too_much_is_dismissed(guest: Guest, said: bytes) -> None:
    guest.say(said)
    assert guest.hear() is None


def test_another_request_before_the_answer_ends_the_connection(guest: Guest, world: World) -> None:
    guest.say(loan())
    guest.say(loan())
    assert guest.hear() is None
    world.run(1.0)  # the one that waits is dealt with, and nobody told
    assert world.bridge.lines[2].counts["lent"] == 1


def test_a_guest_who_left_is_not_told(guest: Guest, world: World) -> None:
    guest.say(loan())
    guest.leave()
    world.run(1.0)
    assert world.bridge.lines[2].counts["silence"] == 1


def test_there_is_an_end_to_guests(tmp_path: Path, world: World, guest: Guest) -> None:
    guests = [Guest(tmp_path / "run" / "s", world) for _ in range(MOST_VISITORS - 1)]
    guest.pump()
    one_too_many = Guest(tmp_path / "run" / "s", world)
    guest.pump()
    assert one_too_many.hear() is None
    guest.say(msgspec.json.encode(Ask()) + b"\n")
    assert isinstance(guest.hear(), Told)
    for each in (*guests, one_too_many):
        each.leave()


def test_only_one_process_is_there(tmp_path: Path, world: World, desk: Desk) -> None:
    del desk
    second = Desk(tmp_path / "run" / "s", world.bridge, LOG)
    with pytest.raises(WireError, match="a reflex process is there already"):
        second.open()
    second._socket.close()


def test_what_a_dead_process_left_is_replaced(tmp_path: Path, world: World) -> None:
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(tmp_path / "s"))
    desk = Desk(tmp_path / "s", world.bridge, LOG)
    desk.open()
    guest = Guest(tmp_path / "s", world)
    guest.say(msgspec.json.encode(Ask()) + b"\n")
    assert isinstance(guest.hear(), Told)
    guest.leave()
    desk.close()


def test_a_folder_that_is_not_ours(tmp_path: Path, world: World) -> None:
    (tmp_path / "file").touch()
    desk = Desk(tmp_path / "file" / "s", world.bridge, LOG)
    with pytest.raises(WireError, match="give its folder to our user"):
        desk.open()
    desk._socket.close()
