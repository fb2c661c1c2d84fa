"""Reading a panel as firmware does: whatever a sensor shows, the tool goes on, and prints what it prints for no value."""

from __future__ import annotations

from sim_hardware.devices.panel import Panel
from sim_hardware.devices.reading import read
from sim_hardware.devices.tools.words import StuckError

MOST = 1e15  # nothing on a card is greater; a driver's integers end well above


def read_number(panel: Panel, subject: str, quantity: str) -> float | None:
    """A number within reason, or None; NaN is within nothing."""
    value = read(panel, subject, quantity)
    return float(value) if isinstance(value, int | float) and abs(value) <= MOST else None


def read_text(panel: Panel, subject: str, quantity: str, missing: str = "NA") -> str:
    """One line of text, or the word for none."""
    value = read(panel, subject, quantity)
    return value.strip().splitlines()[0].encode(errors="replace").decode() if isinstance(value, str) and value.strip() else missing


def read_flags(panel: Panel, subject: str, quantity: str) -> frozenset[str] | None:
    """A set of flags, or None."""
    value = read(panel, subject, quantity)
    return value if isinstance(value, frozenset) else None


def show(value: float | None, pattern: str = ".0f", missing: str = "NA") -> str:
    """A number in a pattern, or the word for none."""
    return missing if value is None else format(value, pattern)


def count_cards(panel: Panel, node: str) -> int:
    """Slots of a node; none of one that is not on the rack."""
    return next((one.cards for one in panel.rack.nodes if one.name == node), 0)


def is_present(panel: Panel, node: str, slot: int) -> bool:
    """Whether a card is on the bus. A presence that nobody can read is taken for one: the driver has it in its list."""
    return read(panel, f"{node}/card{slot}", "card.present") != 0.0


def find_present(panel: Panel, node: str) -> list[int]:
    """The slots whose cards are on the bus."""
    return [slot for slot in range(count_cards(panel, node)) if is_present(panel, node, slot)]


def touch(panel: Panel, card: str) -> str:
    """The card's subject, once it has answered. Raises StuckError when it hangs."""
    if read(panel, card, "card.hung") == 1.0:
        raise StuckError(card)
    return card


def find_bus(slot: int) -> str:
    """The PCI address of a slot."""
    return f"0000:{0x11 + 3 * slot:02X}:00.0"
