"""JSON over HTTP: bounded in time and size, without redirects, and no order without the pen."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from supernoded.errors import NotHeldError, StatusError, WireError
from supernoded.testing import MemoryWires
from supernoded.wire import Pen
from supernoded.wire import http as wire_http
from supernoded.wire.http import JsonHttp, parse_door
from supernoded.wire.system import SystemWires
from tests.protocol.certificates import issue

HELD = Pen(lambda scope: None)
SECRET = "hunter2!"  # noqa: S105 - what must show nowhere
FILE = "/etc/supernoded/token"


def reply(body: bytes, status: str = "200 OK", more: str = "") -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\nContent-Type: application/json\r\n{more}\r\n".encode() + body


class Server(asyncio.Protocol):
    """Answers each request on loopback with the bytes it is given; None = it never does."""

    def __init__(self, came: list[bytes], answer: Callable[[], bytes | None]) -> None:
        self.came, self.answer = came, answer

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.came.append(data)
        answer = self.answer()
        if answer is not None:
            self.transport.write(answer)


@asynccontextmanager
async def serving(
    answer: bytes | None, pen: Pen = HELD, user: str = "", password_file: str = ""
) -> AsyncIterator[tuple[JsonHttp, list[bytes]]]:
    came: list[bytes] = []
    server = await asyncio.get_running_loop().create_server(lambda: Server(came, lambda: answer), "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    http = JsonHttp(parse_door(url, user, password_file, insecure=True), pen)
    try:
        yield http, came
    finally:
        await http.close()
        server.close()
        await server.wait_closed()


async def test_an_object_is_given_and_the_login_sent(tmp_path: Path) -> None:
    secret = tmp_path / "password"
    secret.write_text(f"{SECRET}\n")
    async with serving(reply(b'{"a": [1, null]}'), user="root", password_file=str(secret)) as (http, came):
        assert await http.get("/redfish/v1") == {"a": [1, None]}
        assert await http.get("redfish/v1/") == {"a": [1, None]}
    assert came[0].startswith(b"GET /redfish/v1 HTTP/1.1\r\n")
    assert b"Authorization: Basic cm9vdDpodW50ZXIyIQ==\r\n" in came[0]
    assert len(came) == 2


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (reply(b"{}", "404 Not Found"), "/x: 404 Not Found$"),
        (reply(b'{"error": {"message": "busy\\nask  later"}}', "503 Service Unavailable"), "503 Service Unavailable: busy ask later"),
        (reply(b"", "302 Found", "Location: http://elsewhere/\r\n"), "302 Found, to http://elsewhere/, which is not followed"),
        (reply(b'{"half": '), "200, but no JSON object in 9 bytes"),
        (reply(b"[1]"), "no JSON object"),
        (reply(b""), "no JSON object in 0 bytes"),
        (reply(b"\xff\xfe{}"), "no JSON object"),
        (reply(b'{"a":' + b"[" * 100_000), "no JSON object"),
        (b"what?\r\n\r\n", "GET failed"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}", "within 0.3 s"),
        (None, "no whole answer to GET within 0.3 s"),
    ],
)
async def test_what_is_no_answer_is_an_error_that_says_so(answer: bytes | None, told: str) -> None:
    async with serving(answer) as (http, _):
        with pytest.raises(WireError, match=told) as error:
            await http.get("x", within=0.3)
    assert http.door.base in str(error.value)


async def test_an_answer_without_end_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire_http, "MOST_ANSWER", 1000)
    async with serving(reply(b" " * 1000 + b"{}")) as (http, _):
        with pytest.raises(WireError, match="more than 1000 bytes"):
            await http.get("x")


async def test_a_link_of_the_device_leads_to_no_other_host() -> None:
    async with serving(reply(b"{}")) as (http, came):
        await http.get("http://elsewhere:1/x")
        await http.get("//elsewhere/x")
    assert [line.split(b"\r\n")[0] for line in came] == [b"GET /http://elsewhere:1/x HTTP/1.1", b"GET /elsewhere/x HTTP/1.1"]


async def test_nobody_there_and_no_password_are_errors_without_the_secret(tmp_path: Path) -> None:
    secret = tmp_path / "password"
    secret.write_text(SECRET)
    async with serving(reply(b"{}", "401 Unauthorized"), user="root", password_file=str(secret)) as (http, came):
        with pytest.raises(WireError, match="401 Unauthorized") as error:
            await http.get("x")
        secret.write_text("new")
        with pytest.raises(WireError):
            await http.get("x")
    with pytest.raises(WireError, match="GET failed") as gone:
        await http.get("x")
    assert b"cm9vdDpuZXc=" in came[1]  # the file was read anew
    assert SECRET not in f"{error.value}{gone.value}{http.door}{http._pass}"
    absent = JsonHttp(parse_door("http://127.0.0.1:1", "root", str(tmp_path / "absent"), insecure=True), HELD)
    with pytest.raises(WireError, match="absent: No such file"):
        await absent.get("x")


async def test_an_order_goes_whole_when_the_scope_is_held() -> None:
    asked: list[str] = []
    pen = Pen(asked.append)
    async with serving(b"HTTP/1.1 204 No Content\r\n\r\n", pen) as (http, came):
        assert await http.order("rack/0", "PATCH", "x", {"Enabled": True}) == {}
    sent = b"".join(came)
    assert (asked, sent.count(b"PATCH /x HTTP/1.1"), sent.endswith(b'\r\n\r\n{"Enabled":true}')) == (["rack/0"], 1, True)


async def test_not_a_byte_of_an_order_goes_without_the_pen() -> None:
    async with serving(reply(b"{}"), Pen(lambda scope: "the lease is over")) as (http, came):
        with pytest.raises(NotHeldError, match="n0: nothing was written, the lease is over"):
            await http.order("n0", "POST", "x", {})
        assert came == []
        assert await http.get("x") == {}
    assert len(came) == 1


async def test_the_pen_is_asked_when_the_connection_stands_and_not_before() -> None:
    held = True
    asked: list[int] = []

    def refuse(scope: str) -> str | None:
        del scope
        asked.append(len(came))
        return None if held else "no"

    async with serving(None, Pen(refuse)) as (http, came):
        first = asyncio.create_task(http.order("n0", "POST", "x", {}, within=0.3))
        second = asyncio.create_task(http.order("n0", "POST", "x", {}, within=5.0))
        with pytest.raises(WireError, match="no whole answer to POST"):
            await first
        held = False  # the second has waited for the line: what was right when it was called is so no more
        with pytest.raises(NotHeldError):
            await second
    assert asked[0] == 0
    assert len([data for data in came if b"POST" in data]) == 1


async def test_closing_ends_a_request_that_is_under_way() -> None:
    class Listening(list[bytes]):
        def append(self, data: bytes) -> None:
            super().append(data)
            heard.set()

    heard, came = asyncio.Event(), Listening()
    server = await asyncio.get_running_loop().create_server(lambda: Server(came, lambda: None), "127.0.0.1", 0)
    http = JsonHttp(parse_door(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"), HELD)
    waiting = asyncio.create_task(http.get("x", within=60.0))
    await heard.wait()
    await http.close()
    with pytest.raises(WireError, match="GET failed"):
        await asyncio.wait_for(waiting, 5.0)
    server.close()


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("ftp://bmc", "no http service"),
        ("bmc", "no http service"),
        ("https://bmc:99999", "cannot be read"),
        ("https://bmc/?x=1", "no http service"),
        (f"https://root:{SECRET}@bmc", "holds a login"),
    ],
)
def test_a_url_that_is_none_is_refused(url: str, told: str) -> None:
    with pytest.raises(WireError, match=told) as error:
        parse_door(url)
    assert SECRET not in str(error.value)


async def test_a_token_goes_with_each_request_and_orders_have_the_media_type_of_the_door(tmp_path: Path) -> None:
    secret = tmp_path / "token"
    secret.write_text(f"{SECRET}\n")
    came: list[bytes] = []
    server = await asyncio.get_running_loop().create_server(lambda: Server(came, lambda: reply(b"{}")), "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    http = JsonHttp(parse_door(url, insecure=True, token_file=str(secret), body_type="application/merge-patch+json"), HELD)
    assert await http.order("spares", "PATCH", "x", {"a": 1}) == {}
    assert f"Authorization: Bearer {SECRET}\r\n".encode() in came[0]
    assert b"Content-Type: application/merge-patch+json\r\n" in came[0]
    await http.close()
    server.close()


def test_a_token_in_the_clear_or_beside_a_login_is_refused() -> None:
    said = "a token goes alone, and over https unless"
    with pytest.raises(WireError, match=said):
        parse_door("http://api", token_file=FILE)
    with pytest.raises(WireError, match=said):
        parse_door("http://api", "root", insecure=True, token_file=FILE)
    assert parse_door("https://api", token_file=FILE).token_file == FILE


async def test_a_refusal_has_its_status_and_what_kubernetes_says() -> None:
    told = reply(b'{"kind": "Status", "message": "nodes n9 not found", "code": 404}', "404 Not Found")
    async with serving(told) as (http, _):
        with pytest.raises(StatusError, match="404 Not Found: nodes n9 not found") as error:
            await http.get("x")
        assert error.value.status == 404


def test_a_password_in_the_clear_has_to_be_asked_for() -> None:
    with pytest.raises(WireError, match="insecure = true"):
        parse_door("http://bmc", "root")
    assert parse_door("http://bmc", "root", insecure=True).base == "http://bmc:80"
    assert parse_door("https://BMC.", "root").base == "https://bmc:443"
    assert parse_door("https://[::1]:8/").base == "https://[::1]:8"


async def test_certificates_are_looked_at_unless_told_not_to(tmp_path: Path) -> None:
    strict = wire_http._make_pass(parse_door("https://bmc")).tls
    lax = wire_http._make_pass(parse_door("https://bmc", insecure=True)).tls
    assert strict is not None
    assert lax is not None
    assert (strict.verify_mode, strict.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert (lax.verify_mode, lax.check_hostname) == (ssl.CERT_NONE, False)
    ca = tmp_path / "ca.pem"
    ca.write_text("none")
    for path in (ca, tmp_path / "absent"):
        with pytest.raises(WireError, match="cannot be used"):
            await JsonHttp(parse_door("https://127.0.0.1:1", ca_file=str(path)), HELD).get("x")


async def test_only_who_has_the_right_certificate_is_asked(tmp_path: Path) -> None:
    authority = issue(tmp_path, "authority")
    pair = issue(tmp_path, "bmc", authority)
    server_side = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server_side.load_cert_chain(pair.certificate_file, pair.key_file)
    came: list[bytes] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda *_: None)  # the server's own words about a client that hung up
    server = await loop.create_server(lambda: Server(came, lambda: reply(b"{}")), "127.0.0.1", 0, ssl=server_side)
    url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    with pytest.raises(WireError, match="certificate verify failed"):
        await JsonHttp(parse_door(url), HELD).get("x")
    assert came == []
    assert await JsonHttp(parse_door(url, ca_file=authority.certificate_file), HELD).get("x") == {}
    assert await JsonHttp(parse_door(url, insecure=True), HELD).get("x") == {}
    assert len(came) == 2
    server.close()


async def test_a_service_has_one_owner_and_one_door() -> None:
    wires = SystemWires(HELD)
    mine = wires.owned_by("redfish")
    assert mine.http("https://bmc") is mine.http("https://BMC:443/")
    with pytest.raises(WireError, match="belongs to redfish"):
        wires.owned_by("other").http("https://bmc")
    with pytest.raises(WireError, match="another user or other files"):
        mine.http("https://bmc", user="root")
    await wires.close()
    assert wires.owned_by("other").http("https://bmc")


async def test_the_one_in_memory_is_like_it(supernoded_wires: MemoryWires) -> None:
    http = supernoded_wires.http("https://bmc/")
    assert http is supernoded_wires.http("https://bmc", user="root")
    http.answers["x/y"] = {"a": 1}
    assert await http.get("/x/y/") == {"a": 1}
    with pytest.raises(WireError, match="404"):
        await http.get("z")
    assert await http.order("n0", "PATCH", "x", {"a": 2}) == {}
    supernoded_wires.refusals["n0"] = "observing"
    with pytest.raises(NotHeldError):
        await http.order("n0", "PATCH", "x", {"a": 3})
    assert http.orders == [("n0", "PATCH", "x", {"a": 2})]
    with pytest.raises(WireError, match="https://host"):
        supernoded_wires.http("tcp://bmc:1")
