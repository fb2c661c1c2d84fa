"""Which roles this node holds. A site without a database fixes them in its settings; leased ones come with the cluster's database."""

from __future__ import annotations

from collections.abc import Mapping

from supernoded.model import NODE


class FixedSeats:
    """The roles that the settings give to this node, for as long as it runs."""

    def __init__(self, node: str, roles: Mapping[str, str]) -> None:
        self._node, self._roles = node, dict(roles)

    @property
    def held(self) -> list[str]:
        """The roles of this node, sorted."""
        return sorted(role for role, node in self._roles.items() if node == self._node)

    @property
    def roles(self) -> Mapping[str, str]:
        """Every role that has a seat, and the node that holds it."""
        return self._roles

    def find_refusal(self, scope: str) -> str | None:
        """Why this node may not write for a scope; None = it may. Asked by the pen, so it answers at once."""
        if scope == NODE or self._roles.get(scope) == self._node:
            return None
        holder = self._roles.get(scope)
        return f"the settings give {scope} to {holder}" if holder else f"the settings give {scope} to nobody"
