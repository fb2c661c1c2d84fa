"""What is said first on every connection of a stream, TLS, and answers whose end is found by a function."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from supernoded.errors import NotHeldError, WireError
from supernoded.wire import Opening, Pen
from supernoded.wire.stream import SocketStream, parse_address, up_to
from tests.protocol.certificates import Pair, issue

HELD = Pen(lambda scope: None)


class Server:
    """Answers lines by `said`, in upper case where that has none; goes on in TLS after `TLS`."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.tls = tls
        self.heard: list[tuple[str, bool]] = []  # line, and whether it came sealed
        self.said: dict[str, bytes] = {}
        self.connections = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while line := (await reader.readline()).decode().strip():
                self.heard.append((line, writer.get_extra_info("ssl_object") is not None))
                writer.write(self.said.get(line, f"{line.upper()}\n".encode()))
                await writer.drain()
                if line == "tls" and self.tls is not None:
                    await writer.start_tls(self.tls)
        except OSError:
            self.heard.append(("lost", True))
        finally:
            writer.close()


@asynccontextmanager
async def serving(server: Server, pen: Pen = HELD) -> AsyncIterator[SocketStream]:
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    stream = SocketStream(parse_address(f"tcp://127.0.0.1:{listening.sockets[0].getsockname()[1]}"), pen)
    try:
        yield stream
    finally:
        await stream.close()
        listening.close()
        await listening.wait_closed()
        while len(asyncio.all_tasks()) > 1:  # connections of the server end by themselves
            await asyncio.sleep(0.001)


def serve_tls(pair: Pair) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(pair.certificate_file, pair.key_file)
    return context


async def hello(opening: Opening) -> None:
    assert await opening.ask(b"hello\n") == b"HELLO\n"


async def test_a_greeting_is_said_once_on_every_connection() -> None:
    server = Server()
    async with serving(server) as stream:
        stream.greet_with(hello)
        await stream.exchange(b"a\n", within=30.0)
        await stream.exchange(b"b\n", within=30.0)
        await stream.close()
        await stream.exchange(b"c\n", within=30.0)
    assert [line for line, _ in server.heard] == ["hello", "a", "b", "hello", "c"]


async def test_a_greeting_that_fails_ends_the_connection() -> None:
    async def refuse(opening: Opening) -> None:
        await hello(opening)
        raise WireError("not this one")

    server = Server()
    async with serving(server) as stream:
        stream.greet_with(refuse)
        for _ in range(2):
            with pytest.raises(WireError, match="not this one"):
                await stream.exchange(b"a\n", within=30.0)
    assert [line for line, _ in server.heard] == ["hello", "hello"]


async def test_a_greeting_has_the_time_of_its_exchange() -> None:
    server = Server()
    server.said["hello"] = b""
    async with serving(server) as stream:
        stream.greet_with(hello)
        with pytest.raises(WireError, match=r"not connected and greeted within 0\.1 s; 2 bytes were not sent"):
            await stream.exchange(b"a\n", within=0.1)
        server.said.clear()
        assert await stream.exchange(b"a\n", within=30.0) == b"A\n"


async def test_the_pen_is_asked_after_the_greeting() -> None:
    reasons: dict[str, str] = {}

    async def lose(opening: Opening) -> None:
        await hello(opening)
        reasons["feed/A"] = "the lease has ended"

    server = Server()
    async with serving(server, Pen(reasons.get)) as stream:
        stream.greet_with(lose)
        with pytest.raises(NotHeldError, match="the lease has ended"):
            await stream.order("feed/A", b"off\n", within=30.0)
    assert [line for line, _ in server.heard] == ["hello"]


def find_list(came: bytes) -> slice | None:
    """A list ends with `end`, or at once with `err`."""
    if came.startswith(b"?"):
        raise WireError("that is no list")
    return up_to(b"\n")(came) if came.startswith(b"err") else up_to(b"\nend\n")(came)


