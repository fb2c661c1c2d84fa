"""What can be done to cards and nodes. Subjects: `n0`, `n0/card3`."""

from __future__ import annotations

from sim_hardware.plant.words import Order

# by devices that were told to, and by hands


class CapCard(Order, frozen=True):
    """Hold a card's power below so many watts; None is uncapped. Its clock follows."""

    card: str
    watts: float | None


class ResetCard(Order, frozen=True):
    """Reset a card; it is away for 8 s."""

    card: str


class IsolateCard(Order, frozen=True):
    """Take a card out of service, or back: a rank on it cannot go on."""

    card: str
    isolated: bool


class ReplaceCard(Order, frozen=True):
    """Put another card into a slot."""

    card: str
    serial: str


class PowerNode(Order, frozen=True):
    """Switch a node on or off by its BMC. It is up 60 s after being switched on."""

    node: str
    on: bool


# by faults; each is lifted by its other value


class StormEcc(Order, frozen=True):
    """A card corrects so many memory errors a second, and has had so many uncorrectable ones; 0 and 0 is none."""

    card: str
    corrected_per_s: float = 0.0
    uncorrectable: int = 0


class HangCard(Order, frozen=True):
    """A card answers no query and computes nothing."""

    card: str
    hung: bool


class FallOff(Order, frozen=True):
    """A card has fallen off its bus."""

    card: str
    off: bool


class SlowCard(Order, frozen=True):
    """A card computes slower by so many percent; 0 is none."""

    card: str
    percent: float


class RaiseCode(Order, frozen=True):
    """A card shows a health code, such as 80E01801, or no longer."""

    card: str
    code: str
    present: bool


class LeakMemory(Order, frozen=True):
    """A card's used memory grows by so many bytes a second; 0 is none."""

    card: str
    bytes_per_s: float


class BrakePower(Order, frozen=True):
    """A card's power brake holds its clock at 30 %, as after an input that was out of range."""

    card: str
    on: bool
