"""The catalogue as a table: names, parameters, targets; and that beginning and ending are safe."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any, get_type_hints

import msgspec
import pytest
from msgspec import inspect

from sim_hardware.faults.catalogue import _ROOMS, CATALOGUE
from sim_hardware.faults.kind import FaultError, Kind, Parameters
from sim_hardware.faults.targets import FAMILIES, list_targets
from sim_hardware.rig import Rig
from tests.sim.faults.cases import CASES, make_rig, run, served

# Every device row of the chaos table, and the scenarios of power, cooling and wires beside it.
WANTED = (
    "link.ber_ramp",
    "link.flap",
    "link.down",
    "link.switched_off",
    "link.optics_unplug",
    "link.loose",
    "link.bend",
    "link.attenuate",
    "link.laser_aging",
    "link.lane_loss",
    "ring.cable_swap",
    "ring.split",
    "ring.port_swap",
    "hop.slow",
    "switch.congestion",
    "switch.pfc",
    "switch.ecn",
    "card.ecc_storm",
    "card.hang",
    "card.fell_off_bus",
    "card.straggler",
    "card.code",
    "card.power_brake",
    "card.memory_leak",
    "card.swap",
    "thermal.hot_spot",
    "die_sensor.stuck",
    "fan.stop",
    "flow.blocked",
    "cdu.pump_fail",
    "cdu.run_signal_missing",
    "cdu.valve_stuck",
    "cdu.leak",
    "cdu.primary_lost",
    "cdu.primary_shift",
    "cdu.fouling",
    "cdu.low_level",
    "cdu.air",
    "cdu.two_masters",
    "room.humid",
    "cdu.valve_feedback_frozen",
    "cdu.sensor_alarm",
    "sensor.freeze",
    "sensor.nan",
    "sensor.absent",
    "sensor.drift",
    "sensor.unit_slip",
    "sensor.swap",
    "sensor.late",
    "power.input_sag",
    "power.epo",
    "power.breaker_trip",
    "power.cords_swapped",
    "generator.fail",
    "ups.battery_dead",
    "ups.battery_low",
    "ups.inverter_fail",
    "ups.static_switch_fail",
    "ups.earth_fault",
    "ups.charger_fail",
    "ups.runtime_lie",
    "ups.flag_stuck",
    "ups.calibration",
    "ups.selftest",
    "ups.eco",
    "ups.bypass",
    "ups.phase_load",
    "outlet.locked",
    "outlet.open",
    "pdu.silent",
    "pdu.ack_no_action",
    "pdu.garbled",
    "line.echo",
    "line.drop",
    "line.flip",
    "line.split",
    "line.duplicate",
    "line.late",
    "line.silence",
    "line.wrong_unit",
    "line.twins",
    "line.stuck",
    "line.usb",
    "line.no_crc",
    "device.silent",
    "device.refusing",
    "device.slow",
    "device.garbled",
    "device.stale",
    "device.idle_orders",
    "tool.hang",
    "tool.fails",
    "tool.garbage",
    "tool.slow",
    "pool.hot_block",
    "pool.worn_block",
    "pool.unmounted",
    "pool.not_atomic",
    "job.rank_silent",
    "job.save_hangs",
    "job.save_fails",
    "job.starved",
    "comm.buffer_small",
    "bmc.monitor_off",
    "daemon.killed",
    "vault.killed",
    "storage.full",
    "broker.lost",
    "broker.stale",
    "database.lost",
    "daemon.paused",
    "node.twin",
    "node.dead",
    "node.clock",
    "host.hog",
    "net.partition",
    "slurm.drained",
)

PARAMETERS = [(name, field) for name, kind in CATALOGUE.items() for field in msgspec.structs.fields(kind.parameters)]
TEXTS = ("text", "flag")
RACK = make_rig(lambda: 0.0, "rack-4x8")  # nothing is done to it


def read_bounds(kind: Kind[Any], field: str) -> tuple[float, float] | None:
    """Least and greatest of a number; None for what is none."""
    struct = inspect.type_info(kind.parameters)
    assert isinstance(struct, inspect.StructType)
    inner: inspect.Type = next(one.type for one in struct.fields if one.name == field)
    while isinstance(inner, inspect.Metadata):
        inner = inner.type
    if isinstance(inner, inspect.UnionType):
        inner = next(one for one in inner.types if not isinstance(one, inspect.NoneType))
    if not isinstance(inner, inspect.IntType | inspect.FloatType):
        return None
    assert inner.ge is not None, field
    assert inner.le is not None, field
    return inner.ge, inner.le


def read_choices(kind: Kind[Any], field: str) -> tuple[object, ...]:
    """The words of a field that takes one of several; both flags of one that is a flag."""
    struct = inspect.type_info(kind.parameters)
    assert isinstance(struct, inspect.StructType)
    inner: inspect.Type = next(one.type for one in struct.fields if one.name == field)
    while isinstance(inner, inspect.Metadata):
        inner = inner.type
    if isinstance(inner, inspect.LiteralType):
        return tuple(inner.values)
    return (True, False) if isinstance(inner, inspect.BoolType) else ()


def test_every_wanted_kind_is_there_once_and_has_a_case() -> None:
    names = [kind.kind for room in _ROOMS for kind in room.KINDS]
    assert sorted(names) == sorted(set(names))
    assert set(WANTED) == set(CATALOGUE) == set(CASES)


@pytest.mark.parametrize("name", CATALOGUE)
def test_describes_itself(name: str) -> None:
    kind = CATALOGUE[name]
    assert kind.text[0].isupper()
    assert kind.text.endswith(".")
    assert kind.targets
    assert set(kind.targets) <= set(FAMILIES)
    assert set(kind.layers) == {"sim", "bench", "live"}
    assert issubclass(kind.parameters, Parameters)
    assert kind.shows_within <= 60.0
    assert kind.parameters.__doc__


@pytest.mark.parametrize(("name", "field"), PARAMETERS, ids=lambda one: getattr(one, "name", one))
def test_parameter_has_meaning_unit_default_and_range(name: str, field: Any) -> None:
    kind = CATALOGUE[name]
    (meta,) = get_type_hints(kind.parameters, include_extras=True)[field.name].__metadata__
    assert meta.description
    assert meta.extra["unit"]
    assert field.default is not msgspec.NODEFAULT
    bounds = read_bounds(kind, field.name)
    if bounds is None:
        assert meta.extra["unit"] in TEXTS
        return
    for value in (bounds[0] - 1, bounds[1] + 1):
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert({field.name: value}, kind.parameters)


@pytest.mark.parametrize("name", CATALOGUE)
def test_defaults_are_valid_and_strange_keys_are_not(name: str) -> None:
    parameters = CATALOGUE[name].parameters
    assert msgspec.convert(msgspec.to_builtins(parameters()), parameters) == parameters()
    with pytest.raises(msgspec.ValidationError, match="strange"):
        msgspec.convert({"strange": 1}, parameters)


def list_extremes(kind: Kind[Any]) -> Iterator[Parameters]:
    """Each parameter at each end of its range, and each of its words."""
    for field in msgspec.structs.fields(kind.parameters):
        for value in (*(read_bounds(kind, field.name) or ()), *read_choices(kind, field.name)):
            yield msgspec.convert({field.name: value}, kind.parameters)


@pytest.mark.parametrize("name", CATALOGUE)
def test_begins_and_ends_at_every_extreme(name: str) -> None:
    """One after the other without an end between, and in the end twice; then the plant goes on."""
    kind, target = CATALOGUE[name], CASES[name].target

    async def main() -> None:
        async with served() as rig:
            await asyncio.sleep(1.0)
            kind.end(rig, target, kind.parameters())
            for parameters in (kind.parameters(), *list_extremes(kind)):
                kind.begin(rig, target, parameters)
                await asyncio.sleep(0.1)
            kind.end(rig, target, kind.parameters())
            kind.end(rig, target, kind.parameters())
            await asyncio.sleep(2.0)
            assert rig.world.site.at >= 3.0

    run(main())


@pytest.mark.parametrize("family", FAMILIES)
def test_family_has_members_in_a_rack(family: str) -> None:
    members = list_targets(RACK, family)
    assert members
    assert len(members) == len(set(members))


def test_every_target_of_its_families_is_taken() -> None:
    """A representative of each family of each kind; a hundred sensors beside."""
    for kind in CATALOGUE.values():
        for family in kind.targets:
            for target in list_targets(RACK, family)[:: 1 if family != "sensor" else 100][:100]:
                kind._check(RACK, target)


@pytest.mark.parametrize(
    ("name", "target", "said"),
    [
        ("ups.eco", "ups/a", "did you mean ups/A"),
        ("ups.eco", "n0", "there are ups/A, ups/B"),
        ("card.hang", "n0/card8", "did you mean n0/card"),
        ("cdu.leak", "cdu/9", "no such cdu or node"),
        ("sensor.nan", "cdu/0:coolant.flaw", "did you mean cdu/0:coolant.flow"),
        ("sensor.nan", "n0/card8:card.power", "did you mean n0/card"),
        ("line.echo", "/lines/feed-A", "line/feed-A"),
    ],
)
def test_wrong_target_is_named_with_what_there_is(name: str, target: str, said: str) -> None:
    kind = CATALOGUE[name]
    for act in (kind.begin, kind.end):
        with pytest.raises(FaultError, match=said) as error:
            act(RACK, target, kind.parameters())
        assert name in str(error.value)
        assert target in str(error.value)


def test_what_the_plant_refuses_is_said() -> None:
    """A ring over switches has no cables of its own."""
    kind = CATALOGUE["ring.split"]
    with pytest.raises(FaultError, match=r"ring\.split on ring/cluster: .*cables of their own"):
        kind.begin(RACK, "ring/cluster", kind.parameters())


def shape(rig: Rig) -> list[object]:
    """What the plant is, as far as the faults below touch it."""
    truths = [("ups/A", "ups.mode"), ("cdu/0", "coolant.level"), ("cdu/0", "air.dew_point"), ("cdu/0", "coolant.setpoint_asked")]
    truths += [("n0/card3", "card.serial"), ("n0/card3/port0", "link.neighbour"), ("switch/s1", "switch.ecn_threshold")]
    return [rig.world.truth(*one) for one in truths]


@pytest.mark.parametrize(
    "name", ["ups.eco", "ups.bypass", "cdu.low_level", "room.humid", "cdu.two_masters", "card.swap", "ring.cable_swap", "switch.ecn"]
)
def test_what_it_found_is_brought_back_also_after_two_begins(name: str) -> None:
    kind, target = CATALOGUE[name], CASES[name].target

    async def main() -> None:
        async with served() as rig:
            await asyncio.sleep(1.0)
            before = shape(rig)
            kind.begin(rig, target, kind.parameters())
            await asyncio.sleep(1.5)
            assert shape(rig) != before
            kind.begin(rig, target, kind.parameters())
            kind.end(rig, target, kind.parameters())
            assert shape(rig) == pytest.approx(before)

    run(main())
