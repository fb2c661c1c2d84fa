"""SNMP agents on asyncio, over UDP."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Protocol

from sim_hardware.devices.garbling import Garbling
from sim_hardware.devices.panel import Impairment, Panel
from sim_hardware.devices.shutdown import Shutdown
from sim_hardware.devices.snmp.agent import Agent, Communities
from sim_hardware.devices.snmp.front import Front
from sim_hardware.devices.snmp.mib import Mib
from sim_hardware.devices.snmp.outlets import Outlets
from sim_hardware.devices.snmp.pdu import list_pdu
from sim_hardware.devices.snmp.pdu2 import list_pdu2
from sim_hardware.devices.snmp.ups import list_ups
from sim_hardware.devices.snmp.ups_card import UpsCard
from sim_hardware.devices.snmp.words import Unknown

MOST_WAITING = 256  # requests that wait for the device's delay; more are lost, as from a full socket; ours


class Timed(Protocol):
    """Something that wants to be run at a time."""

    @property
    def due(self) -> float:
        """When, in seconds of the plant's time."""
        ...

    def run(self) -> None:
        """Do what is due."""
        ...


class SnmpServer:
    """A device of the bench, at `snmp://host:port`."""

    def __init__(self, name: str, front: Front, agent: Agent, timed: Timed, seed: int = 0) -> None:
        self._name, self._front, self._timed = name, front, timed
        self.agent = agent
        self._garbling = Garbling(seed, name)
        self._timer: asyncio.TimerHandle | None = None

    @property
    def name(self) -> str:
        """Its key among the endpoints, such as `ups/A/snmp`, `pdu/A1/snmp`."""
        return self._name

    @property
    def impairment(self) -> Impairment:
        """How its answering is impaired."""
        return self._front.impairment

    @asynccontextmanager
    async def serve(self, host: str, port: int = 0) -> AsyncIterator[str]:
        """Listen, and give the URL. Raises OSError."""
        loop = asyncio.get_running_loop()
        transport, protocol = await loop.create_datagram_endpoint(lambda: _Socket(self), local_addr=(host, port))
        try:
            yield f"snmp://{host}:{transport.get_extra_info('sockname')[1]}"
        finally:
            transport.close()
            protocol.stop()
            if self._timer is not None:
                self._timer.cancel()

    def answer(self, datagram: bytes) -> bytes | None:
        """The answer, perhaps garbled; None for silence, as of a card without power."""
        if self._front.is_dark():
            return None
        answer = self.agent.answer(datagram)
        self._arm()
        return None if answer is None else self._garbling.garble(answer, self.impairment.garbled)

    def _arm(self) -> None:
        """Set the timer to what is due next."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._timed.due < math.inf:
            self._timer = asyncio.get_running_loop().call_later(max(0.0, self._timed.due - self._front.now()), self._run)

    def _run(self) -> None:
        self._timed.run()
        self._arm()


class _Socket(asyncio.DatagramProtocol):
    """Answers each request after the device's delay."""

    def __init__(self, server: SnmpServer) -> None:
        self._server = server
        self._transport: asyncio.DatagramTransport | None = None
        self._waiting: dict[asyncio.TimerHandle, None] = {}

    def connection_made(self, transport: Any) -> None:
        """The socket is open."""
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        """The socket is closed."""
        del exc
        self._transport = None

    def stop(self) -> None:
        """Answer no more."""
        for timer in self._waiting:
            timer.cancel()
        self._waiting.clear()

    def datagram_received(self, data: bytes, addr: Any) -> None:
        """A request."""
        impairment = self._server.impairment
        if impairment.silent or impairment.refusing:
            return
        if impairment.delay_s <= 0.0:
            self._answer(data, addr)
            return
        if len(self._waiting) >= MOST_WAITING:
            return
        loop = asyncio.get_running_loop()

        def wake() -> None:
            self._waiting.pop(timer)
            self._answer(data, addr)

        timer = loop.call_later(impairment.delay_s, wake)
        self._waiting[timer] = None

    def _answer(self, data: bytes, addr: Any) -> None:
        answer = self._server.answer(data)
        if answer is not None and self._transport is not None and not self._server.impairment.silent:
            self._transport.sendto(answer, addr)


def make_ups_agent(
    panel: Panel,
    ups: str,
    *,
    unknown: Unknown = "minus-one",
    communities: Communities | None = None,
    shutdown: Shutdown | None = None,
    seed: int = 0,
) -> SnmpServer:
    """The card of a UPS (RFC 1628), `ups/A/snmp`."""
    front = Front(panel, f"ups/{ups}")
    card = UpsCard(front, ups, unknown, shutdown)
    return SnmpServer(f"ups/{ups}/snmp", front, Agent(Mib(list_ups(card)), communities), card.shutdown, seed)


def make_pdu_agent(
    panel: Panel, pdu: str, *, unknown: Unknown = "minus-one", communities: Communities | None = None, seed: int = 0
) -> SnmpServer:
    """The card of a PDU with both of APC's trees, `pdu/A1/snmp`. Raises KeyError when the rack has no such PDU."""
    front = Front(panel, f"pdu/{pdu}")
    outlets = Outlets(front, pdu, unknown, seed)
    mib = Mib([*list_pdu(outlets), *list_pdu2(outlets)])
    return SnmpServer(f"pdu/{pdu}/snmp", front, Agent(mib, communities), outlets, seed)
