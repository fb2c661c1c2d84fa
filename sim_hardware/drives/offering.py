"""The fault catalogue as the scenario core wants it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import msgspec

from sim_hardware.faults.catalogue import CATALOGUE
from sim_hardware.faults.kind import Kind
from supernoded.chaos.catalogue import Danger
from supernoded.parts import Fidelity


@dataclass(frozen=True)
class Offered:
    """See `supernoded.chaos.catalogue.FaultKind`."""

    one: Kind[Any]

    @property
    def kind(self) -> str:
        """See `FaultKind.kind`."""
        return self.one.kind

    @property
    def text(self) -> str:
        """See `FaultKind.text`."""
        return self.one.text

    @property
    def parameters(self) -> type[msgspec.Struct]:
        """See `FaultKind.parameters`."""
        return self.one.parameters

    @property
    def targets(self) -> tuple[str, ...]:
        """See `FaultKind.targets`."""
        return self.one.targets

    @property
    def takes_out(self) -> bool:
        """See `FaultKind.takes_out`."""
        return self.one.takes_out

    @property
    def undoable(self) -> bool:
        """See `FaultKind.undoable`."""
        return self.one.undoable

    @property
    def danger(self) -> Danger:
        """See `FaultKind.danger`."""
        return self.one.danger

    def fidelity(self, drive: str) -> Fidelity:
        """See `FaultKind.fidelity`."""
        return Fidelity(self.one.layers.get(drive, "absent"))


FAULTS: Mapping[str, Offered] = MappingProxyType({name: Offered(kind) for name, kind in CATALOGUE.items()})
