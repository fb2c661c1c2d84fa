"""Agents in memory: rows of our own, answered by the simulator's agent, and a node that reaches them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sim_hardware.devices.snmp import Agent, Asn, Cell, Communities, Mib, SetError
from sim_hardware.devices.snmp.mib import Commit, Status
from sim_hardware.devices.snmp.words import Oid, number, parse_oid, text
from supernoded.limits import Limits
from supernoded.model import Reading
from supernoded.plugin import Node
from supernoded.testing import ManualClock, MemoryHost, MemoryWires
from supernoded.topology import Topology
from supernoded.topology.site import Outlet, Pdu, Ups

URL = "udp://10.0.0.5:161"
Row = int | str | Asn
WRITER = "not for eyes"


@dataclass
class Table:
    """Rows by their names. What is written is kept, and each write calls `written`."""

    rows: Mapping[str, Row]
    orders: list[tuple[str, int]] = field(default_factory=list)
    refusing: bool = False
    write: str = "private"  # the communities
    read: str = "public"

    def make_agent(self) -> Agent:
        """An agent with the rows that there are now."""
        return Agent(Mib(self._make_cell(dotted) for dotted in self.rows), Communities(read=self.read, write=self.write))

    def _make_cell(self, dotted: str) -> Cell:
        def read() -> Asn | None:
            row = self.rows.get(dotted)
            return None if row is None else make_asn(row)

        def write(value: Asn) -> Commit:
            if self.refusing:
                raise SetError(Status.NOT_WRITABLE)
            assert isinstance(value.value, int)
            order = (dotted, value.value)
            return lambda: self.orders.append(order)

        return Cell(parse_oid(dotted), read, write)


def make_asn(row: Row) -> Asn:
    return number(row) if isinstance(row, int) else text(row) if isinstance(row, str) else row


def oid(dotted: str) -> Asn:
    """A value that is a name."""
    return Asn("oid", parse_oid(dotted))


def typed(kind: str, value: int | bytes | Oid) -> Asn:
    return Asn(kind, value)  # type: ignore[arg-type]  # a test's own word


def make_node(wires: MemoryWires, clock: ManualClock, tmp: Path, *, ups: str = "", pdu: str = "") -> Node:
    """A site with UPS A and PDU A1, each with this wire."""
    outlets = (
        Outlet(number=1, load="n0"),
        Outlet(number=7, load="n0/fan0", sheddable=True),
        Outlet(number=8, load="n0/fan1", sheddable=True),
        Outlet(number=9, load="n0/led", sheddable=True),
    )
    site = Topology(ups=(Ups(name="A", wire=ups),), pdus=(Pdu(name="A1", feed="A", wire=pdu, outlets=outlets),))
    return Node("n0", site, Limits(), wires, clock, MemoryHost(), tmp)


def answer_with(wires: MemoryWires, table: Table) -> None:
    """The device at `URL` answers out of this table, as it is at each request."""
    wires.datagrams(URL).answer = lambda datagram: table.make_agent().answer(datagram) or b""


def by_key(readings: Sequence[Reading]) -> Mapping[tuple[str, str], Reading]:
    found = {(reading.subject, reading.quantity): reading for reading in readings}
    assert len(found) == len(readings)
    return found
