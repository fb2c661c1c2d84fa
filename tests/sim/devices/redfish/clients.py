"""How the tests ask a Redfish device: its core directly, or over the network in memory."""

from __future__ import annotations

import asyncio
import base64
import json
import zlib
from collections.abc import Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sim_hardware.devices.redfish import PASSWORD, USER, RedfishDevice
from sim_hardware.devices.redfish.words import Reply
from sim_hardware.loop import SimLoop
from sim_hardware.loop.play import play
from sim_hardware.net import Net
from sim_hardware.plant.cards.orders import PowerNode
from sim_hardware.plant.power.orders import SwitchOutlet
from sim_hardware.plant.words import Order, OrderError, UnknownSensorError, Value
from tests.sim.devices.panels import FakePanel

BASIC = {"Authorization": "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()}
ROOT = "/redfish/v1/"


@dataclass
class Timers:
    """What a controller has put off; `run` does it."""

    calls: list[tuple[float, Callable[[], None]]] = field(default_factory=list)

    def __call__(self, seconds: float, call: Callable[[], None]) -> None:
        self.calls.append((seconds, call))

    def run(self) -> None:
        calls, self.calls = self.calls, []
        for _, call in calls:
            call()


@dataclass
class FollowingPanel(FakePanel):
    """Nodes and outlets follow their orders at once."""

    def order(self, order: Order) -> None:
        super().order(order)
        if isinstance(order, PowerNode):
            self.values[order.node, "node.power"] = "on" if order.on else "off"
        if isinstance(order, SwitchOutlet):
            self.values[f"pdu/{order.pdu}/outlet{order.outlet}", "outlet.state"] = "on" if order.on else "off"


@dataclass
class LivePanel(FollowingPanel):
    """Its time is the loop's, too."""

    def now(self) -> float:
        return asyncio.get_running_loop().time()


@dataclass
class FuzzPanel(FakePanel):
    """Any sensor shows any of these values, always the same one; where it is a missing one, there is no such sensor. Orders fail or not."""

    MISSING = "\0missing"
    shown: tuple[Value, ...] = (None,)
    failing: bool = False

    def sense(self, subject: str, quantity: str) -> Value:
        value = self.shown[zlib.crc32(f"{subject} {quantity}".encode()) % len(self.shown)]
        if value == self.MISSING:
            raise UnknownSensorError(f"{subject} has no sensor of {quantity}")
        return value

    def order(self, order: Order) -> None:
        if self.failing:
            raise OrderError(f"{order} cannot be")


def ask(device: RedfishDevice, method: str, path: str, body: object = None, headers: Mapping[str, str] = BASIC) -> Reply:
    raw = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    return device.service.answer(method, path, raw, headers)


def get(device: RedfishDevice, path: str) -> dict[str, Any]:
    reply = ask(device, "GET", path)
    assert reply.status == 200, reply
    assert reply.body is not None
    return reply.body


def explain(reply: Reply) -> tuple[int, str, str]:
    """Status, message key and sentence of an error."""
    assert reply.body is not None
    told = reply.body["error"]["@Message.ExtendedInfo"][0]
    assert told["Message"] == reply.body["error"]["message"]
    return reply.status, told["MessageId"].rsplit(".", 1)[1], told["Message"]


def find_links(body: object) -> Iterator[str]:
    """Every reference in a body, `DataSourceUri` too."""
    if isinstance(body, dict):
        for key, value in body.items():
            if key in {"@odata.id", "DataSourceUri"}:
                yield value.split("#")[0]
            else:
                yield from find_links(value)
    elif isinstance(body, list):
        for value in body:
            yield from find_links(value)


def crawl(device: RedfishDevice) -> dict[str, dict[str, Any]]:
    """Everything that can be reached from the root, by path; all of it must be there."""
    found: dict[str, dict[str, Any]] = {}
    waiting = [ROOT]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found[path] = get(device, path)
            waiting += find_links(found[path])
    return found


def run(work: Coroutine[Any, Any, None], seed: int = 1) -> None:
    """In virtual time, on the network in memory."""
    loop = SimLoop(seed)
    Net(loop)
    play(loop, work)
    assert loop.failures == []
