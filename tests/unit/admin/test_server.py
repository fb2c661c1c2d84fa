from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

import aiohttp
import msgspec
import pytest
from aiohttp.test_utils import make_mocked_request

from supernoded.admin.access import Access, Gate, Membership, Right, caller_of
from supernoded.admin.desk import Caller
from supernoded.admin.listening import listen_simulated, listen_unix
from supernoded.admin.server import Bounds, serve_admin
from supernoded.errors import AdminError, JournalError
from supernoded.messages import (
    SCHEMA,
    ActionFilter,
    Actions,
    Answer,
    EventFilter,
    Events,
    Health,
    Holds,
    IncidentFilter,
    Incidents,
    ModeChanged,
    Modes,
    Plugins,
    Problem,
    ReadingFilter,
    Readings,
    Rehearsed,
    Status,
    Story,
)
from supernoded.model import Mode, State
from tests.unit.admin.fake_desk import INCIDENT, STATUS, FakeDesk, until

LOG = logging.getLogger("supernoded.admin")
OPERATORS = Access(reading_group="readers", operator_group="operators")


@pytest.fixture
def desk() -> FakeDesk:
    return FakeDesk()


class StrangersGate(Gate):
    """Takes this test's own process for a stranger."""

    async def find_refusal(self, caller: Caller, right: Right) -> str | None:
        return await super().find_refusal(Caller(caller.pid, 4242, 4242), right)


def gate_for(*owned: str) -> Gate:
    """A gate before which whoever calls is alice, who is in these groups."""
    return StrangersGate(OPERATORS, own_uid=-1, lookup=lambda _, groups: Membership("alice", any(group in owned for group in groups)))


@asynccontextmanager
async def serving(path: Path, desk: FakeDesk, gate: Gate | None = None, **bounds: float) -> AsyncIterator[aiohttp.ClientSession]:
    gate = gate or Gate(Access(), os.getuid())
    async with serve_admin(desk, gate, partial(listen_unix, path, "", LOG), LOG, msgspec.convert(bounds, Bounds)):
        connector = aiohttp.UnixConnector(path=str(path))
        async with aiohttp.ClientSession("http://admin", connector=connector) as client:
            yield client


async def ask(client: aiohttp.ClientSession, path: str, method: str = "GET", body: bytes = b"") -> tuple[int, bytes]:
    async with client.request(method, path, data=body) as response:
        return response.status, await response.read()


def error_of(body: bytes) -> str:
    return msgspec.json.decode(body, type=Problem).error


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("status", Status),
        ("health", Health),
        ("plugins", Plugins),
        ("readings", Readings),
        ("incidents", Incidents),
        (f"incidents/{INCIDENT.id}", Story),
        ("events", Events),
        ("actions", Actions),
        ("holds", Holds),
        ("modes", Modes),
        ("rehearsals?policy=thermal", Rehearsed),
    ],
)
async def test_every_path_answers_with_its_message(tmp_path: Path, desk: FakeDesk, path: str, kind: type[Answer]) -> None:
    async with serving(tmp_path / "s", desk) as client:
        status, body = await ask(client, f"/v1/{path}")
    assert status == 200
    answer = msgspec.json.decode(body, type=kind)
    assert answer.schema == SCHEMA
    assert msgspec.json.decode(msgspec.json.encode(answer), type=kind) == answer


async def test_filters_reach_the_desk_typed(tmp_path: Path, desk: FakeDesk) -> None:
    async with serving(tmp_path / "s", desk) as client:
        _, body = await ask(client, "/v1/readings?subject=n0/card3*&quantity=link.*&state=unknown&history=true&limit=5")
        await ask(client, "/v1/incidents?all=true")
        await ask(client, "/v1/events?incident=i1")
        await ask(client, "/v1/actions?policy=thermal&limit=3")
    assert desk.asked == [
        ReadingFilter(subject="n0/card3*", quantity="link.*", state=State.UNKNOWN, history=True, limit=5),
        IncidentFilter(all=True),
        EventFilter(incident="i1"),
        ActionFilter(policy="thermal", limit=3),
    ]
    assert [r.note for r in msgspec.json.decode(body, type=Readings).readings] == ["saturated"]


