"""Running `nvidia-smi`: for the whole node, or one card by itself, and never both at a time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager

import msgspec

from supernoded.plugin import WireError, Wires
from supernoded_nvidia.losses import find_losses, find_reason

INVALID = 2  # the tool's exit code for an argument that it does not know, by its manual page
PATIENCE = 20.0  # seconds that one sensor waits for the other to be done with the tool; ours
GRACE = 1.0  # seconds that a killed program is given to end


class Told(msgspec.Struct, frozen=True):
    """What came of asking: what was printed, the cards that the tool calls lost with its reasons, and why there is no more."""

    printed: str = ""
    lost: Mapping[str, str] = {}
    trouble: str = ""
    is_refused: bool = False  # it does not know the question, of whatever card


def measure_longest(within: float) -> float:
    """The most seconds that one question takes: the wait for the tool, the run for all cards, and those for each."""
    return PATIENCE + 2 * (within + GRACE)


class Smi:
    """The tool. Runs of single cards go side by side, so that one card that hangs costs only itself."""

    def __init__(self, wires: Wires, argv: Sequence[str], within: float) -> None:
        self._wires, self._argv, self._within = wires, tuple(argv), within
        self._free = asyncio.Lock()

    @asynccontextmanager
    async def reserved(self) -> AsyncIterator[None]:
        """Nobody else of this plugin asks meanwhile: no card is asked by two runs at a time. Raises WireError."""
        try:
            async with asyncio.timeout(PATIENCE):
                await self._free.acquire()
        except TimeoutError as error:
            raise WireError(f"{self._argv[0]}: the last question is not answered after {PATIENCE:g} s; no further one is asked") from error
        try:
            yield
        finally:
            self._free.release()

    async def ask_all(self, *arguments: str) -> Told:
        """One run for every card."""
        return await self._run(self._argv, arguments)

    async def ask_each(self, buses: Iterable[str], verb: Sequence[str], *arguments: str) -> Mapping[str, Told]:
        """One run for each card: `nvidia-smi [verb] -i <bus id> [arguments]`."""
        wanted = list(buses)
        told = await asyncio.gather(*(self._run((*self._argv, *verb, "-i", bus), arguments) for bus in wanted))
        return dict(zip(wanted, told, strict=True))

    async def _run(self, argv: Sequence[str], arguments: Sequence[str]) -> Told:
        try:
            answer = await self._wires.command(argv).run(*arguments, within=self._within)
        except WireError as error:
            return Told(trouble=str(error))
        lost = find_losses(f"{answer.out}\n{answer.err}")
        if answer.code != 0:
            return Told(answer.out, lost, find_reason(answer.code, answer.out, answer.err), answer.code == INVALID)
        return Told(answer.out, lost, "its output was longer than what is read of it" if answer.truncated else "")


async def ask(smi: Smi, known: Iterable[str], verb: Sequence[str], arguments: Sequence[str], end: str = "") -> Mapping[str, Told]:
    """What the tool says, by bus id, and for all at once under an empty one.

    A run that fails, calls a card lost or does not show `end` is followed by one for each other card by itself; a question that the tool
    does not know is not.
    """
    whole = await smi.ask_all(*verb, *arguments)
    is_whole = not whole.trouble and not whole.lost and end in whole.printed
    if is_whole or whole.is_refused:
        return {"": whole}
    found = {bus: Told(lost={bus: why}) for bus, why in whole.lost.items()}
    singles = await smi.ask_each([bus for bus in known if bus not in found], verb, *arguments)
    return {**found, **singles}
