"""Both of APC's trees over a panel."""

import math

import pytest

from sim_hardware.devices.snmp import SnmpServer, make_pdu_agent
from sim_hardware.devices.snmp.mib import Status
from sim_hardware.devices.snmp.outlets import RELAY_S
from sim_hardware.plant.power.orders import CycleOutlet, SwitchOutlet
from sim_hardware.plant.words import Order, OrderError, Value
from tests.sim.devices.panels import FakePanel
from tests.sim.devices.snmp.requests import RPDU, RPDU2, ask, read, write

OLD_STATE, OLD_COMMAND, OLD_PENDING = f"{RPDU}.3.5.1.1.4.1", f"{RPDU}.3.3.1.1.4.1", f"{RPDU}.3.5.1.1.5.1"
NEW_STATE, NEW_COMMAND, NEW_PENDING = f"{RPDU2}.9.2.3.1.5.1", f"{RPDU2}.9.2.4.1.5.1", f"{RPDU2}.9.2.3.1.6.1"


class Strip(FakePanel):
    """Its outlets switch at once."""

    def order(self, order: Order) -> None:
        super().order(order)
        if isinstance(order, SwitchOutlet):
            self.values[f"pdu/{order.pdu}/outlet{order.outlet}", "outlet.state"] = "on" if order.on else "off"


def strip(seed: int = 0, **outlet: Value) -> tuple[SnmpServer, Strip]:
    plant = Strip()
    pdu = {"voltage": 229.6, "power": 5321.0, "current.L1": 7.77, "current.L2": 25.0, "current.L3": 33.0}
    outlet = {"state": "on", "power": 4000.0, "current": 17.4, **outlet}
    plant.values |= {("pdu/A1", f"pdu.{quantity}"): value for quantity, value in pdu.items()}
    plant.values |= {("pdu/A1/outlet1", f"outlet.{quantity}"): value for quantity, value in outlet.items()}
    return make_pdu_agent(plant, "A1", seed=seed), plant


def test_a_pdu_in_good_order() -> None:
    agent = strip()[0].agent
    assert [read(agent, f"{RPDU}.1.{column}.0") for column in (1, 8, 15, 16)] == [b"pdu-A1", 4, 230, 5321]
    assert [read(agent, f"{RPDU}.2.3.1.1.{column}.{phase}") for column in (2, 3) for phase in (1, 2, 3)] == [78, 250, 330, 1, 3, 4]
    assert [read(agent, f"{RPDU2}.6.3.1.{column}.{phase}") for column in (4, 5) for phase in (1, 2, 3)] == [2, 3, 4, 78, 250, 330]
    assert [read(agent, f"{RPDU2}.6.3.1.7.1"), read(agent, f"{RPDU2}.4.3.1.5.1"), read(agent, f"{RPDU2}.4.3.1.4.1")] == [178, 532, 4]
    assert [read(agent, f"{RPDU2}.9.4.3.1.{column}.1") for column in (5, 6, 7)] == [2, 174, 4000]
    assert read(agent, f"{RPDU}.3.3.1.1.2.2") == b"n0/fan*"


def test_the_two_trees_number_states_and_commands_in_opposite_ways() -> None:
    on, off = strip()[0].agent, strip(state="off")[0].agent
    assert [read(on, oid) for oid in (OLD_STATE, OLD_COMMAND, NEW_STATE, NEW_COMMAND)] == [1, 1, 2, 1]
    assert [read(off, oid) for oid in (OLD_STATE, OLD_COMMAND, NEW_STATE, NEW_COMMAND)] == [2, 2, 1, 2]


@pytest.mark.parametrize("bad", [None, math.nan, "?", 1.0])
def test_an_outlet_that_nobody_knows(bad: Value) -> None:
    agent = strip(state=bad, current=bad)[0].agent
    assert [read(agent, oid) for oid in (OLD_STATE, NEW_STATE, NEW_COMMAND)] == ["NoSuchInstance", "NoSuchInstance", 4]


@pytest.mark.parametrize(("command", "state", "pending"), [(OLD_COMMAND, OLD_STATE, OLD_PENDING), (NEW_COMMAND, NEW_STATE, NEW_PENDING)])
def test_a_set_shows_after_two_seconds(command: str, state: str, pending: str) -> None:
    took = []
    for seed in range(8):
        server, plant = strip(seed)
        before = read(server.agent, state)
        assert (write(server.agent, command, 2), plant.orders) == (0, [SwitchOutlet(pdu="A1", outlet=1, on=False, delay_s=RELAY_S)])
        while read(server.agent, state) == before:
            assert read(server.agent, pending) == 1
            plant.time += 0.04
        took.append(plant.time)
        assert read(server.agent, pending) == 2
    assert (min(took) >= 1.5, max(took) <= 2.54, max(took) - min(took) > 0.3) == (True, True, True)


