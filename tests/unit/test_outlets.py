"""Outlets one by one: what counts as switched, and that a restore closes what our own firing opened and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.errors import NotHeldError, WireError
from supernoded.model import Action, Effect, Step
from supernoded.outlets import OutletSight, OutletSwitch, StagedShed, judge_drawing, judge_outlet
from supernoded.testing import MemoryWires


class Strip:
    """A PDU in memory, whose outlets follow at once unless they are stuck or refuse."""

    pdu = "pdu/A1"

    def __init__(self, **states: bool) -> None:
        self.on = {int(name.removeprefix("o")): on for name, on in states.items()}
        self.sent: list[tuple[int, bool]] = []
        self.stuck, self.refusing, self.welded = set[int](), set[int](), set[int]()

    async def look(self, numbers: Sequence[int]) -> Mapping[int, OutletSight]:
        return {
            number: OutletSight(state="on" if self.on[number] else "off", drawing=self.on[number] or number in self.welded)
            for number in numbers
            if number in self.on
        }

    async def switch(self, scope: str, number: int, *, on: bool) -> None:
        if number in self.refusing:
            raise WireError(f"{scope}: no")
        self.sent.append((number, on))
        if number not in self.stuck:
            self.on[number] = on


def order(kind: str, incident: str = "i1", target: str = "pdu/A1") -> Action:
    step = Step(name="s", kind=kind, target=target, reason="a test")
    return Action(id=f"{incident}/s", step=step, incident=incident, scope="feed/A", epoch=1, issued=100.0, deadline=110.0)


def make_shed(strip: Strip, wires: MemoryWires, *sheddable: int) -> StagedShed:
    return StagedShed(strip, sheddable or (1, 2, 3), wires.tree("/state"))


async def look(shed: StagedShed, kind: str) -> Effect:
    return (await shed.observe(order(kind))).effect


@given(st.sampled_from(["on", "off", None]), st.sampled_from([True, False, None]), st.booleans(), st.booleans())
def test_switched_is_what_both_state_and_current_say(state: str | None, drawing: bool | None, metered: bool, on: bool) -> None:
    effect = judge_outlet(OutletSight(state=state, drawing=drawing, metered=metered), on=on).effect
    wanted = "on" if on else "off"
    assert (effect is Effect.PRESENT) == (state == wanted and (not metered or drawing is on))
    assert (effect is Effect.ABSENT) == (state is not None and state != wanted)


def test_an_outlet_that_is_not_there() -> None:
    assert judge_outlet(None, on=True).effect is Effect.UNKNOWN


@pytest.mark.parametrize(
    ("watts", "amperes", "drawing"),
    [(0.0, 9.0, False), (2.0, None, True), (1.9, None, False), (None, 0.04, False), (None, 0.1, True), (None, None, None)],
)
def test_watts_go_before_amperes(watts: float | None, amperes: float | None, drawing: bool | None) -> None:
    assert judge_drawing(watts, amperes) is drawing


async def test_one_outlet() -> None:
    strip = Strip(o7=True)
    switch = OutletSwitch(strip)
    assert (sorted(switch.kinds), list(switch.targets)) == (["outlet.off", "outlet.on", "power.off", "power.on"], ["pdu/A1/outlet*"])
    off, on = order("power.off", target="pdu/A1/outlet7"), order("outlet.on", target="pdu/A1/outlet7")
    await switch.apply(off)
    assert ((await switch.observe(off)).effect, (await switch.observe(on)).effect) == (Effect.PRESENT, Effect.ABSENT)
    await switch.apply(on)
    assert strip.sent == [(7, False), (7, True)]
    for target in ("pdu/A1/outlet", "pdu/A1/outlet7x", "pdu/A1"):
        with pytest.raises(WireError, match="write pdu/A1/outlet7"):
            await switch.apply(order("power.off", target=target))


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
    shed = StagedShed(Strip(o1=True), (), supernoded_wires.tree("/state"))
    assert await look(shed, "power.shed") is Effect.UNKNOWN
    with pytest.raises(WireError, match="nothing was sent"):
        await shed.apply(order("power.shed"))
