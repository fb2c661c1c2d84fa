"""The client: login, TLS, passwords in the clear, lists, orders that are tracked."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from supernoded.errors import NotHeldError
from supernoded.plugin import Node, WireError
from supernoded.testing import ManualClock, MemoryStream, MemoryWires
from supernoded_nut.place import Place
from supernoded_nut.server import NutServer, open_server
from supernoded_nut.settings import NutSettings, ServerSettings
from supernoded_nut.words import RefusalError
from tests.plugins.nut.conftest import SERVER
from tests.plugins.nut.upsd import Upsd

LOGIN = ServerSettings(user="admin", password_file="/etc/secret/nut", insecure=True)


@pytest.fixture
def stream(supernoded_wires: MemoryWires, upsd: Upsd) -> MemoryStream:
    supernoded_wires.tree("/etc/secret").files["nut"] = 'pass "word"\n'
    return supernoded_wires.stream(SERVER)


def client(node: Node, settings: ServerSettings = LOGIN, key: str = "u") -> NutServer:
    return open_server(Place("u", 3493), NutSettings(servers={key: settings}), node)


async def test_reading_needs_no_login(node: Node, stream: MemoryStream, upsd: Upsd) -> None:
    upsd.settable = ("battery.charge",)
    server = open_server(Place("u", 3493), NutSettings(servers={"other": LOGIN}), node)
    assert await server.list_devices() == {"ups-a": "a device", "pdu-a1": "a device"}
    assert await server.list_variables("ups-a") == {"ups.status": "OL", "battery.charge": "100"}
    assert await server.list_settings("ups-a") == {"battery.charge": "100"}
    upsd.commands["load.off"] = lambda: "SUCCESS"
    assert await server.list_commands("ups-a") == ["load.off"]
    assert await server.get_variable("ups-a", "battery.charge") == "100"
    with pytest.raises(RefusalError, match="VAR-NOT-SUPPORTED; its driver has no such variable"):
        await server.get_variable("ups-a", "battery.colour")
    assert not any(request.startswith((b"USERNAME", b"STARTTLS")) for request in stream.sent)


@pytest.mark.parametrize("key", ["u", "u:3493", "U."])
async def test_a_login_comes_once_and_after_tls(node: Node, stream: MemoryStream, upsd: Upsd, key: str) -> None:
    settings = ServerSettings(user="admin", password_file="/etc/secret/nut", ca_file="/ca.pem")
    server = client(node, settings, key)
    await server.list_devices()
    await server.list_devices()
    login = [b"STARTTLS\n", b"USERNAME admin\n", b'PASSWORD "pass \\"word\\""\n', b"SET TRACKING ON\n"]
    assert stream.sent == [*login, b"LIST UPS\n", b"LIST UPS\n"]
    assert stream.secured == "/ca.pem"
    await stream.close()
    await server.list_devices()
    assert stream.sent[6:] == [*login, b"LIST UPS\n"]


@pytest.mark.parametrize("code", ["FEATURE-NOT-CONFIGURED", "FEATURE-NOT-SUPPORTED", "UNKNOWN-COMMAND"])
async def test_a_password_never_goes_in_the_clear_unasked(node: Node, stream: MemoryStream, upsd: Upsd, code: str) -> None:
    upsd.refusals["STARTTLS"] = code
    with pytest.raises(WireError, match="u:3493 has no TLS, and the password of admin would go in the clear"):
        await client(node, ServerSettings(user="admin", password_file="/etc/secret/nut")).list_devices()
    assert stream.sent == [b"STARTTLS\n"]


async def test_where_it_is_allowed_the_password_goes_in_the_clear(node: Node, stream: MemoryStream, upsd: Upsd) -> None:
    upsd.refusals["STARTTLS"] = "FEATURE-NOT-CONFIGURED"
    await client(node).list_devices()
    assert (stream.sent[1], stream.secured) == (b"USERNAME admin\n", None)


async def test_a_ca_file_wants_tls_even_to_read(node: Node, stream: MemoryStream, upsd: Upsd) -> None:
    upsd.refusals["STARTTLS"] = "FEATURE-NOT-CONFIGURED"
    with pytest.raises(RefusalError, match="u:3493: STARTTLS was refused"):
        await client(node, ServerSettings(ca_file="/ca.pem", insecure=True)).list_devices()
    assert stream.sent == [b"STARTTLS\n"]


async def test_a_missing_password_file_is_named(node: Node, stream: MemoryStream) -> None:
    settings = ServerSettings(user="admin", password_file="/etc/secret/absent", insecure=True)
    with pytest.raises(WireError, match="/etc/secret/absent"):
        await client(node, settings).list_devices()


async def test_a_refused_login_is_told_without_the_password(node: Node, stream: MemoryStream, upsd: Upsd) -> None:
    upsd.refusals |= {"PASSWORD": "INVALID-PASSWORD"}
    with pytest.raises(RefusalError, match="PASSWORD was refused: INVALID-PASSWORD") as caught:
        await client(node).list_devices()
    assert "word\\" not in str(caught.value)


async def run(order: asyncio.Task[None], clock: ManualClock, seconds: float) -> None:
    """Turn the clock until the order is over."""
    for _ in range(round(seconds / 0.05)):
        if order.done():
            break
        await clock.advance(0.05)
    await order


async def test_an_order_is_done_when_its_driver_says_so(
    node: Node, stream: MemoryStream, upsd: Upsd, supernoded_clock: ManualClock
) -> None:
    upsd.commands["load.off"] = lambda: "SUCCESS"
    order = asyncio.create_task(client(node).command("feed/A", "ups-a", "load.off"))
    await run(order, supernoded_clock, 1.0)
    assert stream.sent[-3:] == [b"INSTCMD ups-a load.off\n", b"GET TRACKING id-0\n", b"GET TRACKING id-0\n"]


@pytest.mark.parametrize("said", ["ERR FAILED", "ERR UNKNOWN", "ERR INVALID-ARGUMENT"])
async def test_a_driver_may_refuse_later(node: Node, stream: MemoryStream, upsd: Upsd, supernoded_clock: ManualClock, said: str) -> None:
    upsd.commands["load.off"] = lambda: said
    with pytest.raises(RefusalError, match=f"INSTCMD ups-a load.off was refused: {said[4:]}"):
        await run(asyncio.create_task(client(node).command("feed/A", "ups-a", "load.off")), supernoded_clock, 1.0)


async def test_a_driver_that_says_something_else_has_not_done_it(
    node: Node, stream: MemoryStream, upsd: Upsd, supernoded_clock: ManualClock
) -> None:
    upsd.commands["load.off"] = lambda: "PERHAPS"
    with pytest.raises(WireError, match=r"INSTCMD ups-a load\.off: its driver says 'PERHAPS'"):
        await run(asyncio.create_task(client(node).command("feed/A", "ups-a", "load.off")), supernoded_clock, 1.0)


async def test_a_driver_that_never_says_is_not_waited_for(
    node: Node, stream: MemoryStream, upsd: Upsd, supernoded_clock: ManualClock
) -> None:
    upsd.commands["load.off"] = lambda: "PENDING"
    began = supernoded_clock.now()
    await run(asyncio.create_task(client(node).command("feed/A", "ups-a", "load.off")), supernoded_clock, 5.0)
    assert supernoded_clock.now() - began < 1.5


async def test_a_server_that_tracks_nothing_says_ok(node: Node, stream: MemoryStream, upsd: Upsd) -> None:
    upsd.refusals["SET TRACKING"] = "INVALID-ARGUMENT"
    upsd.commands["load.off"] = lambda: "SUCCESS"
    await client(node).command("feed/A", "ups-a", "load.off")
    assert stream.sent[-1] == b"INSTCMD ups-a load.off\n"


async def test_a_setting_is_quoted_and_set(node: Node, stream: MemoryStream, upsd: Upsd, supernoded_clock: ManualClock) -> None:
    upsd.settable = ("ups.id",)
    upsd.devices["ups-a"] = variables = {"ups.id": "old"}
    await run(asyncio.create_task(client(node).set_variable("feed/A", "ups-a", "ups.id", "row 7, west")), supernoded_clock, 1.0)
    assert variables == {"ups.id": "row 7, west"}
    assert b'SET VAR ups-a ups.id "row 7, west"\n' in stream.sent
    for garbled in ('"', "\\", "#"):
        with pytest.raises(WireError, match="upsd garbles quotes, backslashes and #"):
            await client(node).set_variable("feed/A", "ups-a", "ups.id", garbled)
    with pytest.raises(RefusalError, match="READONLY"):
        await client(node).set_variable("feed/A", "ups-a", "ups.model", "x")


async def test_an_order_needs_the_pen(node: Node, stream: MemoryStream, upsd: Upsd, supernoded_wires: MemoryWires) -> None:
    upsd.commands["load.off"] = lambda: "SUCCESS"
    supernoded_wires.refusals["feed/A"] = "n1 holds it"
    with pytest.raises(NotHeldError, match="n1 holds it"):
        await client(node).command("feed/A", "ups-a", "load.off")
    assert not any(request.startswith(b"INSTCMD") for request in stream.sent)


async def test_making_a_client_opens_nothing(node: Node, stream: MemoryStream, tmp_path: Path) -> None:
    client(node, ServerSettings(user="x", password_file=str(tmp_path / "absent"), ca_file=str(tmp_path / "absent")))
    assert stream.sent == []
