"""The programs of a simulated site, as faults see them."""

from __future__ import annotations

from pathlib import Path

from sim_hardware.drives.site import SimSite

BROKER = "broker"


class SimSoftware:
    """See `sim_hardware.rig.Software`. The settings of the daemons are in `folder`, a file a node."""

    def __init__(self, site: SimSite, folder: Path) -> None:
        self._site, self._folder = site, folder

    def kill(self, name: str) -> None:
        """See `Software.kill`."""
        if not self.runs(name):
            return
        if name == BROKER:
            self._site.broker.stop()
        else:
            self._site.loop.kill(self._site.loop.processes[name])

    def start(self, name: str) -> None:
        """See `Software.start`."""
        if self.runs(name):
            return
        if name == BROKER:
            self._site.broker.start()
        elif (config := self._folder / f"{name}.toml").exists():
            self._site.start(name, config)

    def runs(self, name: str) -> bool:
        """See `Software.runs`."""
        process = self._site.broker.process if name == BROKER else self._site.loop.processes.get(name)
        return process is not None and not process.dead
