"""Plays a storm over a small rack with whole daemons in virtual time; keeps the truth, every order, and the first node's journal."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import create_engine

from sim_hardware.devices.job import Crew
from sim_hardware.drives.commissioning import commission
from sim_hardware.drives.plugins import Places
from sim_hardware.drives.ranks import find_socket, look_after, speak_for
from sim_hardware.drives.settings import TOPOLOGY, write_settings, write_site
from sim_hardware.drives.site import SimSite
from sim_hardware.drives.stage import RigStage
from sim_hardware.drives.venues import SimNetwork
from sim_hardware.drives.wires import SYSFS
from sim_hardware.faults.catalogue import CATALOGUE
from sim_hardware.loop import SimLoop
from sim_hardware.loop.play import virtual_time
from sim_hardware.plant.power.orders import SwitchOutlet
from sim_hardware.plant.words import Happening, Order, OrderError, Value
from sim_hardware.rack import Rack, load_rack
from sim_hardware.rig import Rig
from sim_hardware.world import World
from supernoded.chaos.drive import Injection, list_plugins
from supernoded.errors import ChaosError
from supernoded.journal import queries
from supernoded.messages import Deed
from supernoded.model import Incident
from tests.chaos.power_storm import CUT, KILL, Storm, Strike

PLUGINS = ("power", "nut", "modbus", "snmp", "redfish", "host", "hwmon")
SETTINGS = "[vault.interval]\nask = false\n[plugins.power]\nsave_s = 6.0\nstep_s = 2.0\n"  # what is asked for is the policy's alone
CALM_S = 600.0  # at most, after the storm: batteries, stages and stable times of the return
REST_S, LOOK_S = 100.0, 5.0  # of a plant at rest, after which a play ends: incidents stay for a while after their trouble
HANDS_AGAIN = 2.0  # s between two tries of a hand to undo a fault
MOST = 100_000  # rows of a journal


@dataclass(frozen=True)
class Ordered:
    """An order that reached the plant, and whether it came from a hand or a fault, not from the daemons or the job's own launcher."""

    at: float
    order: Order
    by_hand: bool
    refused: str = ""


class Watched(World):
    """A plant that keeps every order."""

    def __init__(self, rack: Rack, seed: int, loop: SimLoop) -> None:
        super().__init__(rack, seed, loop.time)
        self.orders: list[Ordered] = []
        self._hand = False

    def order(self, order: Order) -> None:
        """See `World.order`."""
        refused = ""
        try:
            super().order(order)
        except OrderError as error:
            refused = str(error)
            raise
        finally:
            self.orders.append(Ordered(self.now(), order, self._hand, refused))

    @contextmanager
    def hand(self) -> Iterator[None]:
        """What is ordered within is by hand."""
        self._hand = True
        try:
            yield
        finally:
            self._hand = False


@dataclass
class Record:
    """What a play leaves behind."""

    storm: Storm
    rack: Rack
    digest: str = ""
    happened: list[Happening] = field(default_factory=list)
    orders: list[Ordered] = field(default_factory=list)
    truth: dict[tuple[str, str], Value] = field(default_factory=dict)  # at the end
    deeds: Sequence[Deed] = ()
    incidents: Sequence[Incident] = ()
    failures: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)  # lines of the daemons' logs
    epoch: float = 0.0  # the daemons' clock at second 0 of the play

    @property
    def ours(self) -> list[Ordered]:
        """The orders that no hand gave."""
        return [one for one in self.orders if not one.by_hand]


@dataclass(frozen=True)
class Stand:
    """What a scene beside a storm may look at and talk to."""

    loop: SimLoop
    world: Watched
    site: SimSite
    folder: Path


Scene = Callable[[Stand], Coroutine[Any, Any, None]]


async def _look_on(stand: Stand) -> None:
    """A scene of nothing."""


def play_storm(storm: Storm, *, settings: str = SETTINGS, calm_s: float = CALM_S, scene: Scene = _look_on, pdus: str = "pdu/{}") -> Record:
    """Play it, with a scene beside it, to the end of the calm behind it. `pdus` is the endpoint by which PDUs are reached."""
    loop = SimLoop(storm.seed)
    record = Record(storm, load_rack(storm.rack))
    with tempfile.TemporaryDirectory(prefix="storm-") as name, virtual_time(loop):
        folder = Path(name)
        loop.leave_out(name)
        loop.run_until_complete(_play(loop, folder, record, settings, calm_s, scene, pdus))
        record.failures = [f"{failure.process}: {failure.message}: {failure.error!r}" for failure in loop.failures]
        record.failures += [f"{life} ended with code {life.exit_code}" for life in loop.lives if (life.exit_code or 0) > 0]
        record.errors = [f"{entry.at:.1f} {entry.who} {entry.what}" for entry in loop.entries if entry.what.startswith("ERROR")]
        record.digest = loop.digest()
        _read_journal(folder / "n0" / "journal.db", record)
    return record


async def _play(loop: SimLoop, folder: Path, record: Record, settings: str, calm_s: float, scene: Scene, pdus: str) -> None:
    storm, world = record.storm, Watched(record.rack, record.storm.seed, loop)
    rig = Rig(world, folder, storm.seed)
    site = SimSite(loop, rig=rig)
    site.broker.start()
    world.watches.append(record.happened.append)
    world.watches.append(lambda one: loop.trace("plant", one.kind, one.subject, one.text))
    async with rig.serve(SimNetwork(site.net)):
        with world.hand():
            commission(rig)
        configs = _start_daemons(site, rig, folder, settings, pdus)
        crew = Crew(world, lambda node: site.clocks[node].now())
        loop.spawn("job", partial(look_after, crew))
        for node in configs:
            loop.spawn(f"{node}/job", partial(speak_for, crew, node, find_socket(folder, node)), host=node)
        stage = Hands(rig, world, site, configs)
        strikes = [stage.strike(strike, number) for number, strike in enumerate(storm.strikes)]
        await asyncio.gather(*strikes, scene(Stand(loop, world, site, folder)))
        await _wait_for_rest(world, calm_s)
        record.epoch = site.clocks["n0"].now() - loop.time()
        record.orders = list(world.orders)
        _note_truth(world, record)


