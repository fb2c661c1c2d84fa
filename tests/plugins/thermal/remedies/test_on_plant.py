"""From the fault to cool dies: rules and remedy together, judged on what is true of the simulated loop."""

from __future__ import annotations

import msgspec
import pytest

from sim_hardware.plant import cooling
from sim_hardware.plant.cooling import orders
from sim_hardware.plant.words import Order
from supernoded.model import Severity, Step
from tests.plugins.thermal.coolant.bench import CDU, NAMES, make_site
from tests.plugins.thermal.coolant.plant import SLOTS, Hall
from tests.plugins.thermal.remedies.trouble import JOB, Trouble, make_incident

BREAKS = 105.0  # C of a die's hottest spot, on the plant
CARDS = [f"{name}/card{slot}" for name in NAMES for slot in range(SLOTS)]
IDLE_W, STOP_S = 90.0, 40.0


class Rescue:
    """A hall, its one incident of a kind, and orders that have the effect that they have."""

    def __init__(self, kind: str, watts: float = 600.0) -> None:
        self.hall, self.kind, self.steps = Hall(watts=watts), kind, list[Step]()
        loads = [{"number": number, "load": name} for number, name in enumerate(NAMES, 1)]
        nodes = [{"name": name, "cards": SLOTS, "loop": "cdu0"} for name in NAMES]
        site = make_site(nodes=nodes, pdus=[{"name": "A1", "feed": "A", "outlets": loads}])
        self.trouble = Trouble(kind, CDU, site=site)
        self.peak, self.stopped_at = 0.0, float("inf")

    def run(self, seconds: float) -> None:
        for _ in range(int(seconds)):
            self.hall.run(1.0)
            self.peak = max(self.peak, *(self.sense(card) for card in CARDS))
            verdict = self.hall.last.get((self.kind, CDU))
            if verdict is not None and (self.kind, CDU) in self.hall.now_raised:
                critical = Severity.CRITICAL if verdict.severity is Severity.CRITICAL else self.trouble.incident.severity
                opened = self.hall.raised[self.kind, CDU].at
                self.trouble.incident = msgspec.structs.replace(make_incident(self.kind, CDU, critical), opened=opened)
                self._act()

    def sense(self, card: str) -> float:
        value = cooling.sense(self.hall.state, card, "card.temperature")
        assert isinstance(value, float)
        return value

    def _act(self) -> None:
        self.trouble.now = self.hall.state.at
        if self.hall.state.at >= self.stopped_at:
            self.hall.watts = min(self.hall.watts, IDLE_W)
        if self.hall.state.at % 5.0 == 0.0:  # as other nodes tell it
            self.trouble.see({(card, "card.temperature"): round(self.sense(card), 1) for card in CARDS})
        self.trouble.see({(JOB, "job.state"): "running" if self.hall.state.at < self.stopped_at else "stopped"})
        for step in self.trouble.ask():
            self.steps.append(step)
            if step.kind == "power.cap" and step.amount is not None:
                self.hall.watts = min(self.hall.watts, step.amount)
            if step.kind == "job.stop":
                self.stopped_at = self.hall.state.at + STOP_S
            if step.kind in {"job.stop", "job.checkpoint"}:
                self.trouble.running.add(step.name)
            else:
                self.trouble.end([step])
        if sum(step.kind == "power.off" for step in self.steps) == len(NAMES):
            self.hall.watts = 0.0


@pytest.mark.parametrize(
    ("kind", "fault"),
    [
        ("coolant.pump", tuple(orders.FailPump(CDU, pump, failed=True) for pump in (0, 1))),
        ("coolant.primary", (orders.LosePrimary(CDU, lost=True),)),
        ("coolant.capacity", (orders.Foul(CDU, 0.9),)),
    ],
)
def test_no_card_breaks_and_no_order_is_out_of_its_place(kind: str, fault: tuple[Order, ...]) -> None:
    rescue = Rescue(kind)
    rescue.run(30)
    rescue.hall.order(*fault)
    rescue.run(400)
    assert rescue.peak < BREAKS, rescue.peak
    kinds = [step.kind for step in rescue.steps]
    assert "power.cap" in kinds
    if "job.stop" in kinds:
        assert kinds.index("job.checkpoint") < kinds.index("job.stop")
    if "power.off" in kinds:
        assert kinds.index("job.stop") < kinds.index("power.off")


def test_a_takeover_costs_a_short_cap() -> None:
    rescue = Rescue("coolant.pump")
    rescue.run(30)
    rescue.hall.order(orders.FailPump(CDU, 0, failed=True))
    rescue.run(90)
    assert {step.kind for step in rescue.steps} <= {"power.cap", "job.checkpoint", "fan.full", "notify"}
    assert not rescue.hall.now_raised - {("coolant.pump", "cdu/0/pump0")}  # so that all of it is undone
