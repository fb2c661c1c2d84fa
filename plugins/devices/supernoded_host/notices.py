"""Notices for people: one file per action, whole or not at all, never two for one action."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from urllib.parse import quote

import msgspec

from supernoded.plugin import Action, Effect, Sight, Tree, WireError

LONGEST_NAME = 200  # bytes; file systems allow 255


class Notice(msgspec.Struct, frozen=True, kw_only=True):
    """What stands in the file."""

    action: str
    incident: str
    at: float  # seconds since the epoch
    subject: str
    sentence: str


class Notices:
    """Performs `notify` for every subject by writing a file that others may pick up."""

    kinds = frozenset({"notify"})
    targets: Sequence[str] = ("*",)

    def __init__(self, tree: Tree, most: int) -> None:
        self._tree, self._most = tree, most

    async def apply(self, action: Action) -> None:
        """Write the notice and let the oldest go beyond the bound. Raises WireError."""
        notice = Notice(
            action=action.id, incident=action.incident, at=action.issued, subject=action.step.target, sentence=action.step.reason
        )
        text = msgspec.json.format(msgspec.json.encode(notice)).decode()
        await self._tree.order(action.scope, name_file(action.id), text + "\n")
        await self._tree.trim(action.scope, "", self._most)

    async def observe(self, action: Action) -> Sight:
        """Whether the file is there."""
        name = name_file(action.id)
        try:
            found = (await self._tree.read_all([name])).get(name)
        except WireError as error:
            return Sight(effect=Effect.UNKNOWN, text=str(error))
        if found is None:
            return Sight(effect=Effect.ABSENT, text=f"no notice {name}")
        if isinstance(found, WireError):
            return Sight(effect=Effect.UNKNOWN, text=str(found))
        return Sight(effect=Effect.PRESENT, text=f"notice {name} is written")


def name_file(action: str) -> str:
    """The file of an action, from its id alone; two ids never share one."""
    name = quote(action, safe="")
    if len(name) > LONGEST_NAME:
        name = f"{name[:100]}-{hashlib.sha256(action.encode()).hexdigest()}"
    return f"{name}.json"
