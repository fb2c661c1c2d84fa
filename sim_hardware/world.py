"""The plant in time: it goes on by itself, its sensors may be sick, and what happens to it is kept."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence

from sim_hardware.pathology import Late, Pathology, SickSensor, Swap
from sim_hardware.plant.site import Site, advance, apply, sense, start
from sim_hardware.plant.words import Happening, Order, Value
from sim_hardware.rack import Rack

Watch = Callable[[Happening], None]

KEPT = 100_000  # happenings


class World:
    """One plant on one clock; the panel of all devices (`devices.panel.Panel`).

    `now` gives seconds of the plant's time, from 0. `happened` is what happened so far, oldest first, the newest `KEPT`.
    """

    def __init__(self, rack: Rack, seed: int, now: Callable[[], float]) -> None:
        self.rack = rack
        self.happened: deque[Happening] = deque(maxlen=KEPT)
        self.watches: list[Watch] = []
        self._now = now
        self._site: Site = start(rack, seed)
        self._due = self._site.next_time
        self._sick: dict[tuple[str, str], SickSensor] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._running = False

    def now(self) -> float:
        """See `Panel.now`."""
        return self._now()

    @property
    def site(self) -> Site:
        """The plant as it is now."""
        now = self._now()
        if now >= self._due:
            self._catch_up(now)
        return self._site

    def truth(self, subject: str, quantity: str) -> Value:
        """What is so. Raises UnknownSensorError."""
        return sense(self.site, subject, quantity)

    def sense(self, subject: str, quantity: str) -> Value:
        """See `Panel.sense`."""
        sick = self._sick.get((subject, quantity))
        if sick is None:
            return sense(self.site, subject, quantity)
        if isinstance(sick.pathology, Swap):
            return sense(self.site, sick.pathology.with_, quantity)
        return sick.show(self._now(), sense(self.site, subject, quantity))

    def order(self, order: Order) -> None:
        """See `Panel.order`."""
        site = self.site
        self._take(apply(site, max(self._now(), site.at), order))
        self._wind()

    def sicken(self, subject: str, quantity: str, pathology: Pathology) -> None:
        """Make a sensor sick. Raises UnknownSensorError, also for the one that it is swapped with."""
        if isinstance(pathology, Swap):
            sense(self.site, pathology.with_, quantity)
        self._sick[subject, quantity] = SickSensor(pathology, self._now(), sense(self.site, subject, quantity))

    def cure(self, subject: str, quantity: str) -> None:
        """Make it well again."""
        self._sick.pop((subject, quantity), None)

    def run(self) -> None:
        """Let the plant go on by itself on the running loop, until `close`. Otherwise it goes on when it is looked at."""
        self._running = True
        self._wind()

    def close(self) -> None:
        """Let it stand still between two looks."""
        self._running = False
        if self._timer is not None:
            self._timer.cancel()

    def _wind(self) -> None:
        """Wake up at the next thing that happens by itself."""
        if not self._running:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(max(self._due - self._now(), 0.0), self._go_on)

    def _go_on(self) -> None:
        self._catch_up(max(self._now(), self._due))
        self._wind()

    def _catch_up(self, now: float) -> None:
        """Step by step, as watches and late sensors want to have seen every one."""
        while self._due <= now:
            self._take(advance(self._site, self._due))

    def _take(self, site: Site) -> None:
        self._site, self._due = site, site.next_time
        for (subject, quantity), sick in self._sick.items():
            if isinstance(sick.pathology, Late):
                sick.note(site.at, sense(site, subject, quantity))
        self._tell(site.happened)

    def _tell(self, happened: Sequence[Happening]) -> None:
        self.happened += happened
        for happening in happened:
            for watch in self.watches:
                watch(happening)
