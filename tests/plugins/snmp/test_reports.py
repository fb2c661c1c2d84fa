"""What people have reported of power devices behind SNMP, as inputs, by the numbers of the reports: what is told, and what is believed."""

from __future__ import annotations

from pathlib import Path

import pytest

import supernoded_snmp
from supernoded.model import Action, Effect, Step
from supernoded.testing import ManualClock, MemoryWires
from supernoded_snmp.settings import SnmpSettings
from tests.plugins.snmp.agents import Row, Table, answer_with, by_key, make_node, oid
from tests.plugins.snmp.strips import APC2, RPDU2

LIEBERT = "1.3.6.1.4.1.476.1.42"
CRAC: dict[str, Row] = {  # each value is there twice
    "1.3.6.1.2.1.1.2.0": oid(LIEBERT),
    f"{LIEBERT}.3.9.20.1.10.1.2.1.4291": "Return Air Temperature",
    f"{LIEBERT}.3.9.20.1.20.1.2.1.4291": 73,
    f"{LIEBERT}.3.9.20.1.30.1.2.1.4291": "deg F",
    f"{LIEBERT}.3.9.20.1.10.1.2.2.4291": "Return Air Temperature",
    f"{LIEBERT}.3.9.20.1.20.1.2.2.4291": 23,
    f"{LIEBERT}.3.9.20.1.30.1.2.2.4291": "deg C",
}
OWN = f"""
name = "crac"
text = "a cooling unit"
source = "the site's own"
of = "pdu"
[[columns]]
oid = "{LIEBERT}.3.9.20.1.20.1.2.2"
index = "probe"
subject = "probe{{probe}}"
quantity = "air.temperature"
unit = "C"
"""


async def test_a_cooling_unit_that_is_filed_as_a_ups_is_none(
    supernoded_wires: MemoryWires, supernoded_clock: ManualClock, tmp_path: Path
) -> None:
    """LibreNMS's `vertiv-power`: it has no columns of a UPS, and its 73 F and 23 C are no UPS's."""
    answer_with(supernoded_wires, Table(dict(CRAC)))
    node = make_node(supernoded_wires, supernoded_clock, tmp_path, ups="snmp://10.0.0.5")
    (sensor,) = supernoded_snmp.supernoded_sensors(SnmpSettings(), node)
    found = by_key(await sensor.read())
    assert {key: reading.value for key, reading in found.items() if key[1] != "ups.link"} == {("ups/A", "ups.status"): None}
    assert f"it says that it is {LIEBERT}, and has the columns of none of" in found["ups/A", "ups.status"].note


async def test_of_its_twins_that_one_is_read_which_the_sites_profile_names(
    supernoded_wires: MemoryWires, supernoded_clock: ManualClock, tmp_path: Path
) -> None:
    answer_with(supernoded_wires, Table(dict(CRAC)))
    (tmp_path / "crac.toml").write_text(OWN)
    node = make_node(supernoded_wires, supernoded_clock, tmp_path, pdu="snmp://10.0.0.5?profile=crac")
    (sensor,) = supernoded_snmp.supernoded_sensors(SnmpSettings(profiles=(str(tmp_path / "crac.toml"),)), node)
    found = by_key(await sensor.read())
    assert [reading.value for (_, quantity), reading in found.items() if quantity == "air.temperature"] == [23.0]


@pytest.mark.parametrize("looks", [1, 3, 10], ids=["HA#68581-one-look", "HA#155182-2.5-s", "sonic-mgmt#12157-10-s"])
async def test_an_outlet_that_shows_its_old_state_for_a_while_is_not_done_and_not_failed(
    looks: int, supernoded_wires: MemoryWires, supernoded_clock: ManualClock, tmp_path: Path
) -> None:
    rows = dict(RPDU2)
    table = Table(rows, write="public")
    answer_with(supernoded_wires, table)
    supernoded_wires.tree("/run/snmp").files["write"] = "public"
    node = make_node(supernoded_wires, supernoded_clock, tmp_path, pdu="snmp://10.0.0.5?write_community_file=/run/snmp/write")
    (switch,) = supernoded_snmp.supernoded_actuators(SnmpSettings(), node)
    step = Step(name="s", kind="power.off", target="pdu/A1/outlet7", reason="a test")
    action = Action(id="i/s", step=step, incident="i", scope="feed/A", epoch=1, issued=0.0, deadline=10.0)
    await switch.apply(action)
    for _ in range(looks):
        assert (await switch.observe(action)).effect is Effect.ABSENT
        await supernoded_clock.advance(1.0)
    rows |= {f"{APC2}.9.2.3.1.5.7": 1, f"{APC2}.9.4.3.1.6.7": 0, f"{APC2}.9.4.3.1.7.7": 0}
    assert (await switch.observe(action)).effect is Effect.PRESENT
    assert table.orders == [(f"{APC2}.9.2.4.1.5.7", 2)]
