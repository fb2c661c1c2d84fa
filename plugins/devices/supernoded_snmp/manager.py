"""Asks one agent: GET, walks of columns, SET. Requests are matched by id, errors are of the name that they are about, walks are bounded."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import msgspec

from supernoded.plugin import Datagrams, WireError
from supernoded_snmp.asn import Asn, Oid, show_oid
from supernoded_snmp.ber import Response
from supernoded_snmp.messages import Speech, get, set_number, step

TRIES = 2  # of each request (ours); snmp-ups of NUT has 5 of 1 s, which is longer than anybody waits here
CHUNK = 16  # names of one GET (ours); an answer then fits into a frame of Ethernet
FEW, ROWS = 4, 16  # rows that the first GETBULK of a column asks for, which is all of most, and each further one (ours)
MOST_ROWS = 1_024  # of one column (ours); the largest rack PDUs have some 48 outlets of 9 sensors
TOO_BIG, NO_SUCH_NAME = 1, 2
STATUSES = (
    *("noError", "tooBig", "noSuchName", "badValue", "readOnly", "genErr", "noAccess", "wrongType", "wrongLength", "wrongEncoding"),
    *("wrongValue", "noCreation", "inconsistentValue", "resourceUnavailable", "commitFailed", "undoFailed", "authorizationError"),
    *("notWritable", "inconsistentName"),
)  # RFC 3416, 3
NO_INSTANCE = Asn("no-instance", b"")


class Walked(msgspec.Struct, frozen=True):
    """The rows of a column by their index, and why there may be more; empty = that is all."""

    rows: dict[Oid, Asn]
    more: str = ""


class Manager:
    """The one that asks an agent. `within` is what one answer may take, in seconds."""

    def __init__(self, wire: Datagrams, name: str, chance: Random, within: float) -> None:
        self.name, self._wire, self._within = name, wire, within
        self._request = chance.randrange(1, 2**30)
        self._rows = ROWS

    async def get(self, speech: Speech, names: Sequence[Oid]) -> dict[Oid, Asn]:
        """Every one of these names; what the agent does not have is NO_INSTANCE, what it fails at is an error. Raises WireError."""
        found: dict[Oid, Asn] = {}
        waiting = [tuple(names[place : place + CHUNK]) for place in range(0, len(names), CHUNK)]
        while waiting:
            asked = waiting.pop(0)
            request = self._count()
            answer = await speech.ask(self._wire, request, get(speech.version, request, asked), self._within, TRIES)
            if answer.status == 0:
                told = dict(answer.pairs)
                found |= {name: told.get(name, NO_INSTANCE) for name in asked}
            elif len(asked) == 1:
                found[asked[0]] = NO_INSTANCE if answer.status == NO_SUCH_NAME else Asn("error", name_status(answer.status).encode())
            else:
                waiting = [*_split(asked, answer), *waiting]
        return found

    async def walk(self, speech: Speech, column: Oid) -> Walked:
        """All rows of a column. Raises WireError when not even the first answer comes."""
        rows: dict[Oid, Asn] = {}
        at = column
        while len(rows) < MOST_ROWS:
            try:
                answer = await self._step(speech, at, min(self._rows, ROWS if rows else FEW))
            except WireError as error:
                if not rows:
                    raise
                return Walked(rows, f"the table broke off after {len(rows)} rows: {error}")
            if answer.status == TOO_BIG and self._rows > 1:
                self._rows = min(self._rows, ROWS if rows else FEW) // 2
                continue
            if answer.status:
                return Walked(rows, "" if answer.status == NO_SUCH_NAME else f"{name_status(answer.status)} after {len(rows)} rows")
            for name, value in answer.pairs:
                if value.kind == "end" or name[: len(column)] != column:
                    return Walked(rows)
                if name <= at:
                    return Walked(rows, f"the agent goes in circles: {show_oid(name)} after {show_oid(at)}")
                rows[name[len(column) :]], at = value, name
            if not answer.pairs:
                return Walked(rows, f"an answer without a name after {len(rows)} rows")
        return Walked(rows, f"more than {MOST_ROWS} rows")

    async def set(self, speech: Speech, scope: str, name: Oid, number: int) -> None:
        """SET one INTEGER, once. Raises WireError, also for what the agent refuses."""
        request = self._count()
        answer = await speech.order(self._wire, scope, request, set_number(speech.version, request, name, number), self._within)
        if answer.status:
            advice = "; look at write_community_file and at the agent's own rights" if answer.status in {2, 4, 6, 16, 17} else ""
            raise WireError(f"{self.name}: SET {show_oid(name)} = {number} was refused: {name_status(answer.status)}{advice}")

    async def _step(self, speech: Speech, at: Oid, rows: int) -> Response:
        request = self._count()
        return await speech.ask(self._wire, request, step(speech.version, request, at, rows), self._within, TRIES)

    def _count(self) -> int:
        self._request = self._request % (2**31 - 1) + 1
        return self._request


def name_status(status: int) -> str:
    """An error status in RFC 3416's words."""
    return STATUSES[status] if 0 <= status < len(STATUSES) else f"error status {status}"


def _split(asked: tuple[Oid, ...], answer: Response) -> list[tuple[Oid, ...]]:
    """What to ask instead of a GET that failed: the culprit by itself and the others; halves when there is no culprit, as of tooBig."""
    if answer.status != TOO_BIG and 1 <= answer.index <= len(asked):
        place = answer.index - 1
        return [part for part in ((asked[place],), (*asked[:place], *asked[place + 1 :])) if part]
    half = len(asked) // 2
    return [asked[:half], asked[half:]]
