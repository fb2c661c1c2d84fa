"""The API server on a port."""

from __future__ import annotations

from sim_hardware.devices.http import HttpDevice
from sim_hardware.devices.kubernetes.service import Service
from sim_hardware.devices.panel import Impairment, Panel
from sim_hardware.devices.reading import read

NAME, TOKEN = "kubernetes", "simulated-token"


class ApiServer(HttpDevice):
    """See `sim_hardware.devices.panel.Device`; without TLS, which is not what is tried here."""

    def __init__(self, panel: Panel) -> None:
        names = [node.name for node in panel.rack.nodes]
        self.service = Service(names, TOKEN, lambda name: read(panel, name, "node.power") == "on")
        super().__init__(NAME, self.service, Impairment(), NAME)
