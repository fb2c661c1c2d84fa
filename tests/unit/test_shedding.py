"""Sheds outlet by outlet: a restore closes what our own firing opened and nothing else."""

from __future__ import annotations

import pytest

from supernoded.errors import NotHeldError, WireError
from supernoded.model import Effect
from supernoded.shedding import ShedRecord, ShedSensor, StagedShed
from supernoded.testing import ManualClock, MemoryWires
from tests.unit.strips import Strip, order


def make_shed(strip: Strip, wires: MemoryWires, *sheddable: int) -> StagedShed:
    return StagedShed(strip, sheddable or (1, 2, 3), ShedRecord("pdu/A1", wires.tree("/state")))


async def look(shed: StagedShed, kind: str) -> Effect:
    return (await shed.observe(order(kind, later=30.0))).effect


async def test_a_restore_closes_only_what_the_firing_opened(supernoded_wires: MemoryWires) -> None:
    strip = Strip(o1=True, o2=False, o3=True, o4=True)
    shed = make_shed(strip, supernoded_wires)
    assert await look(shed, "power.shed") is Effect.ABSENT
    await shed.apply(order("power.shed"))
    assert (strip.sent, await look(shed, "power.shed")) == ([(1, False), (3, False)], Effect.PRESENT)
    again = make_shed(strip, supernoded_wires)  # the daemon's next life
    assert await look(again, "power.restore") is Effect.ABSENT
    await again.apply(order("power.restore", "i2"))
    assert strip.on == {1: True, 2: False, 3: True, 4: True}
    assert await look(again, "power.restore") is Effect.PRESENT


async def test_a_pdu_that_still_shows_what_was_is_not_believed(supernoded_wires: MemoryWires) -> None:
    strip = Strip(o1=True, o2=True, o3=True)
    strip.stuck = {1, 2, 3}  # it shows for two seconds what it was
    shed = make_shed(strip, supernoded_wires)
    await shed.apply(order("power.shed"))
    sight = await shed.observe(order("power.restore", later=1.0))
    assert (sight.effect, "less than 5 s" in sight.text) == (Effect.ABSENT, True)
    await shed.apply(order("power.restore", later=1.0))
    assert strip.sent[3:] == [(1, True), (2, True), (3, True)]


async def test_a_clock_that_was_set_back_since_the_firing_keeps_no_restore_waiting(supernoded_wires: MemoryWires) -> None:
    shed = make_shed(Strip(o1=True, o2=True, o3=True), supernoded_wires)
    await shed.apply(order("power.shed"))
    hour_back = order("power.restore", later=-3600.0)  # in the daemon's next life
    assert (await shed.observe(hour_back)).effect is Effect.ABSENT
    await shed.apply(hour_back)
    assert (await shed.observe(hour_back)).effect is Effect.PRESENT


async def test_without_a_record_what_is_off_is_not_told_as_restored(supernoded_wires: MemoryWires) -> None:
    strip = Strip(o1=True, o2=False, o3=True, o4=False)
    shed = make_shed(strip, supernoded_wires)
    sight = await shed.observe(order("power.restore"))
    assert (sight.effect, "outlets 2 are not on, and this daemon has not opened them" in sight.text) == (Effect.UNKNOWN, True)
    await shed.apply(order("power.restore"))
    assert strip.sent == []
    strip.on[2] = True
    assert await look(shed, "power.restore") is Effect.PRESENT


async def test_what_is_restored_is_forgotten(supernoded_wires: MemoryWires) -> None:
    strip = Strip(o1=True, o2=True, o3=True)
    shed = make_shed(strip, supernoded_wires)
    await shed.apply(order("power.shed"))
    await shed.apply(order("power.restore"))
    assert await look(shed, "power.restore") is Effect.PRESENT
    strip.on[1] = False  # an operator's doing
    assert await look(shed, "power.restore") is Effect.PRESENT
    await shed.apply(order("power.restore", "i3"))
    assert strip.on[1] is False


