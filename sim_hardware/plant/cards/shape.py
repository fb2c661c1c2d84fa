"""What is known of cards and nodes. Cards and nodes are numbered in rack order; everything per card is a tuple by that number."""

from __future__ import annotations

import math
from typing import Literal

import msgspec

from sim_hardware.plant.chance import Chance
from sim_hardware.plant.words import Happening

HBM_BYTES = 96.0 * 2**30  # of one card (D1)
DRIVER_BYTES = 3.0 * 2**30  # what a card's own software holds, ours
JOB_BYTES = 60.0 * 2**30  # what a rank holds while its process lives, ours

BOOT_S = 60.0  # ours
RESET_S = 8.0  # ours
CLOCK_MHZ = 1800.0  # at full speed, ours
VOLTS = 0.85  # of the core at full clock, ours

MEMORY_CODE = "80E01801"  # an uncorrectable memory error, by the vendor's list of fault codes
LOST_CODE = "40F84E00"  # a card fell off its bus, by the same list
SHUT_CODE = "80E18005"  # a card shut itself down for heat, ours: written as the list's codes are

Power = Literal["on", "off", "booting"]


class Inputs(msgspec.Struct, frozen=True):
    """What holds from the state's time until the time of the update."""

    available: tuple[bool, ...]  # by node: its shelf gives DC
    temperature: tuple[float, ...]  # by card, C
    throttled: tuple[bool, ...]  # by card
    load: tuple[float, ...]  # by card, 0..1, as the job asks


class Card(msgspec.Struct, frozen=True):
    """What was done to one card. With the defaults it is well."""

    serial: str
    cap: float | None = None  # W
    isolated: bool = False
    hung: bool = False
    off: bool = False  # fallen off the bus
    shut: bool = False  # shut itself down for heat, until its node is switched off
    brake: bool = False
    slow: float = 0.0  # share of its speed that it has lost
    codes: frozenset[str] = frozenset()
    storm: float = 0.0  # corrected memory errors, 1/s
    expected: float = 0.0  # of them, since the last whole second
    corrected: int = 0
    uncorrectable: int = 0
    leak: float = 0.0  # B/s
    leaked: float = 0.0  # B
    full: bool = False  # its memory ran out: no process can live on it
    back_at: float = math.inf  # end of its reset; inf when there is none

    @property
    def busy(self) -> bool:
        """Whether it changes by itself."""
        return self.storm > 0.0 or self.leak > 0.0 or self.back_at < math.inf


class Node(msgspec.Struct, frozen=True):
    """One node's power."""

    power: Power = "on"
    wanted: bool = True  # as its BMC was told; it boots when there is power
    since: float = 0.0  # when it was up, or went off
    up_at: float = math.inf  # end of its boot


class Site(msgspec.Struct, frozen=True):
    """What never changes."""

    seed: int
    cards: dict[str, int]
    nodes: dict[str, int]
    card_names: tuple[str, ...]
    node_names: tuple[str, ...]
    node_of: tuple[int, ...]
    first: tuple[int, ...]  # by node: its first card; one more at the end
    idle_watts: float
    full_watts: float
    other_watts: float
    chip: str


class Outputs(msgspec.Struct, frozen=True):
    """What follows from all that, by card and by node. The same objects until something changes, so that others see that nothing did."""

    watts: tuple[float, ...]
    clocks: tuple[float, ...]  # share of full
    speeds: tuple[float, ...]  # share of full; 0 cannot compute
    alive: tuple[bool, ...]  # a process can live on it
    node_watts: tuple[float, ...]  # cards and other


class State(msgspec.Struct, frozen=True):
    """All cards and nodes at `at` seconds."""

    site: Site
    at: float
    next_time: float
    happened: tuple[Happening, ...]
    nodes: tuple[Node, ...]
    cards: tuple[Card, ...]
    inputs: Inputs
    outputs: Outputs
    busy: tuple[int, ...]  # cards that change by themselves
    booting: tuple[int, ...]  # nodes
    stray: tuple[Chance, float]  # the rare memory errors of healthy cards, and when the next one comes

    def is_present(self, number: int) -> bool:
        """Whether a card answers on its bus at all."""
        card = self.cards[number]
        return self.nodes[self.site.node_of[number]].power == "on" and not card.off and not card.shut and card.back_at == math.inf

    def measure_memory(self, number: int) -> float:
        """Used memory of a card, B; nothing when its node is not on."""
        if self.nodes[self.site.node_of[number]].power != "on":
            return 0.0
        job = JOB_BYTES if self.inputs.load[number] > 0.0 else 0.0
        return min(HBM_BYTES, DRIVER_BYTES + job + self.cards[number].leaked)

    def is_out_of_memory(self, number: int) -> bool:
        """Whether there is none left, but for what leaks in a microsecond: rounding must not make its end come again and again."""
        return self.measure_memory(number) >= HBM_BYTES - 1.0 - 1e-6 * self.cards[number].leak
