"""What a bundle of evidence is made of: readings, kernel lines, what the journal has, jobs, and the settings that are no secret."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from supernoded.cards.bundle import to_lines
from supernoded.cards.evidence import Gather
from supernoded.cards.subjects import find_node, find_slot
from supernoded.holds import is_within
from supernoded.journal import queries
from supernoded.journal.writer import Journal
from supernoded.model import Reading
from supernoded.settings import Settings
from supernoded.wire import Host

MOST_KERNEL = 1_000  # lines (ours)
MOST_ROWS = 200  # events, incidents or actions (ours)
READER = "evidence"  # our place in the kernel's log


def choose(readings: Iterable[Reading], card: str) -> list[Reading]:
    """What was read of a card, its parts, its node and the ranks, without the node's other cards; oldest first."""
    node = find_node(card)
    chosen = [reading for reading in readings if _concerns(reading.subject, card, node)]
    return sorted(chosen, key=lambda reading: (reading.at, reading.subject, reading.quantity, reading.source))


def _concerns(subject: str, card: str, node: str) -> bool:
    if is_within(subject, card) or subject.startswith("job/"):
        return True
    part = "/".join(subject.split("/")[:2])
    return find_node(subject) == node and find_slot(part) is None


def tell_settings(settings: Settings) -> bytes:
    """What bears on a judgement. Secrets are in files that are only named; a plugin's own table is left away all the same."""
    told = {
        name: msgspec.to_builtins(getattr(settings, name), enc_hook=str)
        for name in (
            "node",
            "cluster",
            "mode",
            "maintenance",
            "plugins_off",
            "guards",
            "incidents",
            "breakers",
            "hooks",
            "roles",
            "policies",
        )
    }
    return msgspec.json.format(msgspec.json.encode(told), indent=2)


class Kernel:
    """The kernel's lines since this life began, the newest: the log itself may be overrun by the time that it is asked for."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._lines: deque[str] = deque(maxlen=MOST_KERNEL)

    async def look(self) -> None:
        """Take in what is new; the first look begins. Raises WireError where the log may not be read."""
        self._lines.extend(await self._host.kernel_lines(READER))

    async def tell(self, card: str) -> bytes:
        """All of them: which card a line is about only people know."""
        del card
        await self.look()
        return "".join(f"{line}\n" for line in self._lines).encode(errors="replace")


def list_sources(
    settings: Settings,
    journal: Journal,
    kernel: Kernel,
    history: Callable[[], Sequence[Reading]],
    jobs: Callable[[], Sequence[msgspec.Struct]],
) -> Mapping[str, Gather]:
    """File name -> who writes it."""

    async def tell_readings(card: str) -> bytes:
        return to_lines(choose(history(), card))

    async def tell_events(card: str) -> bytes:
        return to_lines([row for one in _about(card) for row in (await journal.ask(queries.events(one))).rows[::-1]])

    async def tell_incidents(card: str) -> bytes:
        return to_lines([row for one in _about(card) for row in (await journal.ask(queries.incidents(one))).rows[::-1]])

    async def tell_actions(card: str) -> bytes:
        return to_lines([row for one in _about(card) for row in (await journal.ask(queries.actions(one))).rows[::-1]])

    async def tell_jobs(card: str) -> bytes:
        del card
        return to_lines(jobs())

    async def tell_public(card: str) -> bytes:
        del card
        return tell_settings(settings)

    return {
        "readings.jsonl": tell_readings,
        "kernel.txt": kernel.tell,
        "events.jsonl": tell_events,
        "incidents.jsonl": tell_incidents,
        "actions.jsonl": tell_actions,
        "jobs.jsonl": tell_jobs,
        "settings.json": tell_public,
    }


def _about(card: str) -> tuple[queries.Filter, ...]:
    """Of its node, of itself and of its parts."""
    return tuple(queries.Filter(subject=pattern, limit=MOST_ROWS) for pattern in (find_node(card), card, f"{card}/*"))
