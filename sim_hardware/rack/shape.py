"""What a rack is, as data: the tables of a topology file, and beside them what only the simulator needs to know."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

Positive = Annotated[float, Meta(gt=0)]
Share = Annotated[float, Meta(ge=0, le=1)]


class _Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Unknown keys are refused."""


class Node(_Table, frozen=True, kw_only=True):
    """A node and its cards: `n0/card0` and so on, each with `port0` and `port1`."""

    name: str
    cards: Annotated[int, Meta(ge=0, le=64)]
    feeds: tuple[str, ...] = ()
    loop: str = ""
    address: str = ""  # where its machine answers past the broker; the drives fill it in

    def list_cards(self) -> tuple[str, ...]:
        """The subjects of its cards."""
        return tuple(f"{self.name}/card{slot}" for slot in range(self.cards))


class Ring(_Table, frozen=True, kw_only=True):
    """A closed cycle of cards (backplane) or nodes (cluster) in the order of its members."""

    name: str
    level: Literal["backplane", "cluster"]
    order: tuple[str, ...]


class Card(_Table, frozen=True, kw_only=True):
    """Which card is in a slot."""

    card: str
    serial: str


class Cable(_Table, frozen=True, kw_only=True):
    """A cable between two ports."""

    a: str
    b: str
    length_m: Positive | None = None
    bend_radius_mm: Positive | None = None

    @property
    def subject(self) -> str:
        """The same whichever end is written first."""
        return "cable/" + "--".join(sorted((self.a, self.b)))


class Feed(_Table, frozen=True, kw_only=True):
    """A feed without a UPS."""

    name: str


class Ups(_Table, frozen=True, kw_only=True):
    """A UPS, and the feed of the same name behind it."""

    name: str
    rated_va: Positive | None = None
    energy_wh: Positive | None = None  # as last tested; where it is absent the daemons are told the true one
    efficiency: Share = 0.9
    wire: str = ""


class Outlet(_Table, frozen=True, kw_only=True):
    """An outlet and what hangs on it: `n0`, `n0/fan*`, `cdu/0`, `switch/s1`, `aux/<name>`."""

    number: int
    load: str
    sheddable: bool = False


class Pdu(_Table, frozen=True, kw_only=True):
    """A power distribution unit."""

    name: str
    feed: str
    restore_s: Positive = 10.0
    qualified: bool = False
    wire: str = ""
    outlets: tuple[Outlet, ...] = ()


class Loop(_Table, frozen=True, kw_only=True):
    """A coolant loop; `cdu0` is the subject `cdu/0`."""

    name: str
    wire: str = ""
    authority: Literal["setpoint", "direct"] = "setpoint"
    pipes: str = ""

    @property
    def subject(self) -> str:
        """`cdu/0` of `cdu0`, `cdu/west` of `west`."""
        return f"cdu/{self.name.removeprefix('cdu').lstrip('-_') or self.name}"


class Switch(_Table, frozen=True, kw_only=True):
    """A switch between nodes."""

    name: str
    model: str = ""
    wire: str = ""


class Spare(_Table, frozen=True, kw_only=True):
    """A card kept for replacing another."""

    card: str


class SimUps(_Table, frozen=True, kw_only=True):
    """How the UPSes are built and set. An on-line one carries a sag unseen; a line-interactive one transfers, and its load sees a gap."""

    kind: Literal["online", "line-interactive"] = "online"
    minutes: Positive = 8.0  # at rated load from a full battery
    efficiency: Share = 0.94
    transfer_ms: Annotated[float, Meta(ge=0)] = 8.0  # of a line-interactive one, and of ECO and bypass
    phases: Literal[1, 3] = 3


class SimPower(_Table, frozen=True, kw_only=True):
    """What feeds the UPSes, and what hangs behind them."""

    volts: Positive = 230.0  # phase to neutral
    hertz: Positive = 50.0
    generator: bool = True
    generator_start_s: Positive = 12.0  # from loss of the mains to a loaded set
    ups: SimUps = SimUps()
    bypass_sites: tuple[str, ...] = ()  # UPSes that begin in bypass
    cdu_watts: Positive = 4000.0  # pumps and controls of a CDU
    switch_watts: Positive = 600.0
    direct_lines: bool = True  # from the UPSes' contacts to the PDUs, which then shed by themselves; else somebody must tell them
    feed_baud: Annotated[int, Meta(ge=300, le=4_000_000)] = 115_200  # of a feed's line; the least at which a shed is said in 3 ms (Q22)


class SimNode(_Table, frozen=True, kw_only=True):
    """What a node is made of and draws. Of these figures fans and LEDs are 2/11, so that 450 ms of hold-up become 550 without them."""

    chip: str = "Ascend950"  # of all cards; one that begins with NVIDIA has that vendor's driver
    card_watts: Positive = 600.0  # of one card at full load (T1)
    card_idle_watts: Positive = 90.0
    other_watts: Annotated[float, Meta(ge=0)] = 600.0  # regulators, DIMMs, NICs, optics: cooled by air alone
    fan_watts: Positive = 1200.0  # all fans and LEDs at full duty
    hold_up_s: Positive = 0.450  # of the shelf's capacitors at full load


class SimLoop(_Table, frozen=True, kw_only=True):
    """The cooling plant behind a loop, and how its CDU speaks: a file of `plant/cooling/plants/`, scaled to the heat of its nodes."""

    plant: str = "reference"
    map: str = "dcd"  # the register map of its TCP port, of `devices/modbus/maps/`


class SimJob(_Table, frozen=True, kw_only=True):
    """The training job, one rank a card, spares aside."""

    name: str = "train"
    step_s: Positive = 2.0
    save_s: Positive = 6.0  # a whole save at full speed
    checkpoint_every_s: Positive = 600.0
    vault: bool = False  # in virtual time its checkpoints are files, which a real vault looks after; else what is saved is durable
    restore_s: Positive = 60.0  # a whole restore from durable storage; from shared memory it takes half of a save
    tensor: int = 8  # TP x PP x DP need not cover the world: DP takes what is left
    pipeline: int = 1


class Sim(_Table, frozen=True, kw_only=True):
    """What only the simulator knows. Everything has a default."""

    text: str = ""
    power: SimPower = SimPower()
    node: SimNode = SimNode()
    loops: dict[str, SimLoop] = {}
    job: SimJob | None = SimJob()
    kubernetes: bool = False  # an API server knows the nodes, and the daemons are told of it


class Rack(_Table, frozen=True, kw_only=True):
    """A whole site: the tables of a topology file, and `[sim]`."""

    nodes: tuple[Node, ...]
    rings: tuple[Ring, ...] = ()
    cards: tuple[Card, ...] = ()
    cables: tuple[Cable, ...] = ()
    feeds: tuple[Feed, ...] = ()
    ups: tuple[Ups, ...] = ()
    pdus: tuple[Pdu, ...] = ()
    loops: tuple[Loop, ...] = ()
    switches: tuple[Switch, ...] = ()
    spares: tuple[Spare, ...] = ()
    sim: Sim = Sim()

    def list_cards(self) -> tuple[str, ...]:
        """The subjects of all cards, node by node."""
        return tuple(card for node in self.nodes for card in node.list_cards())
