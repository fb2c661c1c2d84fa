"""What a driver's names mean here."""

from __future__ import annotations

from collections.abc import Mapping


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
