"""What the UPS-MIB lets a manager do: tests of the battery, shutdown and start."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

from sim_hardware.devices.snmp.cells import ordering, take_whole
from sim_hardware.devices.snmp.mib import Cell, Commit, SetError, Status
from sim_hardware.devices.snmp.ups_card import TREE, UpsCard
from sim_hardware.devices.snmp.words import MOST, Asn, Oid, number, text, ticks
from sim_hardware.plant.power.orders import StartTest, StopTest
from sim_hardware.plant.words import Order

# upsWellKnownTests
_TESTS: Oid = (*TREE, 7, 7)
_NONE, _ABORT, _GENERAL, _QUICK, _DEEP = ((*_TESTS, test) for test in range(1, 6))
# upsTestResultsSummary; RFC 1628 has no word for "unknown", and cards then say that there was none
_RESULTS = {"passed": 1, "failed": 3, "aborted": 4, "running": 5, "none": 6}
_LONGEST_REBOOT_S = 300  # RFC 1628


class _Tests:
    """The newest test that was asked for."""

    def __init__(self, card: UpsCard) -> None:
        self.card, self.test, self.lock = card, _NONE, 0
        self.started: float | None = None
        self.took_s = 0.0

    def show_elapsed(self) -> Asn:
        """Hundredths of a second; stands still at the end of the test."""
        if self.started is not None and self._running():
            self.took_s = self.card.front.now() - self.started
        return number(round(self.took_s * 100.0))

    def _running(self) -> bool:
        return self.card.gauges.read("ups.test_result") == "running"

    def write(self, value: Asn) -> Commit:
        """A SET of upsTestId. Raises SetError."""
        if value.kind != "oid" or not isinstance(value.value, tuple):
            raise SetError(Status.WRONG_TYPE)
        order = self._make_order(value.value)
        if value.value != _ABORT and self._running():
            raise SetError(Status.INCONSISTENT_VALUE)
        return ordering(partial(self._start, value.value, order))

    def _make_order(self, test: Oid) -> Order:
        ups = self.card.ups
        if test == _ABORT:
            return StopTest(ups=ups)
        if test not in {_GENERAL, _QUICK, _DEEP}:
            raise SetError(Status.WRONG_VALUE)
        return StartTest(ups=ups, kind="calibration" if test == _DEEP else "selftest")

    def _start(self, test: Oid, order: Order) -> None:
        self.card.front.order(order)
        if test != _ABORT:
            self.test, self.started, self.took_s = test, self.card.front.now(), 0.0

    def take_lock(self, value: Asn) -> Commit:
        """A SET of upsTestSpinLock, a TestAndIncr (RFC 2579): only its present value may be written. Raises SetError."""
        if take_whole(value, 0, MOST) != self.lock:
            raise SetError(Status.INCONSISTENT_VALUE)

        def commit() -> None:
            self.lock = (self.lock + 1) % 2**31

        return commit


def list_test(card: UpsCard) -> Iterator[Cell]:
    """The group upsTest."""
    group, tests, read = (*TREE, 7), _Tests(card), card.gauges.read
    yield Cell((*group, 1, 0), lambda: Asn("oid", tests.test), tests.write)
    yield Cell((*group, 2, 0), lambda: number(tests.lock), tests.take_lock)
    yield Cell((*group, 3, 0), lambda: number(_RESULTS.get(str(read("ups.test_result")), _RESULTS["none"])))
    yield Cell((*group, 4, 0), lambda: text(""))
    yield Cell((*group, 5, 0), lambda: ticks(tests.started or 0.0))
    yield Cell((*group, 6, 0), tests.show_elapsed)


def list_control(card: UpsCard) -> Iterator[Cell]:
    """The group upsControl. A countdown is read as its seconds left, and as -1 when there is none."""
    group, shutdown = (*TREE, 8), card.shutdown
    yield card.shutdown_type.cell((*group, 1, 0))
    yield Cell((*group, 2, 0), lambda: number(_count(card, shutdown.off_at)), partial(_shut_down, card))
    yield Cell((*group, 3, 0), lambda: number(_count(card, shutdown.on_at)), partial(_start_up, card))
    yield Cell((*group, 4, 0), lambda: number(-1), partial(_reboot, card))
    yield card.auto_restart.cell((*group, 5, 0))


def _count(card: UpsCard, at: float) -> int:
    return -1 if at == math.inf else round(max(0.0, at - card.front.now()))


def _timing(card: UpsCard, act: Commit) -> Commit:
    """What is done to the timers, which the UPS has and not its card: a card whose orders go nowhere leaves them."""
    return ordering(lambda: None if card.front.impairment.idle_orders else act())


def _shut_down(card: UpsCard, value: Asn) -> Commit:
    """Off after so many seconds, and on again by itself if upsAutoRestart says so; -1 stops the countdown."""
    seconds = take_whole(value, -1, MOST)
    if seconds < 0:
        return _timing(card, card.shutdown.stop)
    return _timing(card, lambda: card.shutdown.start(float(seconds), 0.0 if card.auto_restart.whole == 1 else None))


def _start_up(card: UpsCard, value: Asn) -> Commit:
    """On after so many seconds, whatever a countdown to off does meanwhile; -1 stops it."""
    seconds = take_whole(value, -1, MOST)
    return _timing(card, card.shutdown.stop_on if seconds < 0 else partial(card.shutdown.start_on, float(seconds)))


def _reboot(card: UpsCard, value: Asn) -> Commit:
    """Off at once, and on again after so many seconds; -1 stops it."""
    seconds = take_whole(value, -1, _LONGEST_REBOOT_S)
    if seconds < 0:
        return _timing(card, card.shutdown.stop)
    return _timing(card, lambda: card.shutdown.start(0.0, float(seconds)))
