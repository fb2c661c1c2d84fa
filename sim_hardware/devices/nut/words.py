"""Lines of the protocol as words, set apart by white space; quotes hold it, and a backslash takes the next letter as it is."""

from __future__ import annotations

import re
from collections.abc import Iterator


class RefusalError(Exception):
    """The request is refused with this word, such as UNKNOWN-UPS."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def split_words(line: str) -> list[str]:
    """The words of a line. Raises RefusalError when a quote stays open, as upsd takes no such line."""
    return list(_walk(iter(line)))


def _walk(letters: Iterator[str]) -> Iterator[str]:
    word: list[str] | None = None
    quoted = False
    for letter in letters:
        if letter == "\\":
            word = word or []
            word.append(next(letters, ""))
        elif letter == '"':
            quoted = not quoted
            word = word or []
        elif letter.isspace() and not quoted:
            if word is not None:
                yield "".join(word)
            word = None
        else:
            word = word or []
            word.append(letter)
    if quoted:
        raise RefusalError("UNKNOWN-COMMAND")
    if word is not None:
        yield "".join(word)


def quote(text: str) -> str:
    """The text in quotes. What would end the line becomes a space."""
    return '"' + re.sub(r'([\\"])', r"\\\1", re.sub(r"[\x00-\x1f\x7f]", " ", text)) + '"'
