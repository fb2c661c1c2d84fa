"""Running a tool about one device: JSON before text, where it has both."""

from __future__ import annotations

import re
from collections.abc import Sequence

from supernoded.plugin import Command, WireError, quote

MOST_SAID = 2_000  # characters of an answer in which a reason is looked for
_HARMLESS = re.compile(r'-E-.*(?:is|are) not supported.*|\s*|-[WI]-.*|\s*"?--?\w.*not supported.*', re.IGNORECASE)


class Ways:
    """A question in several forms, the best first."""

    def __init__(self, *forms: Sequence[str]) -> None:
        self.forms = tuple(tuple(form) for form in forms)

    async def ask(self, command: Command, *words: str, within: float, first: int = 0) -> tuple[str, int]:
        """What it printed, and the form in which to ask this device from then on: the first that it answered. `first` = the last one.

        Raises WireError with the reason of the plainest form; a tool that did not run is asked only once.
        """
        for number, form in enumerate(self.forms[first:], first):
            try:
                text = await run(command, *form, *words, within=within)
            except RefusedError:
                if number == len(self.forms) - 1:
                    raise
            else:
                return text, number if text.strip() else first
        raise WireError(f"no question for {' '.join(words)}")


class RefusedError(WireError):
    """The tool ran, and said no."""


async def run(command: Command, *words: str, within: float) -> str:
    """What the tool printed. Raises RefusedError for another code than 0, WireError when it is absent, too slow or prints too much.

    A tool that has but one complaint, that the device does not support something, has said the rest.
    """
    answer = await command.run(*words, within=within)
    if answer.truncated:
        raise WireError(f"{' '.join(words)}: printed more than is taken, {len(answer.out)} characters and no end")
    if answer.code != 0 and not _has_said_the_rest(answer.out, answer.err):
        said = " ".join(f"{answer.err[:MOST_SAID]} {answer.out[:MOST_SAID]}".split())
        raise RefusedError(f"{' '.join(words)}: ended with code {answer.code} and said {quote(said) if said else 'nothing'}")
    return answer.out


def _has_said_the_rest(out: str, err: str) -> bool:
    complaints = [line for line in f"{out}\n{err}".splitlines() if line.lstrip().startswith("-E-")]
    rows = any(" : " in line for line in out.splitlines())
    return rows and bool(complaints) and all(_HARMLESS.fullmatch(line.strip()) for line in complaints)