@pytest.mark.parametrize(("command", "on", "off", "reboot", "cancel"), [(OLD_COMMAND, 4, 5, 6, 7), (NEW_COMMAND, 5, 6, 7, 8)])
def test_delayed_commands_wait_in_the_card(command: str, on: int, off: int, reboot: int, cancel: int) -> None:
    server, plant = strip()
    for column, seconds in ((4, 10), (5, 20), (6, 7)):
        assert write(server.agent, f"{RPDU}.3.4.1.1.{column}.1", seconds) == 0
    assert read(server.agent, f"{RPDU2}.9.2.1.1.7.1") == 7
    assert [write(server.agent, command, off), read(server.agent, NEW_PENDING)] == [0, 1]
    plant.time = 19.9
    server._timed.run()
    assert plant.orders == []
    plant.time = 20.0
    server._timed.run()
    assert plant.orders == [SwitchOutlet(pdu="A1", outlet=1, on=False, delay_s=RELAY_S)]
    assert [write(server.agent, command, value) for value in (on, cancel)] == [0, 0]
    assert server._timed.due == math.inf
    assert write(server.agent, command, reboot) == 0
    plant.time = 40.0
    server._timed.run()
    assert write(server.agent, command, 3) == 0
    assert plant.orders[1:] == [CycleOutlet(pdu="A1", outlet=1, off_s=7.0)] * 2


def test_what_is_no_command() -> None:
    agent = strip()[0].agent
    for oid, value in ((OLD_COMMAND, 0), (OLD_COMMAND, 8), (NEW_COMMAND, 4), (NEW_COMMAND, 9)):
        assert write(agent, oid, value) == Status.WRONG_VALUE
    assert write(agent, OLD_STATE, 1) == Status.NOT_WRITABLE
    assert write(agent, f"{RPDU}.3.3.1.1.4.9", 1) == Status.NO_CREATION
    assert ask(agent, "set", (OLD_COMMAND, 9), version=0).status == Status.BAD_VALUE


def test_orders_that_are_acknowledged_and_not_done() -> None:
    server, plant = strip()
    server.impairment.idle_orders = True
    assert (write(server.agent, OLD_COMMAND, 2), plant.orders) == (0, [])
    plant.time = 3.0
    assert read(server.agent, OLD_STATE) == 1


class Locked(FakePanel):
    def order(self, order: Order) -> None:
        raise OrderError("outlet 1 is locked out")


def test_an_order_that_the_plant_refuses_is_a_failed_commit_at_once_and_silent_later() -> None:
    plant = Locked(values={("pdu/A1/outlet1", "outlet.state"): "off"})
    server = make_pdu_agent(plant, "A1")
    assert write(server.agent, NEW_COMMAND, 1) == Status.COMMIT_FAILED
    assert ask(server.agent, "set", (NEW_COMMAND, 1), version=0).status == Status.GENERAL
    assert (write(server.agent, NEW_COMMAND, 5), read(server.agent, NEW_STATE)) == (0, 1)
    server._timed.run()
    assert (server._timed.due, read(server.agent, NEW_STATE)) == (math.inf, 1)


def test_the_rating_is_that_of_the_breaker_behind_it() -> None:
    """So that one feed that carries everything is no overload, as no breaker opens either."""
    server, plant = strip()
    assert read(server.agent, f"{RPDU}.1.7.0") == 32
    plant.values["pdu/A1", "pdu.rated_current"] = 62.4
    assert read(server.agent, f"{RPDU}.1.7.0") == 62
    assert [read(server.agent, f"{RPDU}.2.3.1.1.3.{phase}") for phase in (1, 2, 3)] == [1, 1, 1]
    assert read(server.agent, f"{RPDU2}.4.3.1.4.1") == 2
    plant.values["pdu/A1", "pdu.current.L3"] = 50.0
    assert (read(server.agent, f"{RPDU}.2.3.1.1.3.3"), read(server.agent, f"{RPDU2}.6.3.1.4.3")) == (3, 3)
