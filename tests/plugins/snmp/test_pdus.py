"""PDUs of four makers: what is read, and that each is told in its own numbers, whatever those of its status are."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

import supernoded_snmp
from supernoded.model import Action, Effect, State, Step
from supernoded.outlets import SWITCH_KINDS, OutletSwitch
from supernoded.plugin import Actuator, Node, PluginError, WireError
from supernoded.quantities import VOCABULARY, find_fault
from supernoded.testing import ManualClock, MemoryWires
from supernoded_snmp.device import PROVEN_S
from supernoded_snmp.profile import Profile, load_built_in, parse_profile
from supernoded_snmp.settings import SnmpSettings
from tests.plugins.snmp.agents import WRITER, Row, Table, answer_with, by_key, make_node, oid
from tests.plugins.snmp.strips import APC, APC2, KINDS, PX2, RPDU2, SENTRY

FILES = "community_file=/run/snmp/read&write_community_file=/run/snmp/write"


class Scene:
    """A PDU with these rows, and the daemon's parts for it."""

    def __init__(self, rows: dict[str, Row], wires: MemoryWires, node: Node) -> None:
        self.rows, self.wires = rows, wires
        self.table = Table(rows, write=WRITER)
        answer_with(wires, self.table)
        wires.tree("/run/snmp").files |= {"read": "public\n", "write": f"{WRITER}\n"}
        (self.sensor,) = supernoded_snmp.supernoded_sensors(SnmpSettings(), node)
        self.actuators = supernoded_snmp.supernoded_actuators(SnmpSettings(), node)

    def find(self, kind: str) -> Actuator:
        (actuator,) = (actuator for actuator in self.actuators if kind in actuator.kinds)
        return actuator

    async def read(self) -> dict[tuple[str, str], object]:
        readings = by_key(await self.sensor.read())
        for reading in readings.values():
            assert reading.state is not State.GOOD or find_fault(reading) is None, reading
        return {(subject.removeprefix("pdu/A1").strip("/"), quantity): reading.value for (subject, quantity), reading in readings.items()}


def make_scene(kind: str, wires: MemoryWires, clock: ManualClock, folder: Path, more: str = "") -> Scene:
    return Scene(dict(KINDS[kind]), wires, make_node(wires, clock, folder, pdu=f"snmp://10.0.0.5?{FILES}{more}"))


def order(kind: str, target: str = "pdu/A1/outlet7") -> Action:
    step = Step(name="s", kind=kind, target=target, reason="a test")
    return Action(id="i/s", step=step, incident="i", scope="feed/A", epoch=1, issued=0.0, deadline=10.0)


@pytest.mark.parametrize(
    ("kind", "whole"),
    [
        (
            "apc-rpdu",
            {
                "pdu.power": 1230.0,
                "pdu.voltage": None,
                "pdu.current": 5.1,
                "pdu.rated_current": 32.0,
                "pdu.model": "R1",
                "pdu.serial": "S1",
            },
        ),
        (
            "apc-rpdu2",
            {"pdu.power": 1230.0, "pdu.voltage": 230.0, "pdu.current": 6.0, "pdu.current.L2": 2.0, "pdu.model": "R2", "pdu.serial": "S2"},
        ),
        (
            "raritan-px2",
            {"pdu.power": 4321.0, "pdu.voltage": 230.1, "pdu.current": 3.0, "pdu.current.L2": 2.0, "pdu.model": "PX", "pdu.serial": "S3"},
        ),
        (
            "sentry3",
            {
                "pdu.power": 757.0,
                "pdu.voltage": 209.3,
                "pdu.current": 3.62,
                "pdu.rated_current": 30.0,
                "pdu.model": "CW",
                "pdu.serial": "S4",
            },
        ),
    ],
)
async def test_what_is_read_of_the_whole(
    kind: str, whole: dict[str, object], supernoded_wires: MemoryWires, supernoded_clock: ManualClock, tmp_path: Path
) -> None:
    found = await make_scene(kind, supernoded_wires, supernoded_clock, tmp_path).read()
    shown = {quantity: found["", quantity] for quantity in whole}
    assert {quantity: pytest.approx(value) if isinstance(value, float) else value for quantity, value in whole.items()} == shown
    states = {subject: value for (subject, quantity), value in found.items() if quantity == "outlet.state"}
    assert states == {"outlet1": "on", "outlet7": "on", "outlet8": "off", "outlet9": "off" if kind == "apc-rpdu2" else None}


