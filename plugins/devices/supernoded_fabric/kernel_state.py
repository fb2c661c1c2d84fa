"""What the kernel has said so far: how often links went down, and what still stands against an adapter. Live and replayed alike.

A flag of `nic.health` stands until the driver says that it is over, or for ten minutes after it was last said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from supernoded.plugin import Reading, make_reading
from supernoded_fabric.kernel_lines import DOWN, LOST, Said

HOLD_S = 600.0  # seconds; ours
MOST_NAMES = 512  # links and adapters that are kept apart; a machine has some dozens

Subject = Callable[[str, str], str]  # interface and PCI address, either may be empty -> subject


class _Link:
    """Downs of one link as each teller counts them: the driver and the network daemon both tell of the same ones."""

    def __init__(self) -> None:
        self.downs, self.losses = 0, 0

    def count(self) -> float:
        return float(max(self.downs, self.losses))


class _Adapter:
    """The flags that stand, and when each was last said."""

    def __init__(self) -> None:
        self.flags: dict[str, float] = {}
        self.text = ""


class KernelState:
    """Takes findings in the order of the log."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._links: dict[str, _Link] = {}
        self._adapters: dict[str, _Adapter] = {}

    def expect(self, subjects: Iterable[str]) -> None:
        """Links that exist: they have been down 0 times, so that the first time is seen as one more."""
        for subject in subjects:
            if len(self._links) < MOST_NAMES:
                self._links.setdefault(subject, _Link())

    def take(self, said: Said, at: float) -> str:
        """Take one finding in, and say of which subject it is; empty when it is one too many to keep."""
        subject = self._subject(said.interface, said.pci)
        if said.link in {DOWN, LOST} and (subject in self._links or len(self._links) < MOST_NAMES):
            link = self._links.setdefault(subject, _Link())
            link.downs += said.link == DOWN
            link.losses += said.link == LOST
        if (said.raised or said.recovered) and (subject in self._adapters or len(self._adapters) < MOST_NAMES):
            adapter = self._adapters.setdefault(subject, _Adapter())
            adapter.flags = {flag: since for flag, since in adapter.flags.items() if flag not in said.recovered}
            adapter.flags |= dict.fromkeys(said.raised, at)
            adapter.text = said.text if said.raised else adapter.text
        return subject

    def expire(self, at: float) -> list[str]:
        """Let go of flags that were not said for long; the subjects that changed."""
        changed = []
        for subject, adapter in self._adapters.items():
            standing = {flag: since for flag, since in adapter.flags.items() if at - since < HOLD_S}
            if len(standing) < len(adapter.flags):
                adapter.flags = standing
                changed.append(subject)
        return changed

    def show(self, at: float) -> Iterator[Reading]:
        """Everything."""
        for subject in sorted({*self._links, *self._adapters}):
            yield from self.show_one(subject, at)

    def show_one(self, subject: str, at: float) -> Iterator[Reading]:
        """What there is of one subject."""
        link, adapter = self._links.get(subject), self._adapters.get(subject)
        if link is not None:
            yield make_reading(subject, "link.downed", link.count(), "1", at)
        if adapter is not None:
            yield make_reading(subject, "nic.health", frozenset(adapter.flags), "flags", at, adapter.text if adapter.flags else "")
