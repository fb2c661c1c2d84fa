"""Running a tool about one device: JSON before text, where it has both."""

from __future__ import annotations

import re
from collections.abc import Sequence

from supernoded.plugin import Command, WireError
from supernoded_fabric.making import clip

MOST_SAID = 2_000  # characters of an answer in which a reason is looked for
_HARMLESS = re.compile(r'-E-.*(?:is|are) not supported.*|\s*|-[WI]-.*|\s*"?--?\w.*not supported.*', re.IGNORECASE)


class Ways:
    """A question in several forms, the best first. The first that a tool answers is the one it is asked in from then on."""

    def __init__(self, *forms: Sequence[str]) -> None:
        self._forms = tuple(tuple(form) for form in forms)

    async def ask(self, command: Command, *words: str, within: float) -> str:
        """What it printed. Raises WireError with the reason of the plainest form; a tool that did not run is asked only once."""
        for number, form in enumerate(self._forms):
            try:
                text = await run(command, *form, *words, within=within)
            except RefusedError:
                if number == len(self._forms) - 1:
                    raise
            else:
                self._forms = self._forms[number:] if text.strip() else self._forms
                return text
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
        raise RefusedError(f"{' '.join(words)}: ended with code {answer.code} and said {clip(said) if said else 'nothing'}")
    return answer.out


def _has_said_the_rest(out: str, err: str) -> bool:
    complaints = [line for line in f"{out}\n{err}".splitlines() if line.lstrip().startswith("-E-")]
    rows = any(" : " in line for line in out.splitlines())
    return rows and bool(complaints) and all(_HARMLESS.fullmatch(line.strip()) for line in complaints)
