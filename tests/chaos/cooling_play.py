"""Plays a storm over the coolant with whole daemons in virtual time; keeps the plant's truth of every second, and every order."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import msgspec
from msgspec.structs import replace
from sqlalchemy import create_engine

from sim_hardware.devices.job import Crew
from sim_hardware.drives.known import load_known_rack
from sim_hardware.drives.plugins import Places
from sim_hardware.drives.ranks import find_socket, look_after, speak_for
from sim_hardware.drives.settings import TOPOLOGY, write_settings, write_site
from sim_hardware.drives.site import SimSite
from sim_hardware.drives.venues import SimNetwork
from sim_hardware.drives.wires import SYSFS
from sim_hardware.loop import SimLoop
from sim_hardware.loop.play import virtual_time
from sim_hardware.plant.cards.orders import SlowCard
from sim_hardware.plant.cooling.orders import Beat, SetValve
from sim_hardware.plant.words import Happening, Value
from sim_hardware.rack import Rack
from sim_hardware.rig import Rig
from supernoded.chaos.drive import list_plugins
from supernoded.journal import queries
from supernoded.model import Incident
from tests.chaos.cooling_commissioning import commission
from tests.chaos.cooling_storm import Ill, Noise, Offset, Storm
from tests.chaos.power_play import MOST, Hands, Ordered, Watched

PLUGINS = ("thermal", "modbus", "ascend", "redfish")
MORE = """\
[vault.interval]
ask = false
[plugins.ascend]
link_s = 600.0
records_s = 600.0
optical_s = 600.0
probe_s = 600.0
neighbours_s = 600.0
facts_s = 600.0
ring_s = 600.0
"""  # what is asked for is the policy's alone; ports are no business of the coolant, and a third of the time that a play takes


class Lying(Watched):
    """A plant whose sensors may also be noisy, or off."""

    def __init__(self, rack: Rack, seed: int, loop: SimLoop) -> None:
        super().__init__(rack, seed, loop)
        self._lies: dict[tuple[str, str], Noise | Offset] = {}

    def sense(self, subject: str, quantity: str) -> Value:
        """See `World.sense`."""
        shown, lie = super().sense(subject, quantity), self._lies.get((subject, quantity))
        if lie is None or not isinstance(shown, float | int):
            return shown
        if isinstance(lie, Offset):
            return shown + lie.more
        return shown + Random(f"{subject} {quantity} {int(self.now())}").gauss(0.0, lie.sigma)

    def fall_ill(self, ill: Ill) -> None:
        """A sensor begins to lie."""
        if isinstance(ill.lie, Noise | Offset):
            self._lies[ill.subject, ill.quantity] = ill.lie
        else:
            self.sicken(ill.subject, ill.quantity, ill.lie)

    def get_well(self, ill: Ill) -> None:
        """It tells the truth again."""
        self._lies.pop((ill.subject, ill.quantity), None)
        self.cure(ill.subject, ill.quantity)


class Second(msgspec.Struct, frozen=True):
    """What was so in one second of the play. C, W, %."""

    at: float
    supply: float
    dew_point: float
    hottest: float  # of all dies
    watts: float  # of all cards
    control: str
    left: float  # s that the watchdog has left
    valve: float
    job: str


@dataclass
class Record:
    """What a play leaves behind."""

    storm: Storm
    rack: Rack
    seconds: list[Second] = field(default_factory=list)
    happened: list[Happening] = field(default_factory=list)
    orders: list[Ordered] = field(default_factory=list)
    incidents: Sequence[Incident] = ()
    told: list[tuple[float, str, str]] = field(default_factory=list)  # lines of the daemons' logs
    failures: list[str] = field(default_factory=list)
    epoch: float = 0.0  # the first daemon's clock at second 0 of the play

    @property
    def ours(self) -> list[Ordered]:
        """The orders that no hand gave, without the valve's and the heartbeats."""
        return [one for one in self.orders if not one.by_hand and not isinstance(one.order, SetValve | Beat)]


@dataclass(frozen=True)
class Stand:
    """What a scene beside a storm may look at and do."""

    loop: SimLoop
    world: Lying
    site: SimSite
    folder: Path
    configs: dict[str, Path]


Scene = Callable[[Stand], Coroutine[Any, Any, None]]


async def _look_on(stand: Stand) -> None:
    """A scene of nothing."""


def find_rack(name: str) -> Rack:
    """A rack by its name; `direct-<size>` is the generated one of that size, whose CDU is turned directly."""
    size = name.removeprefix("direct-")
    if size == name:
        return load_known_rack(name)
    rack = load_known_rack(f"rack-{size}")
    return replace(rack, loops=tuple(replace(loop, authority="direct") for loop in rack.loops))


