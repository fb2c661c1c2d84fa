"""Cards told as GPUs: what all views of `nvidia-smi` show of one."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from sim_hardware.devices.panel import Panel
from sim_hardware.devices.tools.gauges import find_bus, read_number, read_text, show, touch

NAME = "NVIDIA SIM-96GB"  # of a card whose chip is another vendor's
DRIVER, CUDA = "570.00.00", "12.8"
MISSING = "[N/A]"


@dataclass(frozen=True)
class Gpu:
    """One GPU of the node."""

    panel: Panel
    card: str
    slot: int

    @property
    def name(self) -> str:
        """Its product name."""
        chip = read_text(self.panel, self.card, "card.chip", "")
        return chip if chip.startswith("NVIDIA") else NAME

    @property
    def serial(self) -> str:
        """Its serial number."""
        return read_text(self.panel, self.card, "card.serial", MISSING)

    @property
    def uuid(self) -> str:
        """The same for the same serial number."""
        return f"GPU-{uuid.uuid5(uuid.NAMESPACE_OID, self.serial)}"

    @property
    def bus(self) -> str:
        """Its PCI address with the long domain."""
        return f"0000{find_bus(self.slot)}"

    @property
    def limit_watts(self) -> float:
        """Its cap, or what it may draw without one."""
        cap = read_number(self.panel, self.card, "card.cap")
        return self.panel.rack.sim.node.card_watts if cap is None else cap

    def show(self, quantity: str, pattern: str = ".0f", scale: float = 1.0, missing: str = MISSING) -> str:
        """One of its numbers, scaled."""
        value = read_number(self.panel, self.card, quantity)
        return show(None if value is None else value * scale, pattern, missing)

    def is_set(self, quantity: str) -> bool:
        """Whether a switch of it is on."""
        return read_number(self.panel, self.card, quantity) == 1.0


def list_gpus(panel: Panel, node: str, slots: list[int]) -> list[Gpu]:
    """Those of a node. Raises StuckError when one of them hangs."""
    return [Gpu(panel, touch(panel, f"{node}/card{slot}"), slot) for slot in slots]