@pytest.mark.parametrize(
    ("path", "status", "sentence"),
    [
        ("/v1/readings?limit=0", 400, "limit"),
        ("/v1/readings?state=broken", 400, "broken"),
        ("/v1/readings?qantity=x", 400, "qantity"),
        ("/v1/rehearsals", 400, "policy"),
        ("/v1/rehearsals?policy=nope", 409, "there is no policy 'nope'"),
        ("/v1/incidents/nope", 404, "there is no incident 'nope'"),
        ("/v1/nope", 404, "there is no /v1/nope"),
    ],
)
async def test_what_cannot_be_answered_is_refused_with_a_sentence(
    tmp_path: Path, desk: FakeDesk, path: str, status: int, sentence: str
) -> None:
    async with serving(tmp_path / "s", desk) as client:
        got, body = await ask(client, path)
    assert got == status
    assert sentence in error_of(body)


async def test_metrics_are_prometheus_text(tmp_path: Path, desk: FakeDesk) -> None:
    async with serving(tmp_path / "s", desk) as client, client.get("/metrics") as response:
        assert response.content_type == "text/plain"
        assert 'supernoded_readings{state="good"} 42.0' in await response.text()


async def test_a_change_is_done_and_recorded_with_its_caller(tmp_path: Path, desk: FakeDesk) -> None:
    async with serving(tmp_path / "s", desk) as client:
        status, body = await ask(client, "/v1/modes/thermal", "PUT", b'{"mode":"act"}')
    me = Caller(os.getpid(), os.getuid(), os.getgid())
    assert status == 200
    assert msgspec.json.decode(body, type=ModeChanged).after is Mode.ACT
    assert desk.changes == [("thermal", Mode.ACT, me)]
    [record] = desk.recorded
    assert (record.caller, record.verb, record.detail, record.accepted) == (me, "PUT /v1/modes/thermal", '{"mode":"act"}', True)
    assert '"after":"act"' in record.answer


@pytest.mark.parametrize(
    ("request_", "status", "sentence"),
    [
        (("/v1/modes/thermal", "PUT", b'{"mode":"full"}'), 400, "full"),
        (("/v1/modes/thermal", "PUT", b"{"), 400, "the body cannot be used"),
        (("/v1/modes/thermal", "PUT", b'{"mode":"act","yes":1}'), 400, "yes"),
        (("/v1/modes/nope", "PUT", b'{"mode":"act"}'), 409, "there is no policy"),
        (("/v1/status", "POST", b""), 405, "takes GET, HEAD"),
        (("/v1/modes/thermal", "PUT", b"x" * 70_000), 413, "larger than 65536 bytes"),
    ],
)
async def test_a_refused_change_is_recorded_too(
    tmp_path: Path, desk: FakeDesk, request_: tuple[str, str, bytes], status: int, sentence: str
) -> None:
    async with serving(tmp_path / "s", desk) as client:
        got, answer = await ask(client, *request_)
    assert got == status
    assert sentence in error_of(answer)
    assert not desk.changes
    assert [(r.accepted, r.answer.startswith(str(status))) for r in desk.recorded] == [(False, True)]


async def test_readers_may_not_change_and_strangers_may_not_read(tmp_path: Path, desk: FakeDesk) -> None:
    async with serving(tmp_path / "s", desk, gate_for("readers")) as client:
        assert (await ask(client, "/v1/status"))[0] == 200
        status, body = await ask(client, "/v1/modes/thermal", "PUT", b'{"mode":"act"}')
    assert status == 403
    assert "usermod -aG operators alice" in error_of(body)
    assert [r.accepted for r in desk.recorded] == [False]
    assert not desk.changes
    async with serving(tmp_path / "t", desk, gate_for()) as client:
        status, body = await ask(client, "/metrics")
    assert status == 403
    assert "usermod -aG readers alice" in error_of(body)


async def test_a_broken_journal_stops_no_change(tmp_path: Path, desk: FakeDesk, caplog: pytest.LogCaptureFixture) -> None:
    desk.journal_trouble = JournalError("disk full")
    async with serving(tmp_path / "s", desk) as client:
        status, _ = await ask(client, "/v1/modes/thermal", "PUT", b'{"mode":"observe"}')
    assert status == 200
    assert desk.changes[0][1] is Mode.OBSERVE
    assert "a change is not in the journal (disk full)" in caplog.text


async def test_trouble_at_the_desk_is_told(tmp_path: Path, desk: FakeDesk) -> None:
    desk.trouble = JournalError("the journal is locked")
    async with serving(tmp_path / "s", desk) as client:
        assert (await ask(client, "/v1/status"))[0] == 503
        desk.trouble = AdminError("not now")
        status, body = await ask(client, "/v1/status")
    assert (status, error_of(body)) == (409, "not now")


