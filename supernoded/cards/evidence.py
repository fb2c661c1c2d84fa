"""What is kept of a trouble before anything is changed: gathered within seconds, partial rather than late, with a hash of each piece."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from supernoded.cards.bundle import Manifest, hash_bytes, pack
from supernoded.cards.errands import SOON, Errands
from supernoded.cards.shelf import Shelf
from supernoded.clock import Clock
from supernoded.errors import WireError
from supernoded.journal.rows import clean
from supernoded.model import Action, Effect, Sight
from supernoded.supervisor import bounded
from supernoded.wire.hop import Hop

EACH = 2.0  # seconds for what one source has to say, all asked at once; with packing and keeping it is 5 s in all (ours)
PACK = 1.5  # seconds to pack it

Gather = Callable[[str], Awaitable[bytes]]  # subject -> one file of the bundle


class CaptureActuator:
    """`card.capture` on this node's cards. `sources` = file name -> who writes it."""

    kinds = frozenset({"card.capture"})

    def __init__(
        self, node: str, cards: tuple[str, ...], shelf: Shelf, sources: Mapping[str, Gather], serial_of: Callable[[str], str], clock: Clock
    ) -> None:
        self.targets = cards
        self._node, self._shelf, self._sources, self._serial_of, self._clock = node, shelf, sources, serial_of, clock
        self._errands, self._packing = Errands(clock), Hop()

    async def apply(self, action: Action) -> None:
        """Begin; `observe` says when it is there."""
        self._errands.begin(action.id, self._capture(action))
        await self._errands.wait(action.id, SOON)

    async def observe(self, action: Action) -> Sight:
        """Whether the bundle is there and its hash holds."""
        errand = self._errands.find(action.id)
        if errand is not None and errand.running:
            return Sight(effect=Effect.UNKNOWN, text="evidence is being gathered")
        manifest = await self._shelf.find(action.incident, action.step.target)
        if manifest is None:
            return Sight(effect=Effect.ABSENT, text=errand.trouble if errand is not None and errand.trouble else "no evidence is kept yet")
        without = f"; without {'; '.join(manifest.missing)}" if manifest.missing else ""
        archive = self._shelf.place(action.incident, action.step.target)[1]
        text = f"{archive}: {len(manifest.members)} files, {manifest.size:,} bytes, SHA-256 {manifest.sha256[:12]}{without}"
        return Sight(effect=Effect.PRESENT, text=text)

    def stop(self) -> None:
        """Give up what is under way."""
        self._errands.stop()

    async def _capture(self, action: Action) -> str:
        subject, at = action.step.target, self._clock.now()
        files, missing = await self._gather(subject)
        if not files:
            raise WireError(f"no evidence of {subject} could be gathered: {'; '.join(missing)}")
        archive, members = await self._packing.run("packing evidence", lambda: pack(files, at), PACK)
        manifest = Manifest(
            incident=action.incident,
            subject=subject,
            serial=self._serial_of(subject),
            node=self._node,
            at=at,
            reason=clean(action.step.reason),
            archive=self._shelf.place(action.incident, subject)[1].name,
            size=len(archive),
            sha256=hash_bytes(archive),
            members=members,
            missing=tuple(map(clean, missing)),
        )
        return str(await self._shelf.put(manifest, archive))

    async def _gather(self, subject: str) -> tuple[dict[str, bytes], tuple[str, ...]]:
        asked = [bounded(_ask(gather, subject), EACH, name) for name, gather in self._sources.items()]
        answers = await asyncio.gather(*asked, return_exceptions=True)
        files = {name: answer for name, answer in zip(self._sources, answers, strict=True) if isinstance(answer, bytes)}
        missing = tuple(f"{name} ({answer})" for name, answer in zip(self._sources, answers, strict=True) if not isinstance(answer, bytes))
        return files, missing


async def _ask(gather: Gather, subject: str) -> bytes:
    return await gather(subject)
