"""The last word of a rule on each port, so that it is judged anew only when there is something new to see."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Generic, TypeVar

from supernoded.plugin import Verdict, View
from supernoded_link_ber.gallery import Gallery
from supernoded_link_ber.looking import Glimpse

FORGET = 7 * 86_400.0  # seconds after which a port that is no longer read is forgotten, ours

M = TypeVar("M")
Judge = Callable[[Glimpse, M | None], tuple[M | None, Verdict | None]]


class Recall(Generic[M]):
    """The last word of one rule on every port that it is about: the same look with the same memory has the same answer."""

    def __init__(self, gallery: Gallery, kind: str, about: Iterable[str]) -> None:
        self._gallery, self._kind, self._about = gallery, kind, frozenset(about)
        self._now = 0.0
        self._words: dict[str, tuple[int, M | None, Verdict | None]] = {}  # port -> mark, memory after it, verdict

    def look(self, seen: View) -> Sequence[Glimpse]:
        """Every port, as of now."""
        self._now = seen.now
        return self._gallery.look(seen, self._kind)

    def ask(
        self,
        glimpses: Iterable[Glimpse],
        memories: Mapping[str, M],
        judge: Judge[M],
        date: Callable[[M], float] | None = None,
    ) -> tuple[dict[str, M], list[Verdict]]:
        """What is remembered of ports from now on (None = nothing), and the word on each.

        `date` = when a memory was last of use: that of a port which is no longer read is kept for a week.
        """
        words, after, verdicts, now = self._words, dict[str, M](), list[Verdict](), self._now
        self._words = {}
        for glimpse in glimpses:
            if self._about.isdisjoint(glimpse.quantities):
                continue
            port = glimpse.port
            before, known = memories.get(port), words.get(port)
            if known is None or known[0] != glimpse.mark or known[1] is not before:
                known = glimpse.mark, *judge(glimpse, before)
            self._words[port] = known
            _, memory, verdict = known
            if memory is not None:
                after[port] = memory
            if verdict is not None:
                verdicts.append(verdict)
        for port, memory in memories.items():
            if port not in self._words and (date is None or now - date(memory) < FORGET):
                after[port] = memory
        return after, verdicts