async def _wait_for_rest(world: Watched, calm_s: float) -> None:
    """Till nothing has been off, capped or on battery for a while, or the calm has lasted long enough."""
    begun = rest_since = world.now()
    while world.now() < min(rest_since + REST_S, begun + calm_s):
        await asyncio.sleep(LOOK_S)
        if not _is_at_rest(world):
            rest_since = world.now()


def _is_at_rest(world: World) -> bool:
    rack = world.rack
    outlets = [f"pdu/{pdu.name}/outlet{outlet.number}" for pdu in rack.pdus for outlet in pdu.outlets]
    upses = [world.truth(f"ups/{ups.name}", "ups.path") for ups in rack.ups]
    return (
        all(world.truth(outlet, "outlet.state") == "on" for outlet in outlets)
        and not any(world.truth(card, "card.cap") for card in rack.list_cards())
        and "battery" not in upses
        and "none" not in upses
        and all(world.truth(f"feed/{ups.name}", "feed.source") == "utility" for ups in rack.ups)
    )


def _start_daemons(site: SimSite, rig: Rig, folder: Path, settings: str, pdus: str) -> dict[str, Path]:
    rack = rig.world.rack
    doors = {f"pdu/{pdu.name}": rig.endpoints[pdus.format(pdu.name)] for pdu in rack.pdus}
    (folder / TOPOLOGY).write_text(write_site(rack, {**rig.endpoints, **doors}))
    off = tuple(name for name in list_plugins() if name not in PLUGINS)
    places, configs = Places(folder, ("broker", 1883), SYSFS, kernel=True, endpoints=rig.endpoints), dict[str, Path]()
    more = settings + ("generator = true\n" if rack.sim.power.generator else "")
    for node in rack.nodes:
        configs[node.name] = folder / f"{node.name}.toml"
        configs[node.name].write_text(write_settings(rack, node.name, places, more, off))
        site.start(node.name, configs[node.name])
    return configs


class Hands:
    """Does what a storm has in it, and afterwards what a person would: takes faults away, and closes what was opened by hand."""

    def __init__(self, rig: Rig, world: Watched, site: SimSite, configs: dict[str, Path]) -> None:
        self._rig, self._world, self._site, self._configs = rig, world, site, configs
        self._stage = RigStage(rig)

    async def strike(self, strike: Strike, number: int) -> None:
        """From its beginning to its end."""
        loop = self._site.loop
        await asyncio.sleep(strike.at - loop.time())
        if strike.fault == KILL:
            await self._kill(strike)
        elif strike.fault == CUT:
            self._site.net.partition(strike.target, "broker")
            await asyncio.sleep(strike.lasts)
            self._site.net.heal(strike.target, "broker")
        else:
            await self._inject(strike, number)

    async def _kill(self, strike: Strike) -> None:
        loop = self._site.loop
        if not loop.processes[strike.target].dead:
            loop.kill(loop.processes[strike.target])
            await asyncio.sleep(strike.lasts)
            self._site.start(strike.target, self._configs[strike.target])

    async def _inject(self, strike: Strike, number: int) -> None:
        parameters = msgspec.convert(strike.how, CATALOGUE[strike.fault].parameters)
        injection = Injection(f"f{number}", strike.fault, strike.target, parameters, strike.lasts)
        try:
            with self._world.hand():
                await self._stage.inject(injection)
        except ChaosError:
            return  # what has no power can take no harm
        await asyncio.sleep(strike.lasts)
        while not await self._lift(injection):
            await asyncio.sleep(HANDS_AGAIN)
        if strike.fault == "power.epo":
            await self._close_all(strike.target.removeprefix("feed/"))

    async def _lift(self, injection: Injection) -> bool:
        try:
            with self._world.hand():
                await self._stage.lift(injection)
        except ChaosError:
            return False
        return True

    async def _close_all(self, feed: str) -> None:
        """Somebody switches the outlets of a feed on again, as an emergency power-off wants it."""
        for pdu in self._rig.world.rack.pdus:
            for outlet in pdu.outlets if pdu.feed == feed else ():
                while not self._switch_on(pdu.name, outlet.number):
                    await asyncio.sleep(HANDS_AGAIN)
                await asyncio.sleep(HANDS_AGAIN)

    def _switch_on(self, pdu: str, outlet: int) -> bool:
        try:
            with self._world.hand():
                self._world.order(SwitchOutlet(pdu, outlet, on=True))
        except OrderError:
            return False
        return True


def _note_truth(world: World, record: Record) -> None:
    rack = record.rack
    asked = [(f"pdu/{pdu.name}/outlet{outlet.number}", "outlet.state") for pdu in rack.pdus for outlet in pdu.outlets]
    asked += [(card, "card.cap") for card in rack.list_cards()]
    asked += [("job/train", "job.state"), ("job/train", "job.committed_step")]
    asked += [(node.name, "node.power") for node in rack.nodes]
    record.truth = {one: world.truth(*one) for one in asked}


def _read_journal(file: Path, record: Record) -> None:
    engine, everything = create_engine(f"sqlite:///{file}"), queries.Filter(limit=MOST)
    try:
        with engine.connect() as connection:
            record.deeds = queries.actions(everything)(connection).rows
            record.incidents = queries.incidents(everything)(connection).rows
    finally:
        engine.dispose()
