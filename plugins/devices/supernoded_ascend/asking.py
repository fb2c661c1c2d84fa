"""Running a tool: whatever goes wrong is a WireError with one clear reason."""

from __future__ import annotations

import re
from collections.abc import Container

from supernoded.plugin import Command, WireError, quote

MOST_SAID = 2_000  # characters of an answer in which a refusal is looked for
_GONE = re.compile(r"invalid (card|device|npu) ?id|device does not exist|no such device", re.IGNORECASE)


class BusyError(WireError):
    """A device was still answering somebody else of us: nothing is known of it, and nothing is wrong with it."""


class GoneError(WireError):
    """The driver answers, and says that it has no such card."""


async def ask(command: Command, *words: str, within: float, codes: Container[int] = (0,)) -> str:
    """What the tool printed. Raises WireError: absent, too slow, ended with another code, printed too much."""
    answer = await command.run(*words, within=within)
    if answer.code not in codes:
        said = " ".join(f"{answer.out[:MOST_SAID]} {answer.err[:MOST_SAID]}".split())
        raise WireError(f"{' '.join(words)}: ended with code {answer.code} and said {quote(said) if said else 'nothing'}")
    if answer.truncated:
        raise WireError(f"{' '.join(words)}: printed more than is taken, {len(answer.out)} characters and no end")
    return answer.out


async def ask_card(command: Command, *words: str, within: float) -> str:
    """The same about one card. Raises GoneError when the driver denies that there is such a one, with whatever code."""
    try:
        text = await ask(command, *words, within=within)
    except WireError as error:
        _look_for_denial(str(error))
        raise
    _look_for_denial(text[:MOST_SAID])
    return text


def _look_for_denial(said: str) -> None:
    if _GONE.search(said):
        raise GoneError(f"the driver says {quote(' '.join(said.split()))}")


def is_absent(error: WireError) -> bool:
    """Whether there is no such program, or none that we may start: the same for every device."""
    return isinstance(error.__cause__, FileNotFoundError | PermissionError)