async def test_a_bug_is_logged_and_harms_no_other_request(tmp_path: Path, desk: FakeDesk, caplog: pytest.LogCaptureFixture) -> None:
    desk.trouble = ZeroDivisionError("a bug")
    async with serving(tmp_path / "s", desk) as client:
        assert (await ask(client, "/v1/status"))[0] == 500
        assert (await ask(client, "/v1/modes/thermal", "PUT", b'{"mode":"act"}'))[0] == 500
        desk.trouble = None
        assert (await ask(client, "/v1/status"))[0] == 200
    assert "ZeroDivisionError: a bug" in caplog.text
    assert [r.accepted for r in desk.recorded] == [False]


async def test_a_stuck_desk_is_given_up(tmp_path: Path, desk: FakeDesk) -> None:
    desk.stuck = True
    async with serving(tmp_path / "s", desk, patience=0.05) as client:
        status, body = await ask(client, "/v1/status")
        assert (await ask(client, "/v1/holds"))[0] == 200
    assert status == 504
    assert "not done within 0.05 s" in error_of(body)


async def test_a_change_outlives_its_callers_patience(tmp_path: Path, desk: FakeDesk) -> None:
    desk.stuck = True
    async with serving(tmp_path / "s", desk, change_patience=0.05) as client:
        status, body = await ask(client, "/v1/modes/thermal", "PUT", b'{"mode":"observe"}')
        assert status == 504
        assert "it goes on" in error_of(body)
        desk.may_go_on.set()
        await until(lambda: bool(desk.recorded))
    assert desk.changes[0][:2] == ("thermal", Mode.OBSERVE)
    assert desk.recorded[0].accepted


async def test_a_change_that_the_stop_cuts_off_is_recorded_as_such(tmp_path: Path, desk: FakeDesk) -> None:
    desk.stuck = True
    async with serving(tmp_path / "s", desk, change_patience=0.05, shutdown=0.01) as client:
        await ask(client, "/v1/modes/thermal", "PUT", b'{"mode":"observe"}')
    assert not desk.changes
    assert "cut off before it was done" in desk.recorded[0].answer


async def test_too_many_at_once_are_turned_away(tmp_path: Path, desk: FakeDesk) -> None:
    desk.stuck = True
    async with serving(tmp_path / "s", desk, most_requests=2) as client:
        waiting = [asyncio.create_task(ask(client, "/v1/status")) for _ in range(2)]
        await until(lambda: desk.waiting == 2)
        status, body = await ask(client, "/v1/holds")
        desk.may_go_on.set()
        assert [got for got, _ in await asyncio.gather(*waiting)] == [200, 200]
        assert (await ask(client, "/v1/holds"))[0] == 200
    assert status == 503
    assert "the limit is 2" in error_of(body)


async def test_connections_that_ask_nothing_lock_nobody_out(tmp_path: Path, desk: FakeDesk) -> None:
    async with serving(tmp_path / "s", desk, most_connections=3) as client, AsyncExitStack() as idle:
        readers = []
        for _ in range(5):
            reader, writer = await asyncio.open_unix_connection(tmp_path / "s")
            idle.callback(writer.close)
            readers.append(reader)
        assert (await ask(client, "/v1/status"))[0] == 200
        assert await readers[0].read() == b""  # the oldest was cut


async def test_a_body_that_never_ends_is_given_up(tmp_path: Path, desk: FakeDesk) -> None:
    async with serving(tmp_path / "s", desk, patience=0.05):
        reader, writer = await asyncio.open_unix_connection(tmp_path / "s")
        writer.write(b"PUT /v1/modes/thermal HTTP/1.1\r\nHost: a\r\nContent-Length: 14\r\n\r\n{")
        assert b" 504 " in await reader.readline()
        writer.close()
    assert not desk.changes


async def test_a_simulated_network_names_the_caller_itself() -> None:
    transport = asyncio.Transport({"peercred": (7, 8, 9)})
    assert caller_of(make_mocked_request("GET", "/", transport=transport)) == Caller(7, 8, 9)


async def test_a_caller_over_another_kind_of_socket_is_refused() -> None:
    with pytest.raises(AdminError, match="unix sockets only"):
        caller_of(make_mocked_request("GET", "/", transport=asyncio.Transport({})))


async def test_the_running_loops_own_network_will_do(tmp_path: Path, desk: FakeDesk) -> None:
    path = tmp_path / "s"
    async with (
        serve_admin(desk, Gate(Access(), os.getuid()), partial(listen_simulated, path), LOG),
        aiohttp.ClientSession("http://admin", connector=aiohttp.UnixConnector(path=str(path))) as client,
    ):
        _, body = await ask(client, "/v1/status")
    assert msgspec.json.decode(body, type=Status) == STATUS
