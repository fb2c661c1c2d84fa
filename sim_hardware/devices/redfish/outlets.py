"""What can be done to one outlet of a PDU."""

from __future__ import annotations

from dataclasses import dataclass, field

from sim_hardware.devices.redfish.asking import refuse_others, take_number, take_word
from sim_hardware.devices.redfish.board import Board
from sim_hardware.devices.redfish.gauges import show_health
from sim_hardware.devices.redfish.words import Body, Deed, RefusalError
from sim_hardware.plant.power.orders import CycleOutlet, SwitchOutlet
from sim_hardware.rack.shape import Pdu

SHOWS_AFTER_S = 1.0  # from an accepted order until `PowerState` follows (ours: the card polls its outlets once a second)
LONGEST_DELAY_S = 7200.0  # ours
_ON, _OFF, _CYCLE = "PowerOnDelaySeconds", "PowerOffDelaySeconds", "PowerCycleDelaySeconds"
_STATES = {"on": "On", "off": "Off"}
_SHOWN = ("Name", "PowerState", "PowerEnabled", "UserLabel", "Voltage", "CurrentAmps", "PowerWatts", "EnergykWh", "Status", "Actions")


@dataclass(frozen=True)
class Style:
    """How a maker names outlets and the target of their action, and which states it takes."""

    prefix: str
    target: str
    states: tuple[str, ...]

    def name(self, number: int) -> str:
        """An outlet's id."""
        return f"{self.prefix}{number}"


STYLES = {
    "dmtf": Style("A", "Outlet.PowerControl", ("On", "Off", "PowerCycle")),  # as in DMTF's mock-ups
    "cray": Style("AA", "Actions/Outlet.PowerControl", ("On", "Off")),
}


@dataclass
class OutletControl:
    """One outlet."""

    board: Board
    pdu: Pdu
    number: int
    style: Style
    delays: dict[str, float] = field(default_factory=lambda: {_ON: 0.0, _OFF: 0.0, _CYCLE: 5.0})

    @property
    def id(self) -> str:
        """Its id in the tree."""
        return self.style.name(self.number)

    @property
    def _subject(self) -> str:
        return f"pdu/{self.pdu.name}/outlet{self.number}"

    def show(self) -> Body:
        """What of it can change."""
        state = self.board.read(self._subject, "outlet.state").value
        shown = _STATES.get(state) if isinstance(state, str) else None
        return {
            "PowerState": shown,
            "PowerEnabled": None if shown is None else shown == "On",
            "PowerControlLocked": self.board.read(self._subject, "outlet.locked").value == 1,
            "Status": show_health(shown),
            **self.delays,
        }

    def set_delays(self, body: Body) -> Deed:
        """PATCH of the outlet."""
        refuse_others(body, *self.delays, shown=_SHOWN)
        wanted = {key: take_number(body, key, 0.0, LONGEST_DELAY_S) for key in body if key in self.delays}
        return lambda: self.delays.update(wanted)

    def switch(self, body: Body) -> Deed:
        """The action. A locked outlet stays as it is."""
        refuse_others(body, "PowerState")
        state = take_word(body, "PowerState", self.style.states)
        if self.board.read(self._subject, "outlet.locked").value == 1:
            raise RefusalError(409, "ResourceInUse", f"outlet {self.id} is locked out; take the lock away at the PDU first")
        return lambda: self._do(state)

    def _do(self, state: str) -> None:
        pdu = self.pdu.name
        self.board.read(self._subject, "outlet.state")
        if state == "PowerCycle":
            self.board.order(CycleOutlet(pdu, self.number, self.delays[_CYCLE]))
        else:
            on = state == "On"
            self.board.order(SwitchOutlet(pdu, self.number, on, self.delays[_ON if on else _OFF]))
        self.board.hold(self._subject, "outlet.state", SHOWS_AFTER_S)
