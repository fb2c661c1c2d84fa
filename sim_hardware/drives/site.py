"""The sim drive: whole daemons in virtual time, each built by the daemon's own builder from its settings file."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from sim_hardware.drives.database import SimDatabase
from sim_hardware.drives.machine import SimHost
from sim_hardware.drives.wires import RigWires
from sim_hardware.fabric import Broker
from sim_hardware.loop import Process, SimLoop
from sim_hardware.loop.clock import SimClock
from sim_hardware.net import Net
from sim_hardware.rig import Rig
from supernoded.admin.listening import listen_simulated
from supernoded.errors import SupernodedError
from supernoded.journal.writer import Journal, open_journal
from supernoded.notify import Notifier
from supernoded.ports import Ports, Uplink
from supernoded.process import run_process
from supernoded.registry import Found, discover
from supernoded.settings import Settings, read_settings
from supernoded.wire import Pen, Wires
from supernoded.wire.system import Devices, SystemWires

Plugins = Callable[[Settings], Sequence[Found]]


class SimSite:
    """One loop, one network, one broker, one database, and daemons that live and die on them. Their files are real.

    Broker and database run once they are started.
    With a rig, their nodes' `/sys/class` and tools are its own.
    """

    def __init__(self, loop: SimLoop, plugins: Plugins | None = None, *, rig: Rig | None = None, skew: float = 0.05) -> None:
        self.loop, self.net = loop, Net(loop)
        self.rig = rig
        self.broker = Broker(self.net)
        self.database = SimDatabase(self.net)
        self.hosts: dict[str, SimHost] = {}
        self.clocks: dict[str, SimClock] = {}
        self._installed: dict[str, list[Callable[[], object]]] = {}  # by machine
        self._plugins = plugins or (lambda settings: discover(settings.plugins_off))
        self._skew = skew

    def start(self, node: str, config: Path, *, machine: str = "") -> Process:
        """Start the daemon of a node, or start it anew after it died. `machine` = where, if that is not the node's own."""
        return self.loop.spawn(machine or node, partial(self._live, node, machine or node, config))

    def install(self, machine: str, start: Callable[[], object]) -> None:
        """Start something on a machine, now and whenever that boots. The daemon is started by whoever boots it."""
        self._installed.setdefault(machine, []).append(start)
        start()

    def boot(self, machine: str) -> None:
        """Start all that is installed on a machine."""
        for start in self._installed.get(machine, []):
            start()

    async def _live(self, node: str, machine: str, config: Path) -> None:
        log = self.log(machine)
        if machine in self.clocks:
            self.clocks[machine].begin_life()
        try:
            code = await run_process(lambda: read_settings(config, {}), self.ports(node, log, machine), log)
        except SupernodedError as error:
            log.error("%s", error)
            code = 78
        if code:
            raise SystemExit(code)

    def ports(self, node: str, log: logging.Logger, machine: str = "") -> Ports:
        """The world as this node sees it from its machine, or from another."""
        machine = machine or node
        clock = self.find_clock(machine)
        process = self.loop.processes[machine]
        return Ports(
            clock=clock,
            host=self._find_host(machine),
            uid=process.uid,
            pid=process.pid,
            notifier=Notifier({}, process.pid, log),
            wires=partial(_open_wires, self.rig, node),
            uplink=lambda _: Uplink("broker:1883", self.broker),
            journal=lambda settings: self._open_journal(settings, clock, log),
            database=lambda settings: self._open_database(machine, settings, clock, log),
            listen=lambda settings: partial(listen_simulated, settings.admin.socket),
            chores=lambda _, __: None,
            plugins=lambda settings: list(self._plugins(settings)),
        )

    def find_clock(self, machine: str) -> SimClock:
        """A machine's clock, which outlives its processes."""
        return self.clocks.setdefault(machine, SimClock(self.loop, machine, skew=self._skew * len(self.clocks)))

    def _find_host(self, node: str) -> SimHost:
        """The machine, which outlives its daemons."""
        if node not in self.hosts:
            self.hosts[node] = SimHost(node, self.rig)
        return self.hosts[node]

    def _open_journal(self, settings: Settings, clock: SimClock, log: logging.Logger) -> Journal:
        """A journal whose files are let go when the world is over; one whose daemon was killed would keep them open for ever."""
        journal = open_journal(settings.journal.file, clock, log=log)
        self.loop.on_close.append(journal.abandon)
        return journal

    def _open_database(self, node: str, settings: Settings, clock: SimClock, log: logging.Logger) -> Journal | None:
        """The site's, beside the nodes' own folders, where the settings lease roles."""
        if not settings.leases_roles:
            return None
        return self.database.open(node, settings.state.parent / "database.db", clock, log)

    def log(self, node: str) -> logging.Logger:
        """A logger whose lines go into the trace."""
        log = logging.getLogger(f"supernoded.sim.{node}")
        log.handlers[:] = [_Tracing(self.loop, node)]
        log.setLevel(logging.INFO)
        log.propagate = False
        self.loop.on_close.append(log.handlers.clear)  # loggers live for ever, and must not keep this world
        return log


class _Tracing(logging.Handler):
    def __init__(self, loop: SimLoop, who: str) -> None:
        super().__init__()
        self._loop, self._who = loop, who

    def emit(self, record: logging.LogRecord) -> None:
        self._loop.trace(self._who, record.levelname, record.getMessage())


def _open_wires(rig: Rig | None, node: str, settings: Settings, pen: Pen) -> Callable[[str], Wires]:
    del settings  # a simulated rack has no reflex process
    system = SystemWires(pen, devices=Devices())
    return system.owned_by if rig is None else RigWires(rig, node, pen, system).owned_by
