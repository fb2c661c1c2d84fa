"""What a driver's names mean here."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from supernoded.plugin import WireError

Files = Mapping[str, str | WireError]

_SLOT = re.compile(r"^PCI_SLOT_NAME=(?P<pci>\S{1,40})$", re.ASCII | re.MULTILINE)


class Naming:
    """Subjects of ports and interfaces: as the settings map them, else below the node's `nic`."""

    def __init__(self, node: str, subjects: Mapping[str, str]) -> None:
        self._node, self._subjects = node, subjects

    def port(self, device: str, port: str) -> str:
        """The subject of a port of an HCA."""
        return self._subjects.get(f"{device}/{port}", f"{self._node}/nic/{device}/port{port}")

    def interface(self, name: str) -> str:
        """The subject of a network interface."""
        return self._subjects.get(name, f"{self._node}/nic/{name}")

    def is_mapped(self, name: str) -> bool:
        """Whether the settings name an interface, or the first port of an HCA."""
        return name in self._subjects or f"{name}/1" in self._subjects

    def adapter(self, pci: str) -> str:
        """The subject of an adapter that is known by its PCI address alone."""
        return f"{self._node}/nic/{pci or 'unnamed'}"


class Places:
    """Which interface and HCA is at which PCI address. `is_left_out` tells of names that the settings exclude."""

    def __init__(self, naming: Naming, is_left_out: Callable[[str], bool] = lambda _: False) -> None:
        self._naming, self._is_left_out = naming, is_left_out
        self._pci: dict[str, str] = {}  # of interfaces, by name
        self._at: dict[str, str] = {}  # PCI address -> subject
        self._mapped: set[str] = set()  # addresses of what the settings name

    def learn(self, interfaces: Files, hcas: Files) -> None:
        """From the `uevent` files by name. What the settings map goes first, then interfaces, then HCAs."""
        self._pci = {name: pci for name, text in interfaces.items() if (pci := _read_slot(text))}
        found = [(name, pci, self._naming.interface(name)) for name, pci in self._pci.items()]
        found += [(name, pci, self._naming.port(name, "1")) for name, text in hcas.items() if (pci := _read_slot(text))]
        wanted = [one for one in found if not self._is_left_out(one[0])]
        self._mapped = {pci for name, pci, _ in wanted if self._naming.is_mapped(name)}
        self._at = {}
        for _, pci, subject in sorted(wanted, key=lambda one: not self._naming.is_mapped(one[0])):
            self._at.setdefault(pci, subject)

    def subjects(self) -> list[str]:
        """Of every address, and of every interface that is read."""
        return list(dict.fromkeys((*self._at.values(), *(self.subject(name) for name in self._pci if self.is_wanted(name)))))

    def is_wanted(self, interface: str) -> bool:
        """Whether it is read, itself or under the name of an HCA."""
        return not self._is_left_out(interface) or self._naming.is_mapped(interface) or self._pci.get(interface) in self._at

    def subject(self, interface: str, pci: str = "") -> str:
        """What the settings map, by name or by address; then the interface's own name, then the address."""
        pci = pci or self._pci.get(interface, "")
        if interface and (self._naming.is_mapped(interface) or (pci not in self._mapped and not self._is_left_out(interface))):
            return self._naming.interface(interface)
        named = self._naming.interface(interface) if interface else self._naming.adapter(pci)
        return self._at.get(pci, named)


def _read_slot(text: str | WireError) -> str:
    found = _SLOT.search(text) if isinstance(text, str) else None
    return found["pci"].lower() if found is not None else ""
