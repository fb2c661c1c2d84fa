"""Readings for the tests of this folder, and a simulated node whose fans a loop turns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec.structs import replace

from sim_hardware.plant import cooling
from sim_hardware.plant.cooling import Inputs, State
from sim_hardware.plant.cooling.orders import SetFan, SetFanControl
from sim_hardware.rack import generate_rack
from supernoded.history import History, View
from supernoded.model import Reading, Setpoint, Value
from supernoded.model import State as Worth
from supernoded.quantities import VOCABULARY
from supernoded_thermal.node.loop import FanLoop, FanMemory
from supernoded_thermal.node.settings import NodeSettings

PARTS = ("optics", "nic", "vrm", "dimm")
SETTINGS = NodeSettings(fans="loop")
Spoil = Callable[[Reading], Reading]


def read(subject: str, quantity: str, value: Value, at: float = 0.0, note: str = "", source: str = "s") -> Reading:
    state = Worth.GOOD if value is not None else Worth.UNKNOWN
    unit = VOCABULARY[quantity].unit
    return Reading(subject=subject, quantity=quantity, value=value, unit=unit, at=at, state=state, note=note, source=source)


def series(subject: str, quantity: str, values: Sequence[Value], every: float = 5.0, source: str = "s") -> list[Reading]:
    return [read(subject, quantity, value, every * number, source=source) for number, value in enumerate(values)]


def see(readings: Iterable[Reading], now: float, watches: dict[str, float], fresh_for: float = 25.0) -> View:
    history = History(watches)
    history.add(sorted(readings, key=lambda one: one.at), fresh_for)
    return history.view(now, watches)


class Room:
    """A node of the plant, its readings, and a loop that turns its fans; what a sensor shows can be spoilt on its way."""

    def __init__(self, *, air_cooled: bool = False, load: float = 1.0, settings: NodeSettings = SETTINGS) -> None:
        rack = generate_rack(1, 8)
        if air_cooled:
            rack = replace(rack, nodes=tuple(replace(node, loop="") for node in rack.nodes))
        self.state: State = cooling.start(rack, 1)
        self.cards = tuple(f"n0/card{slot}" for slot in range(8))
        self.loop = FanLoop("n0", self.cards if air_cooled else (), settings)
        self.history = History(self.loop.watches)
        self.load, self.is_live = load, True
        self.spoil: Spoil = lambda reading: reading
        self.memory: FanMemory | None = None
        self.put: list[float] = []
        self.notes: list[str] = []
        self.told: list[str] = []

    @property
    def now(self) -> float:
        return self.state.at

    def sense(self, subject: str, quantity: str) -> float:
        value = cooling.sense(self.state, subject, quantity)
        assert isinstance(value, float)
        return value

    def watch(self, seconds: float) -> None:
        """The BMC has the fans."""
        self._play(seconds, steers=False)

    def steer(self, seconds: float) -> None:
        """The loop has them, from where they are."""
        if self.memory is None:
            duty = self.sense("n0/fan0", "fan.duty")
            self.memory = self.loop.start(Setpoint(target="n0/fans", quantity="fan.duty", value=duty, unit="%"))
            self.state = cooling.apply(self.state, SetFanControl("n0", "manual"))
        self._play(seconds, steers=True)

    def _play(self, seconds: float, *, steers: bool) -> None:
        until = self.state.at + seconds
        while self.state.at < until:
            self._take()
            if steers:
                self._turn()
            dead = frozenset() if self.is_live else frozenset({"n0/fan*"})
            inputs = Inputs((600.0 * self.load,) * 8, (600.0 * self.load,), dead)
            end = self.state.at + self.loop.period
            while self.state.at < end:
                self.state = cooling.update(self.state, min(self.state.at + 0.5, end, max(self.state.at, self.state.next_time)), inputs)
                self.told += [happening.kind for happening in self.state.happened]

    def _take(self) -> None:
        """What the daemon reads: fans and parts every 2 s, cards every 10."""
        at = self.state.at
        readings = [
            read(f"n0/sensor/{part}", "host.temperature", round(self.sense("n0", f"air.temperature.{part}") * 8) / 8, at) for part in PARTS
        ]
        for fan in range(8):
            readings.append(read(f"n0/fan{fan}", "fan.speed", self.sense(f"n0/fan{fan}", "fan.speed"), at))
            readings.append(read(f"n0/fan{fan}", "fan.duty", self.sense(f"n0/fan{fan}", "fan.duty"), at))
        self.history.add([self.spoil(one) for one in readings], 5.0)
        if at % 10.0 == 0.0:
            cards = [read(card, "card.temperature", float(round(self.sense(card, "card.temperature"))), at) for card in self.cards]
            cards += [read(card, "card.power", 600.0 * self.load, at) for card in self.cards]
            self.history.add([self.spoil(one) for one in cards], 25.0)

    def _turn(self) -> None:
        assert self.memory is not None
        self.memory, setpoint = self.loop.steer(self.history.view(self.now, self.loop.watches), self.memory)
        if setpoint is None:
            return
        self.put.append(setpoint.value)
        self.notes.append(setpoint.note)
        for fan in range(8):
            self.state = cooling.apply(self.state, SetFan("n0", fan, setpoint.value))
