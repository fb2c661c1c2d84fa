"""A half-duplex line as its sole owner has it: one request outstanding, what comes late is drained, and a shed goes before all else."""

from __future__ import annotations

from collections import Counter
from typing import Protocol

from supernoded.reflex.arithmetic import pace_of
from supernoded.reflex.frames import MOST, has_right_crc
from supernoded.reflex.port import Port
from supernoded.settings.reflex import ReflexLine
from supernoded.wire.reflex import Came

NEVER, ALWAYS = float("inf"), float("-inf")
REST = 0.2  # seconds after a broadcast till ordinary requests are let in again (safety rule 24)


class Asker(Protocol):
    """Whoever has a request outstanding."""

    @property
    def request(self) -> bytes:
        """What is sent."""
        ...

    @property
    def longest(self) -> int:
        """Bytes of the longest answer; 0 = none is due."""
        ...

    def take(self, came: bytearray, count: int, now: float) -> bool:
        """Look at what has come so far; True when it is all that will come, which has then been dealt with."""
        ...

    def give_up(self, came: Came, now: float) -> None:
        """Nothing more will come: `silence`, `corrupt`, `echo` or `lost`."""
        ...


class OwnedLine:
    """One line. Nothing here waits; the one who runs it says what time it is."""

    def __init__(self, settings: ReflexLine, slack: float) -> None:
        """`slack` s beyond the arithmetic are allowed to an answer, since this process may be late itself."""
        self.settings, self.slack = settings, slack
        self.pace = pace_of(settings)
        self.port: Port | None = None
        self.trouble = "it is not open yet"  # while there is no port
        self.asker: Asker | None = None
        self.counts: Counter[str] = Counter()
        self.free_at = ALWAYS  # when the silence behind what passed last is over, so that a shed may be said
        self.calm_at = ALWAYS  # when nothing can come any more of what was asked before
        self.asked = self.last_at = self.ends_at = ALWAYS
        self.is_ended = False  # the silence behind an answer without a length of its own has passed
        self._came = bytearray(2 * MOST)
        self._view = memoryview(self._came)
        self._count = 0
        self._echo_left = 0  # bytes of our own that are still to be heard

    @property
    def fd(self) -> int:
        """What can be waited for; -1 when the line is not open."""
        return -1 if self.port is None else self.port.fd

    def is_free(self, now: float) -> bool:
        """Whether a shed may be said now."""
        return self.port is not None and self.asker is None and now >= self.free_at

    def is_calm(self, now: float) -> bool:
        """Whether an ordinary request may be said now."""
        return self.is_free(now) and now >= self.calm_at

    def find_next(self) -> float:
        """When there is something to be done though nothing comes."""
        if self.asker is None:
            return max(self.free_at, self.calm_at)
        gap = self.last_at + self._gap if self.asker.longest == MOST and self._count else NEVER
        return min(self.ends_at, gap)

    def ask(self, asker: Asker, now: float, latest: float = 0.0) -> None:
        """Say a request. `latest` s from now on its answer can no longer come."""
        self.asked, self.is_ended, self._count, self._echo_left = now, False, 0, 0
        answer = self.pace.time_bytes(asker.longest) + self.settings.turnaround_ms / 1e3 if asker.longest else 0.0
        said = now + self.pace.time_bytes(len(asker.request))
        self.ends_at = said + self.pace.silence + answer + self.settings.adapter_ms / 1e3 + self.slack
        self.calm_at = now + max(latest, self.settings.latest_ms / 1e3) if asker.longest else said + latest
        self.asker = asker
        if not self._say(asker.request, now):
            return
        self._echo_left = len(asker.request) if self.settings.echo else 0
        if not asker.longest:
            asker.take(self._came, 0, now)
            self.asker = None

    def shout(self, frame: bytes, now: float) -> bool:
        """Say the shed. Whether it was handed over; whoever asks has seen to it that the line is free."""
        self._count, self._echo_left = 0, len(frame) if self.settings.echo else 0
        self.calm_at = now + self.pace.time_bytes(len(frame)) + REST
        return self._say(frame, now)

    def hear(self, now: float) -> None:
        """Take what has come; who asked is told as soon as it is whole."""
        if self.port is None:
            return
        try:
            got = self.port.read_into(self._view[self._count :])
        except BlockingIOError:
            return
        except OSError as error:
            self.lose(str(error), now)
            return
        if got == 0:
            self.lose("the other side is gone", now)
            return
        self.last_at, self.free_at = now, now + self.pace.silence
        self._count += got
        if self._echo_left and not self._strip_echo(now):
            return
        self._deal(now)

    def tick(self, now: float) -> None:
        """What time alone brings: the end of a frame without a length of its own, and the end of patience."""
        asker = self.asker
        if asker is None:
            return
        if asker.longest == MOST and self._count and now >= self.last_at + self._gap and has_right_crc(self._came, self._count):
            self.is_ended = True
            asker.take(self._came, self._count, now)
            self._finish(now)
        elif now > self.ends_at:
            self._drain("corrupt" if self._count else "silence", now)

    def lose(self, why: str, now: float) -> None:
        """The device is gone; somebody may open it anew."""
        if self.port is not None:
            self.port.close()
            self.port = None
        self.counts["losses"] += 1
        self.trouble = why
        if self.asker is not None:
            self._drain("lost", now)

    @property
    def _gap(self) -> float:
        return self.pace.silence + self.settings.adapter_ms / 1e3

    def _say(self, data: bytes, now: float) -> bool:
        if self.port is None:
            return False
        self.free_at = now + self.pace.time_bytes(len(data)) + self.pace.silence
        try:
            if self.port.write(data) == len(data):
                return True
            self.lose("it takes no bytes", now)
        except OSError as error:
            self.lose(str(error), now)
        return False

    def _deal(self, now: float) -> None:
        if self.asker is None:
            self.counts["strays"] += self._count
            self._count = 0
        elif now > self.ends_at:
            self.counts["late"] += 1
            self._drain("silence", now)
        elif self.asker.take(self._came, self._count, now):
            self._finish(now)
        elif self._count > self.asker.longest:
            self._drain("corrupt", now)

    def _finish(self, now: float) -> None:
        """All has come that was asked for: nothing needs to be drained."""
        self.asker, self._count = None, 0
        self.calm_at = self.free_at = now + self.pace.silence

    def _drain(self, came: Came, now: float) -> None:
        """What comes from now on belongs to nobody, till `calm_at`."""
        asker, self.asker = self.asker, None
        self.counts[came] += 1
        self._count = 0
        self.calm_at = max(self.calm_at, now) + self._gap
        if asker is not None:
            asker.give_up(came, now)

    def _strip_echo(self, now: float) -> bool:
        """Take our own bytes off the front, once all are there. Whether there is anything left to look at."""
        said = self._echo_left
        if self._count < said:
            return False
        if self.asker is not None and self._view[:said] != self.asker.request:
            self._echo_left = 0
            self._drain("echo", now)
            return False
        self._came[: self._count - said] = self._came[said : self._count]
        self._count, self._echo_left = self._count - said, 0
        return self._count > 0
