"""What can be measured of cards and nodes: the truth."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from sim_hardware.plant.cards.shape import CLOCK_MHZ, HBM_BYTES, LOST_CODE, MEMORY_CODE, SHUT_CODE, VOLTS, State
from sim_hardware.plant.chance import draw, start_chance
from sim_hardware.plant.words import Sensor, UnknownSensorError, Value

FIRMWARE = "7.8.0.3.201"
RIPPLE = 0.01  # of power and utilisation within a step: a reading hits it anywhere, while balances carry the mean; ours


def sense(state: State, subject: str, quantity: str) -> Value:
    """The truth of one sensor. Raises UnknownSensorError."""
    number = state.site.cards.get(subject)
    if number is not None and quantity in _CARD:
        return _CARD[quantity][1](state, number)
    number = state.site.nodes.get(subject)
    if number is not None and quantity in _NODE:
        return _NODE[quantity][1](state, number)
    raise UnknownSensorError(f"{subject} has no sensor of {quantity} among cards and nodes")


def sensors(state: State) -> Iterator[Sensor]:
    """Every one."""
    for subjects, table in ((state.site.cards, _CARD), (state.site.nodes, _NODE)):
        for subject in subjects:
            for quantity, (unit, _) in table.items():
                yield Sensor(subject, quantity, unit)


def _ripple(state: State, number: int) -> float:
    """A factor near 1 that is the same within a tenth of a second."""
    return 1.0 + RIPPLE * (2.0 * draw(start_chance(state.site.seed, f"cards/{number}/ripple/{state.at:.1f}"))[1] - 1.0)


def _is_on(state: State, number: int) -> bool:
    return state.nodes[state.site.node_of[number]].power == "on"


def _measure_power(state: State, number: int) -> float:
    mean, idle = state.outputs.watts[number], state.site.idle_watts
    return mean if mean <= idle else idle + (mean - idle) * _ripple(state, number)


def _measure_utilisation(state: State, number: int) -> float:
    if state.outputs.speeds[number] <= 0.0:
        return 0.0
    return min(100.0, max(0.0, 100.0 * state.inputs.load[number] * _ripple(state, number)))


def _list_codes(state: State, number: int) -> Value:
    card = state.cards[number]
    if not _is_on(state, number):
        return None
    own = {MEMORY_CODE} if card.uncorrectable else set()
    return card.codes | own | ({LOST_CODE} if card.off else set()) | ({SHUT_CODE} if card.shut else set())


def _measure_clock(state: State, number: int) -> float:
    return CLOCK_MHZ * state.outputs.clocks[number] if state.is_present(number) else 0.0


def _measure_up(state: State, number: int) -> float:
    node = state.nodes[number]
    return state.at - node.since if node.power == "on" else 0.0


_CARD: dict[str, tuple[str, Callable[[State, int], Value]]] = {
    "card.power": ("W", _measure_power),
    "card.utilisation": ("%", _measure_utilisation),
    "card.memory_used": ("B", lambda state, number: state.measure_memory(number)),
    "card.memory_total": ("B", lambda _state, _number: HBM_BYTES),
    "card.clock": ("MHz", _measure_clock),
    "card.aicore_hz": ("Hz", lambda state, number: 1e6 * _measure_clock(state, number)),
    "card.voltage": ("V", lambda state, number: VOLTS if state.is_present(number) else 0.0),
    "card.health": ("flags", _list_codes),
    "card.ecc_corrected": ("1", lambda state, number: float(state.cards[number].corrected)),
    "card.ecc_uncorrectable": ("1", lambda state, number: float(state.cards[number].uncorrectable)),
    "card.ecc_rate": ("1/s", lambda state, number: state.cards[number].storm if _is_on(state, number) else 0.0),
    "card.serial": ("text", lambda state, number: state.cards[number].serial),
    "card.present": ("1", lambda state, number: float(state.is_present(number))),
    "card.hung": ("1", lambda state, number: float(state.cards[number].hung)),
    "card.isolated": ("1", lambda state, number: float(state.cards[number].isolated)),
    "card.cap": ("W", lambda state, number: state.cards[number].cap),
    "card.brake": ("1", lambda state, number: float(state.cards[number].brake)),
    "card.resetting": ("1", lambda state, number: float(state.cards[number].back_at < math.inf)),
    "card.speed": ("1", lambda state, number: state.outputs.speeds[number]),
    "card.chip": ("text", lambda state, _number: state.site.chip),
    "card.firmware": ("text", lambda _state, _number: FIRMWARE),
}
_NODE: dict[str, tuple[str, Callable[[State, int], Value]]] = {
    "node.power": ("text", lambda state, number: state.nodes[number].power),
    "node.watts": ("W", lambda state, number: state.outputs.node_watts[number]),
    "node.up_s": ("s", _measure_up),
}
