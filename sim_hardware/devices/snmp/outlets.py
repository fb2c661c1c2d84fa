"""The outlets of a PDU as its management card knows them: late."""

from __future__ import annotations

import math
from enum import Enum

from sim_hardware.devices.panel import Panel
from sim_hardware.devices.snmp.cells import Setting
from sim_hardware.devices.snmp.front import Gauges
from sim_hardware.devices.snmp.words import Unknown, number, text
from sim_hardware.plant.chance import draw, start_chance
from sim_hardware.plant.power.orders import CycleOutlet, SwitchOutlet
from sim_hardware.plant.words import OrderError

SHOWN_AFTER_S = (1.5, 2.5)  # until a GET shows what a SET did: seen with APC's cards
RELAY_S = 0.1  # from the card's word to the relay; ours


class Command(Enum):
    """What an outlet can be told; the numbers differ by tree."""

    ON = "on"
    OFF = "off"
    REBOOT = "reboot"
    DELAYED_ON = "delayed on"
    DELAYED_OFF = "delayed off"
    DELAYED_REBOOT = "delayed reboot"
    CANCEL = "cancel"


_LATER = {Command.DELAYED_ON: Command.ON, Command.DELAYED_OFF: Command.OFF, Command.DELAYED_REBOOT: Command.REBOOT}


class Plug:
    """One outlet: its settings, its delayed command, and how long an old state is still shown."""

    def __init__(self, gauges: Gauges, load: str) -> None:
        self.gauges = gauges
        self.name = Setting(text(load), most=32)
        self.on_time, self.off_time = Setting(number(0), most=7200), Setting(number(0), most=7200)  # s
        self.reboot_time = Setting(number(5), low=5, most=60)  # s
        self.due, self.command = math.inf, Command.CANCEL
        self.old: tuple[float, bool | None] = (-math.inf, None)  # until when, which


class Outlets:
    """All outlets of a PDU. `run` does what was delayed, at `due`."""

    def __init__(self, panel: Panel, pdu: str, unknown: Unknown = "minus-one", seed: int = 0) -> None:
        self.panel, self.pdu = panel, pdu
        self.table = {table.name: table for table in panel.rack.pdus}[pdu]
        self.gauges = Gauges(panel, f"pdu/{pdu}", unknown)
        self.name = Setting(text(f"pdu-{pdu}"), most=32)
        self.plugs = {outlet.number: Plug(self._gauges(outlet.number, unknown), outlet.load) for outlet in self.table.outlets}
        self.refused: OrderError | None = None  # what the plant said to the last delayed command, which has nobody to tell
        self._chance = start_chance(seed, f"pdu/{pdu}/snmp/shown")

    def _gauges(self, outlet: int, unknown: Unknown) -> Gauges:
        return Gauges(self.panel, f"pdu/{self.pdu}/outlet{outlet}", unknown)

    @property
    def due(self) -> float:
        """When the first delayed command is to be done."""
        return min((plug.due for plug in self.plugs.values()), default=math.inf)

    def is_on(self, outlet: int) -> bool | None:
        """Whether the card shows it as on; None when it does not know."""
        plug = self.plugs[outlet]
        until, old = plug.old
        if self.panel.now() < until:
            return old
        state = plug.gauges.read("outlet.state")
        return state == "on" if state in {"on", "off"} else None

    def is_pending(self, outlet: int) -> bool:
        """Whether a command waits, or has not shown yet."""
        plug = self.plugs[outlet]
        return plug.due < math.inf or self.panel.now() < plug.old[0]

    def tell(self, outlet: int, command: Command) -> None:
        """Give a command; it takes the place of one that waits. Raises OrderError when it is for now and the plant refuses."""
        plug = self.plugs[outlet]
        plug.due = math.inf
        if command is Command.CANCEL:
            return
        if command in _LATER:
            delay = plug.on_time if command is Command.DELAYED_ON else plug.off_time
            plug.due, plug.command = self.panel.now() + delay.whole, _LATER[command]
            return
        self._do(outlet, command)

    def run(self) -> None:
        """Do what is due. A refusal is kept in `refused`."""
        for outlet, plug in self.plugs.items():
            if plug.due <= self.panel.now():
                plug.due = math.inf
                try:
                    self._do(outlet, plug.command)
                except OrderError as error:
                    self.refused = error

    def _do(self, outlet: int, command: Command) -> None:
        plug, before = self.plugs[outlet], self.is_on(outlet)
        if command is Command.REBOOT:
            self.panel.order(CycleOutlet(pdu=self.pdu, outlet=outlet, off_s=float(plug.reboot_time.whole)))
        else:
            self.panel.order(SwitchOutlet(pdu=self.pdu, outlet=outlet, on=command is Command.ON, delay_s=RELAY_S))
        self._chance, share = draw(self._chance)
        soonest, latest = SHOWN_AFTER_S
        plug.old = (self.panel.now() + soonest + share * (latest - soonest), before)
