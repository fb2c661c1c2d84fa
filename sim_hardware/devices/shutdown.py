"""The timers of a UPS that was told to switch its output off, and perhaps to come back when the mains is there."""

from __future__ import annotations

import math

from sim_hardware.devices.panel import Panel
from sim_hardware.devices.reading import read
from sim_hardware.plant.power.orders import SetUpsMode, UpsMode
from sim_hardware.plant.words import OrderError

POLL_S = 1.0  # how often a UPS that is off looks for the mains; ours
MAINS = 0.85  # of the nominal voltage from which a UPS takes the mains for good; ours


class Shutdown:
    """One countdown to off and one to on, in the plant's seconds. All who speak for the UPS share it, and call `run` at `due`."""

    def __init__(self, panel: Panel, ups: str) -> None:
        self.panel, self.ups = panel, ups
        self.off_at = self.on_at = self._look_at = math.inf
        self.refused: OrderError | None = None  # what the plant said to the last order of a timer, which has nobody to tell
        self._mode: UpsMode = "normal"
        self._back_after: float | None = None

    @property
    def due(self) -> float:
        """When `run` has something to do."""
        return min(self.off_at, self.on_at, self._look_at)

    def start(self, off_after_s: float, back_after_s: float | None) -> None:
        """Switch off after a time; come back so long after the mains is there, or never when None. Off and on again even if it is there.

        Raises OrderError when that is at once and the plant refuses.
        """
        self.stop()
        self.off_at, self._back_after = self.panel.now() + off_after_s, back_after_s
        if off_after_s <= 0.0:
            self._switch_off()

    def start_on(self, after_s: float) -> None:
        """Switch on after a time, unless it is on by then; a countdown to off goes on. Raises OrderError as `start` does."""
        self.stop_on()
        self.on_at = self.panel.now() + after_s
        if after_s <= 0.0:
            self._switch_on()

    def stop(self) -> None:
        """Forget both countdowns."""
        self.off_at = math.inf
        self.stop_on()

    def stop_on(self) -> None:
        """Forget the countdown to on."""
        self.on_at = self._look_at = math.inf

    def run(self) -> None:
        """Do what is due. A refusal is kept in `refused`."""
        now = self.panel.now()
        try:
            if now >= self.off_at:
                self._switch_off()
            if now >= self._look_at:
                self._look()
            if now >= self.on_at:
                self._switch_on()
        except OrderError as error:
            self.refused = error

    def _switch_off(self) -> None:
        self.off_at = math.inf
        self._note_mode()
        if self._back_after is not None:
            self._look_at = self.panel.now() + POLL_S
        self.panel.order(SetUpsMode(ups=self.ups, mode="off"))

    def _look(self) -> None:
        """A UPS that cannot see its input takes the mains for there."""
        volts = read(self.panel, f"ups/{self.ups}", "ups.input_voltage")
        now = self.panel.now()
        if isinstance(volts, float | int) and volts < MAINS * self.panel.rack.sim.power.volts:
            self._look_at = now + POLL_S
        else:
            self._look_at, self.on_at = math.inf, now + (self._back_after or 0.0)

    def _switch_on(self) -> None:
        self.on_at = math.inf
        self._note_mode()
        self.panel.order(SetUpsMode(ups=self.ups, mode=self._mode))

    def _note_mode(self) -> None:
        """Keep the mode in which it is on, to come back to it."""
        mode = read(self.panel, f"ups/{self.ups}", "ups.mode")
        if mode != "off":
            self._mode = "eco" if mode == "eco" else "bypass" if mode == "bypass" else "normal"
