"""The programs and machines of a simulated site, as faults see them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import tomli_w
from msgspec import toml

from sim_hardware.devices.tools.gauges import read_text
from sim_hardware.drives.site import SimSite
from sim_hardware.faults.storage import read_vault
from sim_hardware.loop import Process

BROKER, DATABASE = "broker", "database"
LOOK_S = 1.0  # between two looks whether a node has booted


class SimSoftware:
    """See `sim_hardware.rig.Software`. The settings of the daemons are in `folder`, a file a node."""

    def __init__(self, site: SimSite, folder: Path, start_vault: Callable[[str], None] | None = None) -> None:
        self._site, self._folder, self._start_vault = site, folder, start_vault
        self._dark: dict[str, None] = {}

    def kill(self, name: str) -> None:
        """See `Software.kill`."""
        if not self.runs(name):
            return
        if name == BROKER:
            self._site.broker.stop()
        elif name == DATABASE:
            self._site.database.stop()
        else:
            self._site.loop.kill(self._site.loop.processes[name])

    def start(self, name: str) -> None:
        """See `Software.start`; on a machine that is dark nothing is started."""
        if self.runs(name) or name in self._dark:
            return
        if name == BROKER:
            self._site.broker.start()
        elif name == DATABASE:
            self._site.database.start()
        elif (node := read_vault(name)) and self._start_vault is not None:
            if node not in self._dark:
                self._start_vault(node)
        elif (config := self._folder / f"{name}.toml").exists():
            self._site.start(name, config)

    def runs(self, name: str) -> bool:
        """See `Software.runs`."""
        process = self._find(name)
        return process is not None and not process.dead

    def pause(self, name: str, *, paused: bool) -> None:
        """See `Software.pause`."""
        process = self._find(name)
        if process is not None and not process.dead and process.paused is not paused:
            (self._site.loop.pause if paused else self._site.loop.resume)(process)

    def is_paused(self, name: str) -> bool:
        """See `Software.is_paused`."""
        process = self._find(name)
        return process is not None and process.paused and not process.dead

    def cut(self, one: str, other: str, *, apart: bool) -> None:
        """See `Software.cut`; the hosts have the names of what runs there."""
        (self._site.net.partition if apart else self._site.net.heal)(one, other)

    def are_apart(self, one: str, other: str) -> bool:
        """See `Software.are_apart`."""
        return self._site.net.apart(one, other)

    def darken(self, node: str, *, dark: bool) -> None:
        """See `Software.darken`; it comes back when its node has booted."""
        if dark is (node in self._dark):
            return
        if not dark:
            self._boot(node)
            return
        self._dark[node] = None
        self._site.net.isolate(node)  # first, so that no connection is ended from here
        for process in [one for one in self._site.loop.processes.values() if one.host == node and not one.dead]:
            self._site.loop.kill(process)

    def is_dark(self, node: str) -> bool:
        """See `Software.is_dark`."""
        return node in self._dark

    def set_clock(self, node: str, seconds: float, *, restart: bool) -> None:
        """See `Software.set_clock`."""
        clock = self._site.clocks.get(node)
        if clock is None:
            return
        clock.jump += seconds - clock.error
        if restart and self.runs(node):
            self.kill(node)
            self.start(node)

    def find_clock_error(self, node: str) -> float:
        """See `Software.find_clock_error`."""
        clock = self._site.clocks.get(node)
        return 0.0 if clock is None else clock.error

    def double(self, node: str, *, there: bool) -> None:
        """See `Software.double`. The other machine has the node's settings, and folders of its own."""
        twin, config = _name_twin(node), self._folder / f"{node}.toml"
        if not there:
            self.kill(twin)
        elif not self.runs(twin) and config.exists():
            home = self._folder / twin
            settings = toml.decode(config.read_text(encoding="utf-8")) | {"state": str(home), "runtime": str(home / "run")}
            copy = self._folder / f"{twin}.toml"
            copy.write_text(tomli_w.dumps(settings), encoding="utf-8")
            self._site.start(node, copy, machine=twin)

    def is_doubled(self, node: str) -> bool:
        """See `Software.is_doubled`."""
        return self.runs(_name_twin(node))

    def rewind(self, seconds: float) -> None:
        """See `Software.rewind`; the broker is started anew, and knows nobody's session."""
        if not seconds and not self.is_rewound():
            return
        self._site.broker.stop(keep_sessions=False)
        self._site.broker.rewind(seconds)
        self._site.broker.start()

    def is_rewound(self) -> bool:
        """See `Software.is_rewound`."""
        return self._site.broker.is_rewound()

    def _find(self, name: str) -> Process | None:
        if name == BROKER:
            return self._site.broker.process
        return self._site.database.process if name == DATABASE else self._site.loop.processes.get(name)

    def _boot(self, node: str) -> None:
        """Start all of a machine once its node is up; looked at again and again, as it may stay off."""
        if node not in self._dark:
            return
        if self._site.rig is not None and read_text(self._site.rig.world, node, "node.power", "") != "on":
            self._site.loop.after(LOOK_S, self._boot, node)
            return
        del self._dark[node]
        self._site.net.rejoin(node)
        self._site.boot(node)
        self.start(node)


def _name_twin(node: str) -> str:
    return f"{node}-twin"
