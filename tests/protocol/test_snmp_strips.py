"""PDUs of Raritan and Server Technology over real UDP: behind Debian's snmpd, and behind an agent of ours whose relays obey."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pytest

from supernoded.model import Effect
from supernoded.plugin import WireError
from tests.plugins.snmp.agents import Row, Table, make_asn
from tests.plugins.snmp.strips import KINDS, PX2, SENTRY
from tests.protocol.test_sim_snmp import run
from tests.protocol.test_snmp import PATIENCE, READ, WRITE, Parts, order, serve_snmpd

TYPES = {"integer": "integer", "text": "octet_str"}  # our words in those of snmpd.conf


class Maker(NamedTuple):
    """What is told of outlet 7, and where it shows. `off` and `on` are what is told, `shown` what is seen, `meters` what flows."""

    command: str
    off: int
    on: int
    state: str
    shown: Mapping[int, int]
    meters: Mapping[str, int]
    whole: Mapping[str, object]


MAKERS = {
    "raritan-px2": Maker(
        f"{PX2}.4.1.2.1.2.1.7",
        0,
        1,
        f"{PX2}.5.4.3.1.3.1.7.14",
        {0: 8, 1: 7},
        {f"{PX2}.5.4.3.1.4.1.7.5": 20, f"{PX2}.5.4.3.1.4.1.7.1": 1900},
        {"pdu.model": "PX", "pdu.serial": "S3", "pdu.power": 4321.0, "pdu.voltage": pytest.approx(230.1)},
    ),
    "sentry3": Maker(
        f"{SENTRY}.2.3.1.11.1.1.7",
        2,
        1,
        f"{SENTRY}.2.3.1.5.1.1.7",
        {2: 0, 1: 1},
        {f"{SENTRY}.2.3.1.7.1.1.7": 90},
        {"pdu.model": "CW", "pdu.serial": "S4", "pdu.power": 757.0, "pdu.current": pytest.approx(3.62)},
    ),
}


def write_rows(rows: Mapping[str, Row], command: str) -> str:
    """As snmpd.conf has them; its identity is a word of its own, and one row can be set."""
    lines = []
    for name, row in rows.items():
        asn = make_asn(row)
        if isinstance(asn.value, tuple):
            lines.append(f"sysobjectid {'.'.join(map(str, asn.value))}")
        else:
            value = f'"{asn.value.decode()}"' if isinstance(asn.value, bytes) else asn.value
            lines.append(f"override {'-rw ' if name == command else ''}{name} {TYPES[asn.kind]} {value}")
    return "\n".join(lines) + "\n"


async def read_when_there(parts: Parts) -> dict[str, object]:
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                return {name: reading.value for name, reading in (await parts.read("snmp.pdu/A1")).items()}
            except WireError:
                await asyncio.sleep(0.05)  # it is starting


@pytest.mark.parametrize(("name", "version"), [("raritan-px2", "1"), ("sentry3", "2c")])
async def test_debians_agent_with_the_rows_of_a_maker(tmp_path: Path, name: str, version: str) -> None:
    """It knows the maker by its sysObjectID. What is told it stands in its row, and is of no effect: this agent has no relay."""
    maker = MAKERS[name]
    async with (
        serve_snmpd(tmp_path, write_rows(KINDS[name], maker.command)) as where,
        Parts(tmp_path, pdu=f"snmp://{where}?version={version}") as parts,
    ):
        found = await read_when_there(parts)
        assert {quantity: found[f"pdu/A1 {quantity}"] for quantity in maker.whole} == maker.whole
        assert [found[f"pdu/A1/outlet{number} outlet.state"] for number in (1, 7, 8)] == ["on", "on", "off"]
        switch = parts.find("power.off")
        await switch.apply(order("power.off"))
        assert await run("snmpget", where, maker.command, community=READ) == (0, [f".{maker.command} {maker.off}"])
        sight = await switch.observe(order("power.off"))
        assert (sight.effect, sight.text) == (Effect.ABSENT, "it is on")
        with pytest.raises(WireError, match="was refused: "):
            await switch.apply(order("power.off", "pdu/A1/outlet8"))


class Speaker(asyncio.DatagramProtocol):
    """Hands on what comes."""

    answer: Callable[[bytes, tuple[str, int]], None]

    def datagram_received(self, data: bytes, address: tuple[str, int]) -> None:
        self.answer(data, address)


@dataclass
class Relays:
    """An agent of ours on a socket; outlet 7 does what it is told."""

    maker: Maker
    rows: dict[str, Row]

    def __post_init__(self) -> None:
        self._table, self._obeyed = Table(self.rows, write=WRITE, read=READ), 0

    def answer(self, datagram: bytes) -> bytes:
        answer = self._table.make_agent().answer(datagram) or b""
        for command, value in self._table.orders[self._obeyed :]:
            assert command == self.maker.command
            flows = value == self.maker.on
            self.rows |= {self.maker.state: self.maker.shown[value]} | {name: flows * full for name, full in self.maker.meters.items()}
            self._obeyed += 1
        return answer

    @asynccontextmanager
    async def serve(self) -> AsyncIterator[str]:
        transport, speaker = await asyncio.get_running_loop().create_datagram_endpoint(Speaker, local_addr=("127.0.0.1", 0))
        speaker.answer = lambda data, address: transport.sendto(self.answer(data), address)
        try:
            yield f"snmp://127.0.0.1:{transport.get_extra_info('sockname')[1]}"
        finally:
            transport.close()


@pytest.mark.parametrize("name", MAKERS)
async def test_an_outlet_is_off_when_it_shows_it_and_nothing_flows(tmp_path: Path, name: str) -> None:
    relays = Relays(MAKERS[name], dict(KINDS[name]))
    async with relays.serve() as url, Parts(tmp_path, pdu=url) as parts:
        switch = parts.find("power.off")
        for kind in ("power.off", "power.on"):
            assert (await switch.observe(order(kind))).effect is Effect.ABSENT
            await switch.apply(order(kind))
            assert (await switch.observe(order(kind))).effect is Effect.PRESENT
