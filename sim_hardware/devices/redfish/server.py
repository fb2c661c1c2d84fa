"""A Redfish service on a port; it is at /redfish/v1/ there."""

from __future__ import annotations

from collections.abc import Callable

from sim_hardware.devices.http import HttpDevice
from sim_hardware.devices.panel import Impairment, Panel
from sim_hardware.devices.redfish.board import Board, Later, call_later
from sim_hardware.devices.redfish.service import Service
from sim_hardware.devices.redfish.sessions import Sessions
from sim_hardware.devices.redfish.tree import Tree
from sim_hardware.devices.redfish.words import Body

Fit = Callable[[Board, Tree], Body]  # puts one kind of equipment into the tree, and gives back what the service root links to

USER, PASSWORD = "admin", "simulated"


class RedfishDevice(HttpDevice):
    """A controller that speaks Redfish over HTTP, without TLS; see `sim_hardware.devices.panel.Device`."""

    def __init__(self, name: str, panel: Panel, fit: Fit, *, login: tuple[str, str] = (USER, PASSWORD), later: Later = call_later) -> None:
        impairment = Impairment()
        self.board = Board(panel, impairment, later)
        self.service = Service(self.board, Sessions(self.board, name, login), name, lambda tree: fit(self.board, tree))
        super().__init__(name, self.service, impairment, f"redfish/{name}")

    def is_closed(self) -> bool:
        """See `HttpDevice.is_closed`; it has no power, or restarts."""
        return super().is_closed() or self.board.is_away()
