"""The server, unchanged, in virtual time."""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from pathlib import Path

import aiohttp
import msgspec

from sim_hardware.loop import SimLoop
from sim_hardware.loop.play import play
from sim_hardware.net import Net
from supernoded.admin.access import Access, Gate, Membership
from supernoded.admin.desk import Caller
from supernoded.admin.listening import listen_simulated
from supernoded.admin.server import serve_admin
from supernoded.messages import Problem
from supernoded.model import Mode
from tests.unit.admin.fake_desk import FakeDesk

PATH = Path("/run/supernoded/admin.sock")
OPERATOR = 1001
LOG = logging.getLogger("supernoded.admin")


def look_up(caller: Caller, groups: tuple[str, ...]) -> Membership:
    return Membership(f"user{caller.uid}", caller.uid == OPERATOR)


async def daemon(desk: FakeDesk) -> None:
    gate = Gate(Access(operator_group="operators"), 900, look_up)
    async with serve_admin(desk, gate, partial(listen_simulated, PATH), LOG):
        await asyncio.Event().wait()


async def call(told: list[tuple[int, bytes]], method: str, path: str, body: bytes = b"") -> None:
    async with (
        aiohttp.ClientSession("http://admin", connector=aiohttp.UnixConnector(str(PATH))) as client,
        client.request(method, path, data=body) as response,
    ):
        told.append((response.status, await response.read()))


def test_callers_are_known_by_their_simulated_process() -> None:
    loop, desk, told = SimLoop(1), FakeDesk(), list[tuple[int, bytes]]()
    Net(loop)
    change = partial(call, told, "PUT", "/v1/modes/thermal", b'{"mode":"act"}')

    async def scenario() -> None:
        loop.spawn("n0", partial(daemon, desk))
        await asyncio.sleep(1)
        assert await loop.spawn("operator", change, host="n0", uid=OPERATOR, gid=7).ended == 0
        assert await loop.spawn("stranger", change, host="n0", uid=1002, gid=7).ended == 0

    play(loop, scenario())
    assert loop.failures == []
    assert [status for status, _ in told] == [200, 403]
    assert "user1002" in msgspec.json.decode(told[1][1], type=Problem).error
    assert desk.changes == [("thermal", Mode.ACT, Caller(loop.processes["operator"].pid, OPERATOR, 7))]
    assert [(record.caller.uid, record.accepted) for record in desk.recorded] == [(OPERATOR, True), (1002, False)]


def test_a_stuck_daemon_is_given_up_in_virtual_time() -> None:
    loop, desk, told = SimLoop(1), FakeDesk(), list[tuple[int, bytes]]()
    Net(loop)
    desk.stuck = True

    async def scenario() -> None:
        loop.spawn("n0", partial(daemon, desk))
        await asyncio.sleep(1)
        assert await loop.spawn("ctl", partial(call, told, "GET", "/v1/status"), host="n0").ended == 0

    play(loop, scenario())
    assert [status for status, _ in told] == [504]
    assert 11 <= loop.time() < 12
