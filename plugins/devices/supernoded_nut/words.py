"""The text of NUT's network protocol: lines of words, quoted where they hold spaces (docs/net-protocol.txt of NUT). Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from supernoded.plugin import Find, WireError, quote

MOST_LIST = 256 * 1024  # bytes of one list (ours; the longest of a metered PDU with 48 outlets have about 60 KiB)
_WORD = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"|([^\s"\\]+))(?=\s|$)', re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)

# What to do about a refusal; the codes are upsd's.
ADVICE = {
    "ACCESS-DENIED": "look at user and password_file, and at the user's actions and instcmds in upsd.users",
    "CMD-NOT-SUPPORTED": "its driver has no such command: `upscmd -l` lists what it has",
    "DRIVER-NOT-CONNECTED": "its driver does not run: start it with upsdrvctl on the server",
    "DATA-STALE": "its driver has lost the device: look at its cable and at the driver's log",
    "FAILED": "its driver could not do it: look at the driver's log",
    "PASSWORD-REQUIRED": "set user and password_file in [plugins.nut.servers]",
    "READONLY": "the driver does not let it be set",
    "USERNAME-REQUIRED": "set user and password_file in [plugins.nut.servers]",
    "VAR-NOT-SUPPORTED": "its driver has no such variable: `upsc` lists what it has",
}


class RefusalError(WireError):
    """The server answered `ERR` with this code."""

    def __init__(self, request: str, code: str) -> None:
        self.code = code
        advice = ADVICE.get(code, "")
        super().__init__(f"{request} was refused: {code}{advice and f'; {advice}'}")


def split_words(line: str) -> list[str] | None:
    """The words of a line; None when it is no line of the protocol."""
    words, at, end = list[str](), 0, len(line.rstrip())
    while at < end:
        found = _WORD.match(line, at, end)
        if found is None:
            return None
        words.append(found[2] if found[1] is None else _ESCAPED.sub(r"\1", found[1]))
        at = found.end()
    return words


def write_line(*words: str) -> bytes:
    """A request. Raises WireError for a word that would end the line."""
    return (" ".join(map(_write_word, words)) + "\n").encode()


def _write_word(word: str) -> str:
    if not word.isprintable():
        raise WireError("a word with a control character cannot be sent to a NUT server")  # not which: it may be the password
    return word if re.fullmatch(r"[A-Za-z0-9_.:-]+", word) else '"' + re.sub(r'([\\"#])', r"\\\1", word) + '"'


def read_answer(request: str, answer: bytes) -> list[str]:
    """The words of a one-line answer. Raises RefusalError for `ERR`, and WireError for what is no answer."""
    line = answer.decode(errors="replace")
    words = split_words(line)
    if not words:
        raise WireError(f"{request} was answered by {quote(line.strip())}; is this a NUT server?")
    if words[0] == "ERR":
        raise RefusalError(request, words[1] if len(words) > 1 else "without a code")
    return words


def end_of_list(head: str) -> Find:
    """Finds the end of the list that begins with `BEGIN LIST <head>`, or of the refusal in its place."""
    begin, end, looked = f"BEGIN LIST {head}\n".encode(), f"END LIST {head}\n".encode(), 0

    def find(came: bytes) -> slice | None:
        nonlocal looked
        if len(came) >= len(begin) and not came.startswith((begin, b"ERR")):
            raise WireError(f"LIST {head} was answered by {quote(came[:60].decode(errors='replace'))}; is this a NUT server?")
        if came.startswith(b"ERR"):
            line = came.find(b"\n")
            return slice(line + 1) if line >= 0 else None
        found = came.find(b"\n" + end, max(looked - len(end) - 1, 0))
        looked = len(came)
        if found < 0 and looked > MOST_LIST:
            raise WireError(f"LIST {head} was answered by more than {MOST_LIST} bytes, which is no list of a device")
        return slice(found + 1 + len(end)) if found >= 0 else None

    return find


def read_list(request: str, head: str, answer: bytes) -> list[list[str]]:
    """What stands in each row behind `head`, such as name and value. A row that is none is left out. Raises RefusalError."""
    if answer.startswith(b"ERR"):
        read_answer(request, answer)
    wanted = head.split()
    rows = (split_words(line) for line in answer.decode(errors="replace").split("\n")[1:-2])
    return [row[len(wanted) :] for row in rows if row is not None and _begins_with(row, wanted)]


def _begins_with(row: Sequence[str], wanted: Sequence[str]) -> bool:
    return len(row) > len(wanted) and list(row[: len(wanted)]) == list(wanted)
