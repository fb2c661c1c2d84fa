"""What the sensors give of a simulated site, beside what is so in its plant."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest

import supernoded_modbus
from sim_hardware.bus import LineFaults
from sim_hardware.plant.power.orders import ArmShed, FireShed, LockOutlet, SwitchOutlet
from sim_hardware.plant.words import UnknownSensorError
from sim_hardware.rack import Rack
from sim_hardware.rack.shape import Pdu
from supernoded.model import State
from supernoded.plugin import PluginError, WireError
from supernoded.quantities import find_fault
from supernoded.registry import Found, collect
from supernoded_modbus.settings import ModbusSettings, ViewSettings
from supernoded_modbus.site import find_site
from tests.plugins.modbus.benches import Bench, open_bench, run

DCD = Path(supernoded_modbus.__file__).parent / "maps" / "dcd.toml"
OTHER_NAMES = {"pdu.shed_delay": "pdu.shed_delay_ms"}
STEPS = {"W": 0.51, "VA": 0.51, "s": 0.51, "rpm": 1.01}  # what the steps of a unit may differ by, beside 1 % of the value; else 0.06
COARSE = {"coolant.heat": 50.1}


def test_every_quantity_is_what_the_plant_says(tmp_path: Path) -> None:
    async def story() -> int:
        async with open_bench(tmp_path) as bench:
            await asyncio.sleep(5.0)
            return sum([await compare(bench, name) for name in bench.sensors if not name.startswith("modbus.line/")])

    assert run(story) > 100


@pytest.mark.parametrize("cdu", ["dcd", "plc"])
def test_every_quantity_of_a_cdu_over_tcp(tmp_path: Path, cdu: str) -> None:
    async def story() -> int:
        async with open_bench(tmp_path, cdu=cdu) as bench:
            await asyncio.sleep(5.0)
            return sum([await compare(bench, name) for name in bench.sensors if name.startswith("modbus.cdu/0")])

    assert run(story) >= 7


def test_another_word_order_gives_no_value(tmp_path: Path) -> None:
    """The map of a CDU, but for the order of its words: nothing of it is plausible, and nothing would be written."""

    async def story() -> None:
        (tmp_path / "dcd.toml").write_text(DCD.read_text().replace('order = "cdab"', 'order = "abcd"'))
        async with open_bench(tmp_path, cdu="dcd", settings=ModbusSettings(maps_folder=str(tmp_path))) as bench:
            seen = await bench.read("modbus.cdu/0.1s")
            for quantity in ("coolant.supply_temperature", "coolant.return_temperature"):
                assert "is outside 1 to 90" in seen["cdu/0", quantity].note
            _, unit = find_site(bench.settings, bench.node).units["cdu/0"]
            with pytest.raises(WireError, match="is the register map right"):
                await unit.prove()

    run(story)


async def compare(bench: Bench, name: str) -> int:
    compared = 0
    for (subject, quantity), reading in (await bench.read(name)).items():
        assert reading.state is not State.GOOD or find_fault(reading) is None, reading
        try:
            truth = bench.truth(subject, OTHER_NAMES.get(quantity, quantity))
        except UnknownSensorError:
            continue
        value = frozenset(flag.lower() for flag in truth) if isinstance(truth, frozenset) else truth
        compared += 1
        if isinstance(value, float):
            assert reading.value == pytest.approx(value, rel=0.01, abs=COARSE.get(quantity, STEPS.get(reading.unit, 0.06))), reading
        elif quantity.endswith(".model"):
            assert str(value).startswith(str(reading.value)), reading
        else:
            assert reading.value == value, reading
    return compared


def test_the_pdu_tells_its_firing(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_bench(tmp_path) as bench:
            await asyncio.sleep(3.0)
            before = await bench.read("modbus.pdu/A1.2s")
            assert before["pdu/A1", "pdu.event_age"].state is State.UNKNOWN
            bench.world.order(ArmShed(pdu="pdu/A1", outlets=(2,), restore_s=8.0, lease_s=120.0))
            bench.world.order(FireShed(pdu="pdu/A1"))
            await asyncio.sleep(5.0)
            after = await bench.read("modbus.pdu/A1.2s")
            assert after["pdu/A1", "pdu.event"].value == "fired"
            assert after["pdu/A1", "pdu.event_age"].value == pytest.approx(5.0, abs=0.1)
            assert after["pdu/A1", "pdu.opened"].value == frozenset({"2"})
            assert (await bench.read("modbus.pdu/A1.5s"))["pdu/A1/outlet2", "outlet.state"].value == "off"

    run(story)


def test_locks_and_sheddable_outlets_are_told(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_bench(tmp_path) as bench:
            bench.world.order(SwitchOutlet(pdu="pdu/A1", outlet=3, on=False))
            bench.world.order(LockOutlet(pdu="pdu/A1", outlet=3, locked=True))
            await asyncio.sleep(1.0)
            seen = await bench.read("modbus.pdu/A1.10s")
            assert seen["pdu/A1/outlet3", "outlet.locked"].value == 1.0
            assert seen["pdu/A1", "pdu.sheddable"].value == frozenset({"2"})

    run(story)


def test_a_silent_unit_costs_its_own_readings_and_one_time_out(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_bench(tmp_path) as bench:
            bench.feed.faults = LineFaults(silent=frozenset({1}))
            silent, well = await bench.read("modbus.pdu/A1.2s"), await bench.read("modbus.pdu/A2.2s")
            assert {one.state for one in silent.values()} == {State.UNKNOWN}
            assert silent.keys() == {("pdu/A1", quantity) for _, quantity in well}
            assert all("no answer" in one.note for one in silent.values())
            counts = await bench.read("modbus.line/feed-A")
            assert counts["pdu/A1", "line.timeouts"].value == 1.0
            assert counts["line/feed-A", "line.timeouts"].value == 1.0
            assert counts["pdu/A2", "line.timeouts"].value == 0.0
            assert well["pdu/A2", "pdu.event"].value == "none"

    run(story)


def test_a_stuck_driver_makes_the_line_lost_and_all_unknown(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_bench(tmp_path) as bench:
            bench.feed.faults = LineFaults(stuck="babble")
            for _ in range(3):
                seen = [await bench.read(f"modbus.{name}") for name in ("ups/A.1s", "pdu/A1.2s", "pdu/A2.2s")]
            assert {one.state for readings in seen for one in readings.values()} == {State.UNKNOWN}
            line = await bench.read("modbus.line/feed-A")
            assert line["line/feed-A", "line.state"].value == "lost"
            bench.feed.faults = LineFaults()
            await asyncio.sleep(2.0)
            assert (await bench.read("modbus.ups/A.1s"))["ups/A", "ups.status"].value is not None
            assert (await bench.read("modbus.line/feed-A"))["line/feed-A", "line.state"].value == "ok"

    run(story)


def test_exchanged_devices_are_told_by_their_serial_numbers(tmp_path: Path) -> None:
    """Whoever swaps two unit numbers gets no values of the other PDU under this one's name."""

    def swap(rack: Rack) -> Rack:
        one, other, third = rack.pdus
        return msgspec.structs.replace(rack, pdus=(_number(one, other.wire), _number(other, one.wire), third))

    def _number(pdu: Pdu, wire: str) -> Pdu:
        unit = wire.partition("unit=")[2].partition("&")[0]
        before, _, rest = pdu.wire.partition("unit=")
        return msgspec.structs.replace(pdu, wire=f"{before}unit={unit}&{rest.partition('&')[2]}")

    async def story() -> None:
        async with open_bench(tmp_path, change=swap) as bench:
            for subject in ("pdu/A1", "pdu/A2"):
                seen = await bench.read(f"modbus.{subject}.2s")
                assert {one.state for one in seen.values()} == {State.UNKNOWN}
                assert "its serial number is" in seen[subject, "pdu.event"].note
                assert (await bench.read("modbus.line/feed-A"))[subject, "line.state"].value == "refused"

    run(story)