def play_storm(storm: Storm, *, more: str = MORE, scene: Scene = _look_on) -> Record:
    """Play it to its end, with a scene beside it."""
    loop = SimLoop(storm.seed)
    record = Record(storm, find_rack(storm.rack))
    with tempfile.TemporaryDirectory(prefix="storm-") as name, virtual_time(loop):
        folder = Path(name)
        loop.leave_out(name)
        loop.run_until_complete(_play(loop, folder, record, more, scene))
        record.failures = [f"{failure.process}: {failure.message}: {failure.error!r}" for failure in loop.failures]
        record.failures += [f"{life} ended with code {life.exit_code}" for life in loop.lives if (life.exit_code or 0) > 0]
        record.told = [(entry.at, entry.who, entry.what) for entry in loop.entries]
        record.incidents = _read_incidents(folder / record.rack.nodes[0].name / "journal.db")
    return record


async def _play(loop: SimLoop, folder: Path, record: Record, more: str, scene: Scene) -> None:
    storm, world = record.storm, Lying(record.rack, record.storm.seed, loop)
    rig = Rig(world, folder, storm.seed)
    site = SimSite(loop, rig=rig)
    site.broker.start()
    world.watches.append(record.happened.append)
    async with rig.serve(SimNetwork(site.net)):
        configs = start_daemons(site, rig, folder, more)
        crew = Crew(world, lambda node: site.clocks[node].now())
        loop.spawn("job", partial(look_after, crew))
        for node in configs:
            loop.spawn(f"{node}/job", partial(speak_for, crew, node, find_socket(folder, node)), host=node)
        hands = Hands(rig, world, site, configs)
        await asyncio.gather(
            scene(Stand(loop, world, site, folder, configs)),
            _load(loop, world, storm),
            _note(loop, world, record),
            *(_sicken(loop, world, ill) for ill in storm.ills),
            *(hands.strike(strike, number) for number, strike in enumerate(storm.strikes)),
        )
        record.epoch = site.clocks[record.rack.nodes[0].name].now() - loop.time()
        record.orders = list(world.orders)


def start_daemons(site: SimSite, rig: Rig, folder: Path, more: str) -> dict[str, Path]:
    """A daemon on each node, with what commissioning has recorded of the loop."""
    rack = rig.world.rack
    (folder / TOPOLOGY).write_text(write_site(rack, rig.endpoints))
    (folder / "cdu0.toml").write_text(commission(rack))
    off = tuple(name for name in list_plugins() if name not in PLUGINS)
    places, configs = Places(folder, ("broker", 1883), SYSFS, kernel=True, endpoints=rig.endpoints), dict[str, Path]()
    for node in rack.nodes:
        configs[node.name] = folder / f"{node.name}.toml"
        told = f'{more}[plugins.thermal]\ncommissioning = "{folder}"\n'
        configs[node.name].write_text(write_settings(rack, node.name, places, told, off))
        site.start(node.name, configs[node.name])
    return configs


def give_role(stand: Stand, role: str, holder: str) -> None:
    """Give a role to another node in everybody's settings; who runs hears of it when it is started anew."""
    known = [f'"{role}" = "{node}"' for node in stand.configs]
    for config in stand.configs.values():
        lines = [f'"{role}" = "{holder}"' if line in known else line for line in config.read_text().splitlines()]
        config.write_text("\n".join(lines) + "\n")


async def _wait_until(loop: SimLoop, at: float) -> None:
    await asyncio.sleep(at - loop.time())


async def _load(loop: SimLoop, world: Lying, storm: Storm) -> None:
    """One card holds up its job by more or less, and with that the load of all the others goes."""
    for at, percent in storm.loads:
        await _wait_until(loop, at)
        with world.hand():
            world.order(SlowCard("n0/card0", percent))


async def _sicken(loop: SimLoop, world: Lying, ill: Ill) -> None:
    await _wait_until(loop, ill.at)
    world.fall_ill(ill)
    await _wait_until(loop, ill.ends)
    world.get_well(ill)


async def _note(loop: SimLoop, world: Lying, record: Record) -> None:
    """The plant's truth, once a second."""
    while loop.time() < record.storm.seconds:
        await asyncio.sleep(1.0)
        record.seconds.append(_look(world))


def _look(world: Lying) -> Second:
    cards = world.rack.list_cards()

    def measure(subject: str, quantity: str) -> float:
        value = world.truth(subject, quantity)
        assert isinstance(value, float | int)
        return float(value)

    return Second(
        at=world.now(),
        supply=measure("cdu/0", "coolant.true_supply_temperature"),
        dew_point=measure("cdu/0", "air.dew_point"),
        hottest=max(measure(card, "card.temperature") for card in cards),
        watts=sum(measure(card, "card.power") for card in cards),
        control=str(world.truth("cdu/0", "coolant.control")),
        left=measure("cdu/0", "coolant.watchdog_left"),
        valve=measure("cdu/0", "coolant.valve"),
        job=str(world.truth("job/train", "job.state")),
    )


def _read_incidents(file: Path) -> Sequence[Incident]:
    engine = create_engine(f"sqlite:///{file}")
    try:
        with engine.connect() as connection:
            return queries.incidents(queries.Filter(limit=MOST))(connection).rows
    finally:
        engine.dispose()
