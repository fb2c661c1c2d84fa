"""The drive `sim` for authors of plugins: one whole daemon, alone in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import create_engine

from sim_hardware.drives.site import SimSite
from sim_hardware.loop import SimLoop
from sim_hardware.loop.play import virtual_time
from supernoded.journal import queries
from supernoded.registry import Found, discover
from supernoded.settings import Settings
from supernoded.testing.trial import Trial

MOST = 10_000  # rows of each kind
SETTINGS = """\
node = "n0"
state = "{folder}/state"
runtime = "{folder}/run"
mqtt.host = "broker"
plugins.fabric.infiniband = "{folder}/infiniband"
plugins.fabric.ethernet = "{folder}/net"
"""


@dataclass(frozen=True)
class Player:
    """See `supernoded.testing.trial.PlayDaemon`."""

    folder: Path
    seed: int = 1

    def __call__(
        self,
        plugins: Mapping[str, object],
        settings: str = "",
        *,
        seconds: float = 60.0,
        script: Mapping[float, Callable[[], object]] | None = None,
    ) -> Trial:
        """See `PlayDaemon.__call__`."""
        config = self.folder / "supernoded.toml"
        config.write_text(SETTINGS.format(folder=self.folder) + settings)
        loop = SimLoop(self.seed)

        def find(settings: Settings) -> list[Found]:
            ours = [found for found in discover(settings.plugins_off) if found.name not in plugins]
            return sorted([*ours, *(Found(name=name, plugin=one) for name, one in plugins.items())], key=lambda found: found.name)

        async def main() -> None:
            site = SimSite(loop, find)
            site.broker.start()
            for at, call in (script or {}).items():
                loop.at(at, call)
            site.start("n0", config)
            await asyncio.sleep(seconds)

        with virtual_time(loop):
            loop.run_until_complete(main())
            if loop.failures:
                raise AssertionError(f"failures that nobody heard: {loop.failures}")
            log = [entry.what for entry in loop.entries if entry.who == "n0"]
            return _look(self.folder / "state" / "journal.db", log)


def _look(journal: Path, log: list[str]) -> Trial:
    engine, everything = create_engine(f"sqlite:///{journal}"), queries.Filter(limit=MOST)
    try:
        with engine.connect() as connection:
            deeds = [*queries.actions(everything)(connection).rows, *queries.rehearsals(everything)(connection).rows]
            return Trial(
                readings=queries.readings(everything)(connection).rows[::-1],
                events=queries.events(everything)(connection).rows[::-1],
                incidents=queries.incidents(everything)(connection).rows[::-1],
                actions=sorted(deeds, key=lambda deed: deed.action.issued),
                log=log,
            )
    finally:
        engine.dispose()
