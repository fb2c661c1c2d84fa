"""Outlets one by one: what counts as switched."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.errors import WireError
from supernoded.model import Effect
from supernoded.outlets import OutletSight, OutletSwitch, judge_drawing, judge_outlet
from tests.unit.strips import Strip, order


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
    [
        (0.0, 9.0, True),
        (0.0, 0.0, False),
        (2.0, None, True),
        (1.9, None, False),
        (None, 0.04, False),
        (None, 0.1, True),
        (None, None, None),
        (-1.0, None, None),
        (-1.0, 0.1, True),
        (-1.0, -1.0, None),
    ],
)
def test_current_flows_when_either_meter_says_so(watts: float | None, amperes: float | None, drawing: bool | None) -> None:
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
