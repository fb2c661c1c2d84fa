"""The crash explorer: kill, or pause, a process before its k-th turn within a window, for every k.

A scene plays the same world again and again; one `Crash` differs. What came of it is judged on the world's own truth. A harness
is only worth what it can catch: its tests break the daemon on purpose and must see it (canaries), and count where crashes fell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

from sim_hardware.loop.process import Process
from sim_hardware.loop.simloop import SimLoop


class How(Enum):
    """What happens to the process."""

    KILL = "kill"  # as kill -9, and started again after a while
    PAUSE = "pause"  # as SIGSTOP, and SIGCONT after a while


@dataclass
class Crash:
    """One crash: before turn `k` of the process within `window` (virtual seconds); `k` = 0 only counts the turns."""

    how: How
    k: int
    window: tuple[float, float]
    back_after: float  # seconds until it is started again or goes on
    turns: int = 0  # of the window, as far as the process lived to take them
    at: float | None = None  # when it happened
    second_life: Process | None = field(default=None, repr=False)

    def arm(self, loop: SimLoop, process: Process, restart: Callable[[], Process]) -> None:
        """Watch every turn of this incarnation. `restart` starts the next one."""

        def before(process: Process) -> None:
            if self.at is not None or not self.window[0] <= loop.time() <= self.window[1]:
                return
            self.turns += 1
            if self.turns == self.k:
                self.at = loop.time()
                self._strike(loop, process, restart)

        process.before_turn = before

    def _strike(self, loop: SimLoop, process: Process, restart: Callable[[], Process]) -> None:
        loop.trace("crash", self.how.value, str(process), self.k)
        if self.how is How.PAUSE:
            loop.pause(process)
            loop.after(self.back_after, loop.resume, process)
            self.second_life = process
            return
        loop.kill(process)

        def revive() -> None:
            self.second_life = restart()

        loop.after(self.back_after, revive)
