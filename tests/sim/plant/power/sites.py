"""A small site, and how it is played."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from sim_hardware.plant.power import Inputs, State, apply, sense, start, update
from sim_hardware.plant.power.orders import Sag
from sim_hardware.plant.words import Happening, Order
from sim_hardware.rack import Rack, generate_rack
from sim_hardware.rack.shape import Sim, SimPower, SimUps

ONLINE, LINE_INTERACTIVE = SimUps(), SimUps(kind="line-interactive")


def build_rack(ups: SimUps = ONLINE, nodes: int = 2, *, generator: bool = False, bypass_sites: tuple[str, ...] = ()) -> Rack:
    rack = generate_rack(nodes, 8)
    return replace(rack, sim=Sim(power=SimPower(ups=ups, generator=generator, bypass_sites=bypass_sites)))


def draw_full(rack: Rack) -> dict[str, float]:
    """What every load draws at its fullest, W."""
    loads = {loop.subject: 4000.0 for loop in rack.loops} | {f"switch/{switch.name}": 600.0 for switch in rack.switches}
    for node in rack.nodes:
        loads |= {node.name: 5400.0, f"{node.name}/fan*": 1200.0}
    return loads


class Site:
    """A plant that remembers what happened. It is stepped as the world does it: on a grid of 0.5 s and at every event."""

    def __init__(self, rack: Rack, loads: Mapping[str, float] | None = None) -> None:
        self.state: State = start(rack, 0)
        self.inputs = Inputs(draw_full(rack) if loads is None else loads)
        self.told: list[Happening] = []

    def run(self, until: float) -> None:
        while self.state.at < until:
            at = min(until, self.state.next_time, (self.state.at // 0.5 + 1) * 0.5)
            self.state = update(self.state, at, self.inputs)
            self.told.extend(self.state.happened)

    def order(self, *orders: Order) -> None:
        for order in orders:
            self.state = apply(self.state, order)
            self.told.extend(self.state.happened)

    def lose_mains(self, seconds: float, depth: float = 1.0) -> None:
        self.order(Sag("A", depth), Sag("B", depth))
        self.run(self.state.at + seconds)
        self.order(Sag("A", 0.0), Sag("B", 0.0))

    def when(self, kind: str, subject: str) -> float:
        """The time of the first happening of this kind to this subject."""
        return next(one.at for one in self.told if (one.kind, one.subject) == (kind, subject))

    def count(self, kind: str, subject: str = "") -> int:
        return sum(one.kind == kind and one.subject.startswith(subject) for one in self.told)

    def flags(self, subject: str, quantity: str) -> set[str]:
        value = sense(self.state, subject, quantity)
        assert isinstance(value, frozenset), f"{subject} {quantity} is {value!r}"
        return set(value)

    def number(self, subject: str, quantity: str) -> float:
        value = sense(self.state, subject, quantity)
        assert isinstance(value, float), f"{subject} {quantity} is {value!r}"
        return value

    def list_kinds(self, subject: str) -> Iterator[str]:
        return (one.kind for one in self.told if one.subject == subject)