async def test_the_meters_of_outlets(supernoded_wires: MemoryWires, supernoded_clock: ManualClock, tmp_path: Path) -> None:
    for kind in ("apc-rpdu2", "raritan-px2"):
        found = await make_scene(kind, supernoded_wires, supernoded_clock, tmp_path).read()
        assert [found[f"outlet{outlet}", "outlet.power"] for outlet in (1, 7, 8)] == [430.0, 20.0, 0.0]
        assert found["outlet1", "outlet.current"] == pytest.approx(1.9)
    assert found["outlet9", "outlet.power"] == 0.0
    apc = await make_scene("apc-rpdu2", supernoded_wires, supernoded_clock, tmp_path).read()
    assert apc["outlet9", "outlet.power"] is None


async def test_probes_in_fahrenheit_in_celsius_and_absent(
    supernoded_wires: MemoryWires, supernoded_clock: ManualClock, tmp_path: Path
) -> None:
    found = await make_scene("sentry3", supernoded_wires, supernoded_clock, tmp_path).read()
    degrees = {subject: value for (subject, quantity), value in found.items() if quantity == "air.temperature"}
    assert degrees == {"probe1-1": pytest.approx(20.0), "probe1-2": pytest.approx(21.5), "probe1-3": None}


@pytest.mark.parametrize(
    ("kind", "command", "on", "off", "shown_on", "shown_off"),
    [
        ("apc-rpdu", f"{APC}.3.3.1.1.4.7", 1, 2, (f"{APC}.3.5.1.1.4.7", 1), (f"{APC}.3.5.1.1.4.7", 2)),
        ("apc-rpdu2", f"{APC2}.9.2.4.1.5.7", 1, 2, (f"{APC2}.9.2.3.1.5.7", 2), (f"{APC2}.9.2.3.1.5.7", 1)),
        ("raritan-px2", f"{PX2}.4.1.2.1.2.1.7", 1, 0, (f"{PX2}.5.4.3.1.3.1.7.14", 7), (f"{PX2}.5.4.3.1.3.1.7.14", 8)),
        ("sentry3", f"{SENTRY}.2.3.1.11.1.1.7", 1, 2, (f"{SENTRY}.2.3.1.5.1.1.7", 1), (f"{SENTRY}.2.3.1.5.1.1.7", 0)),
    ],
)
async def test_each_is_told_in_its_own_numbers_and_believed_by_its_own_status(
    kind: str,
    command: str,
    on: int,
    off: int,
    shown_on: tuple[str, int],
    shown_off: tuple[str, int],
    supernoded_wires: MemoryWires,
    supernoded_clock: ManualClock,
    tmp_path: Path,
) -> None:
    scene = make_scene(kind, supernoded_wires, supernoded_clock, tmp_path)
    switch = scene.find("power.off")
    assert isinstance(switch, OutletSwitch)
    assert (await switch.observe(order("power.on"))).effect is Effect.PRESENT
    assert (await switch.observe(order("power.off"))).effect is Effect.ABSENT
    await switch.apply(order("outlet.off"))
    assert scene.table.orders == [(command, off)]
    assert (await switch.observe(order("power.off"))).effect is Effect.ABSENT  # sent is not seen
    scene.rows |= dict([shown_off])
    if kind != "apc-rpdu":
        assert (await switch.observe(order("power.off"))).effect is Effect.UNKNOWN  # by its word, but current flows
    watts = (f"{APC2}.9.4.3.1.7.7", f"{PX2}.5.4.3.1.4.1.7.5")
    amperes = (f"{APC2}.9.4.3.1.6.7", f"{PX2}.5.4.3.1.4.1.7.1", f"{SENTRY}.2.3.1.7.1.1.7")
    scene.rows |= {name: 0 for name in (*watts, *amperes) if name in scene.rows}
    assert (await switch.observe(order("power.off"))).effect is Effect.PRESENT
    await switch.apply(order("outlet.on"))
    assert scene.table.orders[1:] == [(command, on)]
    assert (await switch.observe(order("outlet.on"))).effect is Effect.ABSENT
    scene.rows |= dict([shown_on])
    sight = await switch.observe(order("outlet.on"))
    assert sight.effect is (Effect.PRESENT if kind == "apc-rpdu" else Effect.UNKNOWN)  # on, and nothing flows yet
    assert kind != "apc-rpdu" or "does not meter" in sight.text