def test_sensors_belong_to_who_holds_the_feed_or_the_loop(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_bench(tmp_path) as bench:
            scopes = {name: one.scope for name, one in bench.sensors.items()}
            assert scopes["modbus.ups/A.1s"] == scopes["modbus.pdu/A2.2s"] == scopes["modbus.line/feed-A"] == "feed/A"
            assert scopes["modbus.pdu/B1.10s"] == "feed/B"
            assert scopes["modbus.cdu/0.1s"] == "cdu/0"
            assert bench.feed.record.counts["bytes"] == 0  # nothing is opened or said before it is asked

    run(story)


def test_a_second_view_reads_and_takes_no_orders(tmp_path: Path) -> None:
    def unwire(rack: Rack) -> Rack:
        return msgspec.structs.replace(rack, pdus=tuple(msgspec.structs.replace(one, wire="") for one in rack.pdus))

    async def story(orders: bool) -> set[str]:
        wire = "serial:///bus/feed-A?baud=115200&unit=1&map=pdu"
        settings = ModbusSettings(views={"second": ViewSettings(subject="pdu/A1", wire=wire, orders=orders)}, serials={"pdu/A1": "P00000"})
        async with open_bench(tmp_path, change=unwire, settings=settings) as bench:
            assert (await bench.read("modbus.pdu/A1.second.2s"))["pdu/A1", "pdu.voltage"].value == 230.0
            targets = {target for one in bench.actuators for target in one.targets} | set(bench.handles)
            return {target for target in targets if target.startswith("pdu/")}

    assert run(lambda: story(False)) == set()
    assert run(lambda: story(True)) >= {"pdu/A1", "pdu/A1/outlet1", "pdu/A1/shed"}


def test_all_hooks_share_the_one_owner_of_a_line_and_two_daemons_do_not(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_bench(tmp_path) as bench, open_bench(tmp_path) as other:
            site = find_site(bench.settings, bench.node)
            assert find_site(bench.settings, bench.node) is site
            assert find_site(other.settings, other.node) is not site
            assert len({id(unit.bus) for _, unit in site.units.values()}) == len(site.buses) == 3
            assert find_site(ModbusSettings(line_s=9.0), bench.node) is not site  # the settings were read anew

    run(story)


def test_two_ways_for_orders_are_refused(tmp_path: Path) -> None:
    async def story() -> None:
        settings = ModbusSettings(views={"second": ViewSettings(subject="pdu/A1", wire="modbus://10.0.0.7?map=pdu", orders=True)})
        with pytest.raises(WireError, match="two wires for its orders"):
            async with open_bench(tmp_path, settings=settings):
                pytest.fail("it was taken")

    run(story)


def test_the_registry_takes_its_parts(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_bench(tmp_path) as bench:
            parts = collect([Found(name="modbus", plugin=supernoded_modbus)], {}, lambda name: bench.node)
            assert [one.trouble for one in parts.plugins] == [""]
            assert sorted(parts.handles) == ["cdu/0/pressure", "cdu/0/setpoint", "pdu/A1/shed", "pdu/A2/shed", "pdu/B1/shed"]
            for kind, target in (
                ("power.shed", "pdu/A1"),
                ("power.restore", "pdu/B1"),
                ("power.off", "pdu/A1/outlet1"),
                ("outlet.on", "pdu/B1/outlet4"),
                ("coolant.flow", "cdu/0"),
                ("coolant.close", "n0"),
                ("coolant.open", "n0"),
            ):
                assert parts.actuator_for(kind, target) is not None, kind
            assert parts.actuator_for("power.off", "pdu/A1/outlet9") is None

    run(story)


@pytest.mark.parametrize(
    ("wire", "reason"),
    [
        ("serial:///bus/feed-A?unit=300", "unit 300"),
        ("serial:///bus/feed-A?unit=x", "invalid literal"),
        ("serial:///bus/feed-A?map=acme", "no register map acme"),
        ("serial:///bus/feed-A?baud=115200&unit=247", "are both unit 247"),
        ("modbus://h:99999?map=rpu", "write serial:///dev"),
        ("modbus://h?framing=ascii", "framing"),
    ],
)
def test_a_wire_that_cannot_be_is_refused_by_name(tmp_path: Path, wire: str, reason: str) -> None:
    def change(rack: Rack) -> Rack:
        return msgspec.structs.replace(rack, pdus=(msgspec.structs.replace(rack.pdus[0], wire=wire), *rack.pdus[1:]))

    async def story() -> None:
        with pytest.raises((WireError, PluginError), match=reason):
            async with open_bench(tmp_path, change=change):
                pytest.fail("it was taken")

    run(story)