async def test_a_firing_that_stopped_half_way_goes_on_and_is_restored_whole(supernoded_wires: MemoryWires) -> None:
    strip = Strip(o1=True, o2=True, o3=False)
    strip.refusing = {2}
    shed = make_shed(strip, supernoded_wires)
    with pytest.raises(WireError, match="1 of 2 outlets were not switched: outlet 2: feed/A: no"):
        await shed.apply(order("power.shed"))
    assert (strip.on, await look(shed, "power.shed")) == ({1: False, 2: True, 3: False}, Effect.ABSENT)
    strip.refusing = set()
    await shed.apply(order("power.shed"))
    assert await look(shed, "power.shed") is Effect.PRESENT
    await shed.apply(order("power.restore"))
    assert strip.on == {1: True, 2: True, 3: False}


async def test_a_second_firing_before_the_restore_keeps_the_first_ones(supernoded_wires: MemoryWires) -> None:
    strip = Strip(o1=True, o2=True, o3=False)
    shed = make_shed(strip, supernoded_wires)
    await shed.apply(order("power.shed"))
    strip.on[2] = True  # somebody has closed one
    await shed.apply(order("power.shed", "i2"))
    await shed.apply(order("power.restore", "i2"))
    assert strip.on == {1: True, 2: True, 3: False}


async def test_contacts_that_weld_are_not_open(supernoded_wires: MemoryWires) -> None:
    strip = Strip(o1=True, o2=True, o3=True)
    strip.welded = {2}
    shed = make_shed(strip, supernoded_wires)
    await shed.apply(order("power.shed"))
    sight = await shed.observe(order("power.shed"))
    assert (sight.effect, sight.text) == (Effect.UNKNOWN, "outlet 2: off by the PDU's word, but current still flows")


async def test_nothing_is_opened_before_it_is_written_down(supernoded_wires: MemoryWires) -> None:
    strip = Strip(o1=True, o2=True, o3=True)
    shed = make_shed(strip, supernoded_wires)
    supernoded_wires.refusals["feed/A"] = "the lease is over"
    with pytest.raises(NotHeldError):
        await shed.apply(order("power.shed"))
    assert strip.sent == []


async def test_a_record_that_is_none_stops_a_restore(supernoded_wires: MemoryWires) -> None:
    strip = Strip(o1=False, o2=False, o3=False)
    shed = make_shed(strip, supernoded_wires)
    supernoded_wires.tree("/state").files["shed/A1.json"] = "{half"
    for work in (shed.apply(order("power.restore")), shed.observe(order("power.restore"))):
        with pytest.raises(WireError, match="no record of a firing"):
            await work
    assert strip.sent == []


async def test_a_pdu_without_anything_sheddable(supernoded_wires: MemoryWires) -> None:
    shed = StagedShed(Strip(o1=True), (), ShedRecord("pdu/A1", supernoded_wires.tree("/state")))
    assert await look(shed, "power.shed") is Effect.UNKNOWN
    with pytest.raises(WireError, match="nothing was sent"):
        await shed.apply(order("power.shed"))


async def test_the_record_is_read_as_a_pdu_would_tell_it(supernoded_wires: MemoryWires, supernoded_clock: ManualClock) -> None:
    shed = make_shed(Strip(o1=True, o2=False, o3=True), supernoded_wires)
    sensor = ShedSensor(shed.record, supernoded_clock, "feed/A")
    assert (sensor.name, sensor.scope) == ("shed.pdu/A1", "feed/A")

    async def read() -> dict[str, object]:
        return {reading.quantity: reading.value for reading in await sensor.read()}

    assert await read() == {"pdu.event": "none", "pdu.opened": frozenset()}
    await shed.apply(order("power.shed"))
    age = supernoded_clock.now() - 100.0
    assert await read() == {"pdu.event": "fired", "pdu.opened": frozenset({"1", "3"}), "pdu.event_age": age}
    await shed.apply(order("power.restore"))
    assert (await read())["pdu.event"] == "fired"  # until it was seen
    await shed.observe(order("power.restore", later=30.0))
    assert await read() == {"pdu.event": "restored", "pdu.opened": frozenset(), "pdu.event_age": age}
