"""The holder of a CDU's role dies, or gives it away, in the middle of a step of the load: one hand on the valve at most, and no bump."""

from __future__ import annotations

import asyncio
import signal
from dataclasses import dataclass, field
from itertools import pairwise

import pytest

from sim_hardware.net.pipes import Mark, Pipe
from tests.chaos.cooling_play import Record, Scene, Stand, give_role, play_storm
from tests.chaos.cooling_storm import Storm

CDU_HOST = "cdu-0"
WRITES = frozenset({5, 6, 15, 16})  # Modbus function codes
VALVE, CONTROL = 12, 0  # registers of the unit's map
WATCHDOG_S = 15.0
LOW, HIGH = 95.0, 0.0  # % by which one card holds up the others: two fifths of the load, and all of it
STEP, DEATH = 90.0, 98.0  # s: the front of the step is in the pipes then
BAND = 0.3  # K (T5)

pytestmark = pytest.mark.timeout(600)


@dataclass
class Wire:
    """Every write that a daemon sent to the CDU: when, from which node, to which register."""

    monkeypatch: pytest.MonkeyPatch
    written: list[tuple[float, str, int]] = field(default_factory=list)

    def tap(self, stand: Stand) -> None:
        """Listen on the network."""
        carry = stand.site.net.carry

        def listen(source: Pipe, what: bytes | Mark) -> None:
            if source.other.host == CDU_HOST and isinstance(what, bytes) and what[2:4] == b"\0\0" and what[7:8] and what[7] in WRITES:
                self.written.append((stand.loop.time(), source.host, int.from_bytes(what[8:10], "big")))
            carry(source, what)

        self.monkeypatch.setattr(stand.site.net, "carry", listen)

    def list_times(self, node: str, since: float = 0.0) -> list[float]:
        """When a node wrote."""
        return [at for at, who, _ in self.written if who == node and at >= since]


def play(wire: Wire, scene: Scene, seconds: float = 230.0) -> Record:
    """Two nodes on one CDU, and a step of the load at `STEP`."""

    async def watch(stand: Stand) -> None:
        wire.tap(stand)
        await scene(stand)

    loads = ((5.0, LOW), (STEP, HIGH))
    record = play_storm(Storm(1, "hand-over", "direct-2x8", seconds, loads=loads), scene=watch)
    assert record.failures == []
    assert {"job.lost", "card.overheated", "condensation"}.isdisjoint({one.kind for one in record.happened})
    return record


async def wait_until(stand: Stand, at: float) -> None:
    await asyncio.sleep(at - stand.loop.time())


def find_worst(record: Record, since: float, until: float = 1e9) -> float:
    """K beside the setpoint."""
    return max(abs(second.supply - 22.0) for second in record.seconds if since <= second.at < until)


def check_taken(record: Record, at: float) -> None:
    """Who takes the CDU makes nothing worse than it is by then, and has it in its band soon.

    After a death that may be a kelvin: for the watchdog's time the valve stands still in the middle of the front.
    """
    assert find_worst(record, at, at + 60.0) <= max(BAND, find_worst(record, at - 5.0, at)) + 0.1
    assert find_worst(record, at + 60.0) <= BAND


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> Wire:
    return Wire(monkeypatch)


def test_a_holder_that_dies_and_is_back_at_once_goes_on_as_if_nothing_had_been(wire: Wire) -> None:
    async def scene(stand: Stand) -> None:
        await wait_until(stand, DEATH)
        stand.loop.kill(stand.loop.processes["n0"])
        await asyncio.sleep(3.0)
        stand.site.start("n0", stand.configs["n0"])

    record = play(wire, scene)
    assert {second.control for second in record.seconds if second.at > 20.0} == {"direct"}
    assert find_worst(record, 60.0) <= BAND
    assert {who for _, who, _ in wire.written} == {"n0"}


def test_a_holder_that_stays_dead_is_fenced_by_the_watchdog_and_takes_the_cdu_again_without_a_bump(wire: Wire) -> None:
    back = DEATH + 40.0

    async def scene(stand: Stand) -> None:
        await wait_until(stand, DEATH)
        stand.loop.kill(stand.loop.processes["n0"])
        await wait_until(stand, back)
        stand.site.start("n0", stand.configs["n0"])

    record = play(wire, scene)
    assert {who for _, who, _ in wire.written} == {"n0"}
    assert [at for at in wire.list_times("n0") if DEATH < at < back] == []
    fallen = [second.at for second in record.seconds if second.control == "auto" and second.at > 30.0]
    assert min(fallen) == pytest.approx(DEATH + WATCHDOG_S, abs=2.0)
    assert max(fallen) < back + 6.0  # its settings say that it holds the role; nobody else was on it
    check_taken(record, back)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_role_that_moves_waits_until_the_other_hand_has_gone(wire: Wire, how: signal.Signals) -> None:
    """The new holder is told first, while the old one still steers: it must wait (safety rule 16)."""
    told, gone = STEP + 4.0, STEP + 24.0

    async def scene(stand: Stand) -> None:
        await wait_until(stand, told)
        give_role(stand, "cdu/0", "n1")
        stand.loop.kill(stand.loop.processes["n1"])
        stand.site.start("n1", stand.configs["n1"])
        await wait_until(stand, gone)
        process = stand.loop.processes["n0"]
        stand.loop.deliver(process, how)
        await process.ended
        stand.site.start("n0", stand.configs["n0"])

    record = play(wire, scene)
    assert wire.list_times("n0", gone + 6.0) == []
    last, first = max(wire.list_times("n0")), min(wire.list_times("n1"))
    assert first > last  # never two hands
    if how is signal.SIGKILL:
        assert first - last >= WATCHDOG_S - 1.0
    assert first - last <= WATCHDOG_S + 10.0
    gaps = [after - before for before, after in pairwise(wire.list_times("n1"))]
    assert max(gaps) < 3.0
    assert record.seconds[-1].control == "direct"
    assert find_worst(record, 60.0, gone) <= BAND
    check_taken(record, first)
    if how is signal.SIGTERM:
        assert find_worst(record, gone) <= BAND + 0.1
