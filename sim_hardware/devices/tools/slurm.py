"""What a workload manager has written down of its nodes: who drained which, and why. Pure, but that it can be changed."""

from __future__ import annotations

from dataclasses import dataclass, field

MOST_REASON = 1024  # characters (ours)


@dataclass(frozen=True)
class Entry:
    """One node. `at` is the plant's time at which the reason was set."""

    drained: bool = False
    down: bool = False  # marked so by somebody; a node that does not answer is so by itself
    reason: str = ""
    by: str = ""
    at: float = 0.0


@dataclass
class Slurm:
    """The book of a site. `aliases` are the manager's own names for our nodes, where they differ; `denied` = it takes no orders from us."""

    entries: dict[str, Entry] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)  # its name -> ours
    denied: bool = False
    user: str = "slurm"  # in whose name the tool runs

    def find(self, node: str) -> Entry:
        """What is written of a node."""
        return self.entries.get(node, Entry())

    def drain(self, node: str, reason: str, by: str = "", at: float = 0.0) -> None:
        """Take no more jobs there; the reason takes the place of the one before, whoever set that."""
        self._write(node, self.find(node), reason, by, at, drained=True)

    def mark_down(self, node: str, reason: str, by: str = "", at: float = 0.0) -> None:
        """Take no more jobs there, and end those that run."""
        self._write(node, self.find(node), reason, by, at, down=True)

    def explain(self, node: str, reason: str, by: str = "", at: float = 0.0) -> None:
        """Another reason, and nothing else."""
        self._write(node, self.find(node), reason, by, at)

    def undrain(self, node: str, *, resume: bool = False) -> None:
        """Take jobs again; a node that was marked down stays so unless it is resumed."""
        entry = self.find(node)
        stays = entry.down and not resume
        self.entries[node] = Entry(down=True, reason=entry.reason, by=entry.by, at=entry.at) if stays else Entry()

    def _write(self, node: str, entry: Entry, reason: str, by: str, at: float, *, drained: bool = False, down: bool = False) -> None:
        self.entries[node] = Entry(entry.drained or drained, entry.down or down, reason[:MOST_REASON], by or self.user, at)
