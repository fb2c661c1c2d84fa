"""One agent: how one is let in, what it is, and its tables as they are now."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from posixpath import basename, dirname

from supernoded.plugin import Node, WireError, quote
from supernoded_snmp.address import Address
from supernoded_snmp.asn import Oid, parse_oid, show_oid, show_text
from supernoded_snmp.cells import SCALAR, Table, list_columns
from supernoded_snmp.manager import Manager, Walked
from supernoded_snmp.messages import V3, CommunitySpeech, Speech
from supernoded_snmp.profile import Column, Profile
from supernoded_snmp.user import User, UserSpeech
from supernoded_snmp.usm import SHORTEST

OBJECT_ID: Oid = (1, 3, 6, 1, 2, 1, 1, 2, 0)  # sysObjectID
DEFAULT = "public"  # of cards out of their box
PROVEN_S = 60.0  # for which a serial number that was seen is believed: between two orders nobody asks, and it may be exchanged (ours)


class Device:
    """An agent. What it is, is looked at once, and again after it could not be reached: another may stand there then."""

    def __init__(self, subject: str, address: Address, node: Node, profiles: Sequence[Profile], within: float, use: str) -> None:
        self.subject, self.address, self._node = subject, address, node
        self._profiles = [profile for profile in profiles if profile.of == subject.split("/", 1)[0]]
        self._chance = node.clock.stream(f"snmp/{subject}/{use}")
        self.manager = Manager(node.wires.datagrams(address.url), subject, self._chance, within)
        self._known: tuple[Profile, Speech] | None = None
        self._proven_at = -math.inf

    async def meet(self) -> tuple[Profile, Speech]:
        """What it is and how one reads it. Raises WireError."""
        if self._known is None:
            speech = await self._open(self.address.community_file, DEFAULT)
            self._known = await self._identify(speech), speech
        return self._known

    def forget(self) -> None:
        """It did not answer: community and kind are looked at anew, and its serial number too."""
        self._known = None
        self._proven_at = -math.inf

    async def collect(self, profile: Profile, speech: Speech) -> Table:
        """Everything that the profile reads. Raises WireError when nothing at all can be read."""
        columns = list_columns(profile.columns)
        table = await self._get_scalars(speech, [oid for oid, scalar in columns.items() if scalar])
        for oid in (oid for oid, scalar in columns.items() if not scalar):
            try:
                table[oid] = await self.manager.walk(speech, parse_oid(oid))
            except WireError as error:
                if not table:
                    raise
                table[oid] = Walked({}, str(error))
        return table

    async def collect_rows(self, speech: Speech, columns: Iterable[Column], indices: Iterable[tuple[Column, Oid]]) -> Table:
        """Single rows, each by its index. Raises WireError."""
        wanted = {oid: set[Oid]() for oid in list_columns(columns)}
        for column, index in indices:
            for oid in (column.oid, *column.list_references()):
                wanted[oid].add(index)
        names = [(*parse_oid(oid), *index) for oid, rows in wanted.items() for index in sorted(rows)]
        found = await self.manager.get(speech, names)
        return {
            oid: Walked(
                {
                    index: value
                    for index in sorted(rows)
                    if (value := found[*parse_oid(oid), *index]).kind not in {"no-instance", "no-object"}
                }
            )
            for oid, rows in wanted.items()
        }

    async def order(self, scope: str, name: Oid, number: int) -> None:
        """SET one number, where the serial number was seen a moment ago to be the one that is expected. Raises WireError."""
        if not self.address.write_community_file and self.address.version != V3:
            raise WireError(f"{self.subject}: nothing may be written; set write_community_file in its URL or in [plugins.snmp]")
        profile, speech = await self.meet()
        if self.address.serial and self._node.clock.now() > self._proven_at + PROVEN_S:
            await self._prove(profile, speech)
        writer = speech if self.address.version == V3 else await self._open(self.address.write_community_file, "")
        await self.manager.set(writer, scope, name, number)

    async def _get_scalars(self, speech: Speech, oids: Sequence[str]) -> dict[str, Walked]:
        found = await self.manager.get(speech, [(*parse_oid(oid), 0) for oid in oids])
        values = {oid: found[(*parse_oid(oid), 0)] for oid in oids}
        return {oid: Walked({} if value.kind in {"no-instance", "no-object"} else {(0,): value}) for oid, value in values.items()}

    async def _open(self, file: str, default: str) -> Speech:
        """How one speaks to it; a user of v3 is the same whatever he does. Raises WireError."""
        address = self.address
        if address.version != V3:
            return CommunitySpeech(address.version, await self._read_secret(file) if file else default)
        authentic = await self._read_secret(address.auth_file)
        secret = await self._read_secret(address.priv_file) if address.priv_file else ""
        if min(len(word) for word in (authentic, secret or authentic)) < SHORTEST:
            raise WireError(f"{self.subject}: a passphrase of SNMP v3 has {SHORTEST} characters at least (RFC 3414)")
        return UserSpeech(User(address.user, address.auth, authentic, secret), self._node.clock, self._chance)

    async def _read_secret(self, file: str) -> str:
        return await self._node.wires.tree(dirname(file)).read(basename(file))

    async def _identify(self, speech: Speech) -> Profile:
        """By its URL, by the product that it says it is, else by a column that only one class has. Raises WireError."""
        if self.address.profile:
            return self._find(self.address.profile)
        said = (await self.manager.get(speech, (OBJECT_ID,)))[OBJECT_ID].value
        product = said if isinstance(said, tuple) else ()
        fitting = [
            (len(begin), profile)
            for profile in self._profiles
            for begin in map(parse_oid, profile.products)
            if product[: len(begin)] == begin
        ]
        if fitting:
            return max(fitting, key=lambda one: one[0])[1]
        for profile in self._profiles:
            if profile.probe is not None and await self._has(speech, parse_oid(profile.probe)):
                return profile
        names = ", ".join(profile.name for profile in self._profiles)
        shown = show_oid(product) or "nothing"
        raise WireError(f"{self.subject}: it says that it is {shown}, and has the columns of none of {names}; set ?profile= in its URL")

    async def _has(self, speech: Speech, column: Oid) -> bool:
        return bool((await self.manager.walk(speech, column)).rows)

    def _find(self, name: str) -> Profile:
        for profile in self._profiles:
            if profile.name == name:
                return profile
        raise WireError(f"{self.subject}: there is no profile {name!r}; there are {', '.join(profile.name for profile in self._profiles)}")

    async def _prove(self, profile: Profile, speech: Speech) -> None:
        """Safety rule 25. Raises WireError."""
        quantity = f"{self.subject.split('/', 1)[0]}.serial"
        column = next((column for column in profile.columns if column.quantity == quantity), None)
        if column is None:
            raise WireError(f"{self.subject}: profile {profile.name} tells no serial number; leave serial out of its URL")
        if column.index == SCALAR:
            rows = (await self._get_scalars(speech, (column.oid,)))[column.oid].rows
        else:
            rows = (await self.manager.walk(speech, parse_oid(column.oid))).rows
        shown = [show_text(row.value) for row in rows.values() if isinstance(row.value, bytes)]
        if self.address.serial not in shown:
            raise WireError(f"{self.subject}: serial number {quote(', '.join(shown))}, not {self.address.serial!r}; nothing was written")
        self._proven_at = self._node.clock.now()
