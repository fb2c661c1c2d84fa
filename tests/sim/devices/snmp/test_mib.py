"""The tree by itself, and whole walks of both devices."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim_hardware.devices.snmp import Agent, Asn, Cell, Mib, Oid, SetError, Unknown, make_pdu_agent, make_ups_agent
from sim_hardware.devices.snmp.cells import Setting
from sim_hardware.devices.snmp.mib import Status
from sim_hardware.devices.snmp.words import number, text, ticks
from sim_hardware.plant.words import Value
from sim_hardware.rack import generate_rack
from tests.sim.devices.nut.values import GOOD
from tests.sim.devices.panels import FakePanel
from tests.sim.devices.snmp.requests import ask, encode

VALUES = st.none() | st.floats() | st.text(max_size=300) | st.frozensets(st.sampled_from(["OL", "OB", "LB", "RB", "ALARM", "?"]))
OUTLETS = ["outlet.state", "outlet.power", "outlet.current"]
PDU = ["pdu.voltage", "pdu.power", "pdu.current.L1", "pdu.current.L2", "pdu.model", "pdu.serial"]


def walk(agent: Agent) -> list[Oid]:
    """Every name."""
    seen: list[Oid] = [(0, 0)]
    while True:
        for oid, value in ask(agent, "bulk", (".".join(map(str, seen[-1])), None), repetitions=50).pairs:
            if value == "EndOfMibView":
                return seen[1:]
            assert oid > seen[-1]
            seen.append(oid)


@given(st.dictionaries(st.sampled_from(sorted(GOOD)), VALUES), st.sampled_from(["minus-one", "zero", "absent"]))
@settings(max_examples=30)
def test_a_walk_of_a_ups_goes_up_whatever_its_sensors_say(values: dict[str, Value], unknown: Unknown) -> None:
    plant = FakePanel(values={("ups/A", quantity): value for quantity, value in values.items()})
    assert len(walk(make_ups_agent(plant, "A", unknown=unknown).agent)) >= 30


@given(st.dictionaries(st.sampled_from(PDU), VALUES), st.dictionaries(st.sampled_from(OUTLETS), VALUES))
@settings(max_examples=15)
def test_a_walk_of_a_pdu_goes_up_whatever_its_sensors_say(values: dict[str, Value], outlet: dict[str, Value]) -> None:
    plant = FakePanel(values={("pdu/A1", quantity): value for quantity, value in values.items()})
    plant.values |= {("pdu/A1/outlet1", quantity): value for quantity, value in outlet.items()}
    assert len(walk(make_pdu_agent(plant, "A1").agent)) >= 60


OIDS = st.lists(st.integers(0, 5), min_size=2, max_size=4).map(tuple)


@given(st.dictionaries(OIDS, st.none() | st.integers(0, 9)), OIDS)
def test_next_is_the_smallest_that_is_there_and_greater(table: dict[Oid, int | None], oid: Oid) -> None:
    def cell(name: Oid, value: int | None) -> Cell:
        return Cell(name, lambda: None if value is None else number(value))

    mib = Mib([cell(*row) for row in table.items()])
    there = sorted((name, value) for name, value in table.items() if value is not None and name > oid)
    assert mib.next(oid) == ((there[0][0], number(there[0][1])) if there else None)
    value = table.get(oid)
    assert mib.get(oid) == (None if value is None else number(value))


def test_a_set_is_whole_or_not_at_all() -> None:
    one, two = Setting(number(1)), Setting(text("x"), most=3)
    mib = Mib([one.cell((1, 1)), two.cell((1, 2)), Cell((1, 3), lambda: number(3))])
    for bad, status in (
        (((1, 2), number(3)), Status.WRONG_TYPE),
        (((1, 2), text("long")), Status.WRONG_LENGTH),
        (((1, 1), number(-3)), Status.WRONG_VALUE),
        (((1, 3), number(4)), Status.NOT_WRITABLE),
        (((1, 4), number(4)), Status.NO_CREATION),
        (((2, 4), number(4)), Status.NO_ACCESS),
    ):
        with pytest.raises(SetError) as caught:
            mib.set([((1, 1), number(7)), bad])
        assert (caught.value.status, caught.value.index, one.whole) == (status, 2, 1)
    mib.set([((1, 1), number(7)), ((1, 2), text("abc"))])
    assert (one.whole, two.value) == (7, text("abc"))


def test_a_wrong_type_is_that_of_all_numbers_below_a_name() -> None:
    mib = Mib([Cell((1, 1), lambda: number(-1)), Cell((1, 2), lambda: text("x")), Cell((2, 1), lambda: number(5))])
    mib.mistyped[1,] = "ticks"
    assert [mib.get(oid) for oid in ((1, 1), (1, 2), (2, 1))] == [Asn("ticks", 0), text("x"), number(5)]


def test_numbers_stay_within_their_types() -> None:
    assert (number(2**40), number(-(2**40)), number(-1, "gauge")) == (Asn("integer", 2**31 - 1), Asn("integer", -(2**31)), Asn("gauge", 0))
    assert ticks(2**32 / 100 + 1.0) == Asn("ticks", 100)


def test_a_large_rack_has_all_its_outlets() -> None:
    plant = FakePanel(rack=generate_rack(8, 8))
    agent = make_pdu_agent(plant, "A1").agent
    assert len([oid for oid in walk(agent) if oid[:14] == (1, 3, 6, 1, 4, 1, 318, 1, 1, 26, 9, 2, 4, 1) and oid[14] == 5]) == len(
        plant.rack.pdus[0].outlets
    )
    assert len(agent.answer(encode("bulk", ("1.3", None), repetitions=100)) or b"") <= 1472
