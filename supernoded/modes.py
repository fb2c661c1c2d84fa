"""How far each policy may go: what an operator has said, else the policy's own setting, else the node's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from supernoded.model import Mode, Said


class Modes:
    """The modes in force on this node. What an operator said outlives a restart, because the journal hands it in again."""

    def __init__(self, default: Mode, policies: Mapping[str, Mode], said: Iterable[Said] = ()) -> None:
        self.default = default
        self.settings = dict(policies)
        self.said = {word.policy: word for word in said}

    def of(self, policy: str) -> Mode:
        """The mode of one policy."""
        word = self.said.get(policy)
        return word.mode if word is not None else self.settings.get(policy, self.default)

    def say(self, word: Said) -> None:
        """An operator's word; it stands until the next one."""
        self.said[word.policy] = word