def test_nothing_sheds_over_snmp_as_no_pdu_would_close_its_outlets_again_by_itself(
    supernoded_wires: MemoryWires, supernoded_clock: ManualClock, tmp_path: Path
) -> None:
    scene = make_scene("apc-rpdu2", supernoded_wires, supernoded_clock, tmp_path)
    assert [actuator.kinds for actuator in scene.actuators] == [SWITCH_KINDS]
    assert "power.shed" not in SWITCH_KINDS


@pytest.mark.parametrize(
    ("more", "told"),
    [("&serial=S2", ""), ("&serial=S9", "serial number 'S2', not 'S9'; nothing was written")],
)
async def test_the_serial_number_is_seen_before_the_first_order(
    more: str, told: str, supernoded_wires: MemoryWires, supernoded_clock: ManualClock, tmp_path: Path
) -> None:
    scene = make_scene("apc-rpdu2", supernoded_wires, supernoded_clock, tmp_path, more)
    switch = scene.find("power.off")
    if told:
        with pytest.raises(WireError, match=told):
            await switch.apply(order("power.off"))
    else:
        await switch.apply(order("power.off"))
    assert len(scene.table.orders) == (0 if told else 1)


async def test_a_pdu_that_was_exchanged_between_two_orders_gets_none(
    supernoded_wires: MemoryWires, supernoded_clock: ManualClock, tmp_path: Path
) -> None:
    scene = make_scene("apc-rpdu2", supernoded_wires, supernoded_clock, tmp_path, "&serial=S2")
    switch = scene.find("power.off")
    await switch.apply(order("power.off"))
    (name,) = (name for name, row in scene.rows.items() if row == "S2")
    scene.rows[name] = "S9"  # nobody asked it in between, so that its absence was not seen
    await supernoded_clock.advance(PROVEN_S + 1.0)
    with pytest.raises(WireError, match="serial number 'S9', not 'S2'; nothing was written"):
        await switch.apply(order("power.off"))
    assert len(scene.table.orders) == 1


async def test_without_a_community_to_write_nothing_is_written(
    supernoded_wires: MemoryWires, supernoded_clock: ManualClock, tmp_path: Path
) -> None:
    node = make_node(supernoded_wires, supernoded_clock, tmp_path, pdu="snmp://10.0.0.5")
    scene = Scene(dict(RPDU2), supernoded_wires, node)
    with pytest.raises(WireError, match="set write_community_file"):
        await scene.find("power.off").apply(order("power.off"))
    assert scene.table.orders == []


async def test_a_wrong_community_is_said_without_being_shown(
    supernoded_wires: MemoryWires, supernoded_clock: ManualClock, tmp_path: Path
) -> None:
    scene = make_scene("apc-rpdu2", supernoded_wires, supernoded_clock, tmp_path)
    supernoded_wires.tree("/run/snmp").files["write"] = "hunter2"
    with pytest.raises(WireError, match="no answer that fits") as caught:
        await scene.find("power.off").apply(order("power.off"))
    assert "hunter2" not in str(caught.value)
    del supernoded_wires.tree("/run/snmp").files["write"]
    with pytest.raises(WireError, match="/run/snmp/write"):
        await scene.find("power.off").apply(order("power.off"))


