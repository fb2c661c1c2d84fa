"""From looks to frames: the one loop of the process, in one thread. Nothing on its path makes a container, logs, or waits for a disk."""

from __future__ import annotations

import logging
import select
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from supernoded.reflex.deciding import FIRE, WAIT, WORDS, Trip
from supernoded.reflex.lending import Lending
from supernoded.reflex.line import OwnedLine
from supernoded.reflex.looks import ContactLook, RegisterLook
from supernoded.reflex.opening import Opener
from supernoded.reflex.record import Firing

LONGEST_TURN = 0.2  # seconds that may pass before the process looks whether it shall stop


def wait_readable(fds: list[int], seconds: float) -> list[int]:
    """Which of these have something to read, within so many seconds; poll and epoll would round up to whole milliseconds."""
    return select.select(fds, (), (), seconds)[0]


@dataclass(eq=False)
class Shed:
    """A frame and the line it goes out on."""

    line: OwnedLine
    frame: bytes
    owed: bool = False  # it goes out as soon as the line is free
    out: bool = False  # it went out in the newest firing
    firings: int = 0
    delay_ms: float | None = None  # of its newest


@dataclass(eq=False)
class Bridge:
    """What looks, decides and fires. `clock` gives seconds; `took` is told of each firing, when it is over."""

    lines: Sequence[OwnedLine]
    registers: Sequence[RegisterLook]
    contacts: Sequence[ContactLook]
    trip: Trip
    sheds: Sequence[Shed]
    lendings: Sequence[Lending]
    opener: Opener
    took: Callable[[Firing], None]
    log: logging.Logger
    number: int = 0  # of the newest firing
    clock: Callable[[], float] = time.monotonic
    wait: Callable[[list[int], float], Sequence[int]] = wait_readable
    visitors: dict[int, Callable[[float], None]] = field(default_factory=dict)  # fd -> who deals with what comes there
    counts: Counter[str] = field(default_factory=Counter)
    _fds: list[int] = field(default_factory=list)
    _by_fd: dict[int, OwnedLine] = field(default_factory=dict)
    _began: float = 0.0  # when the bytes came that completed the trigger
    _onset: float = 0.0
    _told: str = WORDS[WAIT]

    def turn(self) -> None:
        """One round: what is due, then what comes, within `LONGEST_TURN`."""
        now = self.clock()
        self._care(now)
        for contact in self.contacts:
            if now >= contact.due:
                contact.ask(now)
        self.decide(now)
        for index, line in enumerate(self.lines):
            line.tick(now)
            self._feed(line, self.lendings[index], now)
        self._wait(now)

    def decide(self, now: float) -> None:
        """Judge the feeds, and fire."""
        verdict = self.trip.judge(now)
        if verdict == FIRE:
            self._fire(now)
        elif verdict != WAIT:
            self.counts[WORDS[verdict]] += 1
        for shed in self.sheds:
            if shed.owed:
                self._pay(shed, now)

    def stop(self) -> None:
        """Give back every line."""
        for line in self.lines:
            if line.port is not None:
                line.port.close()
                line.port = None

    def refresh(self) -> None:
        """Another line is open, or another visitor is there."""
        self._by_fd = {line.fd: line for line in self.lines if line.port is not None}
        self._fds = [*self._by_fd, *self.visitors]

    def _fire(self, now: float) -> None:
        for shed in self.sheds:
            if shed.line.port is None:
                self.counts["blind"] += 1  # a shed opens every cord of its loads, or none (safety rule 5)
                self.trip.take_back()
                return
        self._began, self._onset = now, self.trip.find_onset()
        for shed in self.sheds:
            shed.owed, shed.out = True, False

    def _pay(self, shed: Shed, now: float) -> None:
        """Say what is owed, once the line is free and while it is not too late."""
        if now - self._onset > self.trip.deadline:
            shed.owed = False
            self.counts["late"] += 1
        elif shed.line.is_free(now):
            shed.owed = False
            if shed.line.shout(shed.frame, now):
                shed.out = True
                shed.delay_ms = 1e3 * (self.clock() - self._began)
                shed.firings += 1
        if not shed.owed:
            self._close()

    def _close(self) -> None:
        """When the last frame is out, say so to the record."""
        for shed in self.sheds:
            if shed.owed:
                return
        out = [shed for shed in self.sheds if shed.out]
        if not out:
            return
        self.number += 1
        self.counts["fired"] += 1
        firing = Firing(
            number=self.number,
            at=time.time(),
            feeds=tuple(look.trigger.feed for look in (*self.registers, *self.contacts)),
            lines=tuple(shed.line.settings.name for shed in out),
            delay_ms=max(shed.delay_ms or 0.0 for shed in out),
            age_ms=1e3 * (self._began - self._onset),
        )
        self.took(firing)

    def _feed(self, line: OwnedLine, lending: Lending, now: float) -> None:
        """Give a calm line its next request: a look that is due, else a poll of the daemon."""
        lending.expire(now)
        if not line.is_calm(now):
            return
        pending = False
        for look in self.registers:
            if look.line is line:
                if now >= look.due:
                    look.ask(now)
                    return
                pending = pending or look.flag.is_pending(now)
        if lending.waiting and not pending:
            lending.lend(now)

    def _wait(self, now: float) -> None:
        until = now + LONGEST_TURN
        for contact in self.contacts:
            until = min(until, contact.due)
        for index, line in enumerate(self.lines):
            until = min(until, self._find_next(line, self.lendings[index], now))
        for fd, line in self._by_fd.items():
            if line.fd != fd:
                self.refresh()  # it was lost in this very turn
                break
        ready = self.wait(self._fds, max(until - self.clock(), 0.0))
        woken = self.clock()
        for fd in ready:
            if (line_heard := self._by_fd.get(fd)) is not None:
                line_heard.hear(woken)
                self.decide(woken)
        for fd in ready:
            if (visitor := self.visitors.get(fd)) is not None:
                visitor(woken)

    def _find_next(self, line: OwnedLine, lending: Lending, now: float) -> float:
        """When this line wants us though nothing comes on it."""
        if line.port is None or line.asker is not None:
            return line.find_next() if line.asker is not None else float("inf")
        due = float("inf")
        for look in self.registers:
            if look.line is line:
                due = min(due, look.due)
        for shed in self.sheds:
            if shed.owed and shed.line is line:
                return line.free_at
        calm = line.find_next()
        return calm if lending.waiting and calm > now else max(calm, due)

    def _care(self, now: float) -> None:
        """Open what is lost, and say what has changed."""
        if self.opener.care(self.lines, now):
            self.refresh()
        newest = WORDS[self.trip.newest]
        if newest != self._told:
            self._told = newest
            self.log.info("the newest trigger: %s", newest)