async def test_an_answer_may_have_several_ends() -> None:
    server = Server()
    server.said |= {"list": b"begin\na\nb\nend\n", "absent": b"err\n", "odd": b"?\n"}
    async with serving(server) as stream:
        assert await stream.exchange(b"list\n", find_list, within=30.0) == b"begin\na\nb\nend\n"
        assert await stream.exchange(b"absent\n", find_list, within=30.0) == b"err\n"
        assert server.connections == 1
        with pytest.raises(WireError, match="that is no list"):
            await stream.exchange(b"odd\n", find_list, within=30.0)
        assert await stream.exchange(b"list\n", find_list, within=30.0) == b"begin\na\nb\nend\n"
        assert server.connections == 2


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_an_end_is_found_in_pieces(size: int) -> None:
    find, data = up_to(b"OK\r\n"), b"OK\r OOK\r\n"
    cuts = [data[:end] for end in range(size, len(data), size)]
    assert [find(cut) for cut in cuts] == [None] * len(cuts)
    assert find(data) == slice(len(data))


async def test_tls_is_begun_in_the_greeting(tmp_path: Path) -> None:
    authority = issue(tmp_path, "authority")
    server = Server(serve_tls(issue(tmp_path, "server", authority)))

    async def seal(opening: Opening) -> None:
        await opening.ask(b"tls\n")
        await opening.secure(authority.certificate_file)

    async with serving(server) as stream:
        stream.greet_with(seal)
        assert await stream.exchange(b"secret\n", within=30.0) == b"SECRET\n"
        await stream.close()
        assert await stream.exchange(b"again\n", within=30.0) == b"AGAIN\n"
    assert [heard for heard in server.heard if heard[0] != "lost"] == [("tls", False), ("secret", True), ("tls", False), ("again", True)]


@pytest.mark.parametrize(
    ("address", "days", "known", "why"),
    [
        ("127.0.0.1", 30, False, "self-signed certificate"),
        ("10.0.0.1", 30, True, "IP address mismatch"),
        ("127.0.0.1", -2, True, "expired"),
    ],
)
async def test_a_certificate_that_is_not_right_is_told(tmp_path: Path, address: str, days: int, known: bool, why: str) -> None:
    authority, other = issue(tmp_path, "authority"), issue(tmp_path, "other")
    server = Server(serve_tls(issue(tmp_path, "server", authority, address=address, days=days)))
    trusted = authority if known else other

    async def seal(opening: Opening) -> None:
        await opening.ask(b"tls\n")
        await opening.secure(trusted.certificate_file)

    async with serving(server) as stream:
        stream.greet_with(seal)
        with pytest.raises(WireError, match=f"TLS failed: .*({why}|unable to get local issuer).*; look at ca_file"):
            await stream.exchange(b"secret\n", within=30.0)
    assert ("secret", True) not in server.heard


async def test_any_certificate_will_do_where_that_is_said(tmp_path: Path) -> None:
    server = Server(serve_tls(issue(tmp_path, "server", issue(tmp_path, "authority"), address="10.0.0.1", days=-2)))

    async def seal(opening: Opening) -> None:
        await opening.ask(b"tls\n")
        await opening.secure(insecure=True)

    async with serving(server) as stream:
        stream.greet_with(seal)
        assert await stream.exchange(b"x\n", within=30.0) == b"X\n"


async def test_what_is_slipped_in_before_tls_ends_the_connection(tmp_path: Path) -> None:
    authority = issue(tmp_path, "authority")
    server = Server(serve_tls(issue(tmp_path, "server", authority)))
    server.said["tls"] = b"TLS\nX\n"  # the answer to a request that comes later, sent in the clear by somebody between

    async def seal(opening: Opening) -> None:
        await opening.ask(b"tls\n")
        await opening.secure(authority.certificate_file)

    async with serving(server) as stream:
        stream.greet_with(seal)
        with pytest.raises(WireError, match="something was said where TLS was due"):
            await stream.exchange(b"x\n", within=30.0)


async def test_a_missing_ca_file_is_named(tmp_path: Path) -> None:
    async def seal(opening: Opening) -> None:
        await opening.secure(str(tmp_path / "absent"))

    async with serving(Server()) as stream:
        stream.greet_with(seal)
        with pytest.raises(WireError, match=r"ca_file .*absent cannot be used"):
            await stream.exchange(b"x\n", within=30.0)