def test_a_second_view_reads_and_orders_only_when_it_is_told_to(
    supernoded_wires: MemoryWires, supernoded_clock: ManualClock, tmp_path: Path
) -> None:
    node = make_node(supernoded_wires, supernoded_clock, tmp_path, ups="nut://h/a", pdu="modbus://h?unit=1")
    view = {"url": "snmp://10.0.0.5", "orders": False}
    settings = msgspec.convert({"devices": {"pdu/A1": view, "ups/A": view}}, SnmpSettings)
    assert [sensor.name for sensor in supernoded_snmp.supernoded_sensors(settings, node)] == ["snmp.pdu/A1", "snmp.ups/A"]
    assert supernoded_snmp.supernoded_actuators(settings, node) == []
    settings = msgspec.convert({"devices": {"pdu/A1": view | {"orders": True}}}, SnmpSettings)
    assert len(supernoded_snmp.supernoded_actuators(settings, node)) == 1
    for subject in ("pdu/B9", "n0"):
        with pytest.raises(PluginError, match="the topology has ups/A, pdu/A1"):
            supernoded_snmp.supernoded_sensors(msgspec.convert({"devices": {subject: view}}, SnmpSettings), node)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_profile_by_its_name(kind: str, supernoded_wires: MemoryWires, supernoded_clock: ManualClock, tmp_path: Path) -> None:
    scene = make_scene(kind, supernoded_wires, supernoded_clock, tmp_path, f"&profile={kind}")
    del scene.rows["1.3.6.1.2.1.1.2.0"]
    assert (await scene.read())["outlet1", "outlet.state"] == "on"
    other = make_scene(kind, supernoded_wires, supernoded_clock, tmp_path, "&profile=rfc1628")
    with pytest.raises(WireError, match="there is no profile 'rfc1628'; there are apc-rpdu2, apc-rpdu, raritan-px2, sentry3"):
        await other.sensor.read()


@pytest.mark.parametrize("kind", KINDS)
async def test_a_profile_by_what_only_it_has(
    kind: str, supernoded_wires: MemoryWires, supernoded_clock: ManualClock, tmp_path: Path
) -> None:
    scene = make_scene(kind, supernoded_wires, supernoded_clock, tmp_path)
    scene.rows["1.3.6.1.2.1.1.2.0"] = oid("1.3.6.1.4.1.8072.3.2.10")  # an agent on Linux, which says nothing of the device
    assert (await scene.read())["outlet1", "outlet.state"] == "on"


def test_a_profile_of_the_site(supernoded_wires: MemoryWires, supernoded_clock: ManualClock, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    settings = SnmpSettings(profiles=(str(file),))
    node = make_node(supernoded_wires, supernoded_clock, tmp_path, pdu="snmp://10.0.0.5?profile=mine")
    with pytest.raises(PluginError, match="No such file"):
        supernoded_snmp.supernoded_sensors(settings, node)
    column = '[[columns]]\noid = "1.3.9"\nindex = "outlet"\nsubject = "outlet{outlet}"\nquantity = "outlet.power"\nunit = "W"\n'
    file.write_text(f'name = "mine"\ntext = "t"\nsource = "s"\nof = "pdu"\n{column}')
    assert len(supernoded_snmp.supernoded_sensors(settings, node)) == 1
    for bad, told in (("subject", "sujet"), ("outlet{outlet}", "outlet{row}"), ("1.3.9", "1.3.x")):
        with pytest.raises(PluginError, match=r"mine\.toml"):
            parse_profile("mine.toml", file.read_bytes().replace(bad.encode(), told.encode(), 1))


@pytest.mark.parametrize("profile", load_built_in(), ids=lambda profile: profile.name)
def test_ours_speak_the_common_vocabulary(profile: Profile) -> None:
    for column in profile.columns:
        name = column.quantity.replace("{phase}", "1") if column.phases else column.quantity.removesuffix(".L{phase}")
        if not name.startswith("x."):
            assert VOCABULARY[name].unit == column.unit, name
            assert set(column.words.values()) <= (VOCABULARY[name].words or set(column.words.values())), name
    assert (profile.command is None) == (profile.of == "ups")
