"""A client of upsd: one connection to each server, whatever the number of its devices."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

from supernoded.plugin import Clock, Node, Opening, WireError, quote
from supernoded_nut.place import Place, parse_server
from supernoded_nut.settings import NutSettings, ServerSettings
from supernoded_nut.words import RefusalError, end_of_list, read_answer, read_list, write_line

WITHIN = 1.5  # seconds for one answer, opening included (ours); upsd answers from memory
TRACKED_WITHIN = 1.0  # seconds until the driver must have carried out an order (ours); one order as a whole may take 3
TRACKED_EVERY = 0.1  # seconds
GARBLED = frozenset('"\\#')  # upsd 2.8.0 gives words to its driver in quotes and without escapes
NO_TLS = frozenset({"FEATURE-NOT-SUPPORTED", "FEATURE-NOT-CONFIGURED", "UNKNOWN-COMMAND"})


def open_server(place: Place, settings: NutSettings, node: Node) -> NutServer:
    """The client of the server of a device. Opens nothing yet. Raises WireError."""
    told = {parse_server(key)[:2]: one for key, one in settings.servers.items()}
    return NutServer(place, told.get(place[:2], ServerSettings()), node)


class NutServer:
    """One upsd. Several clients of one server share the connection that `node.wires` keeps."""

    def __init__(self, place: Place, settings: ServerSettings, node: Node) -> None:
        self.name, self.settings = f"{place.host}:{place.port}", settings
        self._clock: Clock = node.clock
        folder, self._password_name = posixpath.split(posixpath.normpath(settings.password_file))
        self._secrets = node.wires.tree(folder) if settings.password_file else None
        self._stream = node.wires.stream(place.server)
        self._stream.greet_with(self._greet)

    async def list_devices(self) -> Mapping[str, str]:
        """LIST UPS: name -> description. Raises WireError."""
        return _to_pairs(await self._list("UPS"))

    async def list_variables(self, device: str) -> Mapping[str, str]:
        """LIST VAR: name -> value. Raises WireError, RefusalError."""
        return _to_pairs(await self._list(f"VAR {device}"))

    async def list_settings(self, device: str) -> Mapping[str, str]:
        """LIST RW: those that can be set. Raises WireError, RefusalError."""
        return _to_pairs(await self._list(f"RW {device}"))

    async def list_commands(self, device: str) -> list[str]:
        """LIST CMD: what can be ordered. Raises WireError, RefusalError."""
        return [row[0] for row in await self._list(f"CMD {device}")]

    async def get_variable(self, device: str, name: str) -> str:
        """GET VAR. Raises WireError, RefusalError."""
        words = await self._ask("GET", "VAR", device, name)
        if words[:3] != ["VAR", device, name] or len(words) != 4:
            raise WireError(f"{self.name}: GET VAR {device} {name} was answered by {quote(' '.join(words))}")
        return words[3]

    async def command(self, scope: str, device: str, command: str, *values: str) -> None:
        """INSTCMD, asking the pen for `scope`. Raises WireError, RefusalError; see `_order` for what returning means."""
        await self._order(scope, "INSTCMD", device, command, *values)

    async def set_variable(self, scope: str, device: str, name: str, value: str) -> None:
        """SET VAR, asking the pen for `scope`. Raises WireError, RefusalError; see `_order` for what returning means."""
        await self._order(scope, "SET", "VAR", device, name, value)

    async def _order(self, scope: str, *words: str) -> None:
        """Send it and wait for what the driver says of it, where the server tracks orders; without a word by then it may yet do it."""
        request = self._name(words)
        if any(map(GARBLED.intersection, words)):
            raise WireError(f"{request} was not sent: upsd garbles quotes, backslashes and # on the way to its driver")
        answer = read_answer(request, await self._stream.order(scope, write_line(*words), within=WITHIN))
        if answer[0] != "OK":
            raise WireError(f"{request} was answered by {quote(' '.join(answer))}")
        if answer[1:2] == ["TRACKING"] and len(answer) == 3:
            await self._follow(request, answer[2])

    async def _follow(self, request: str, tracked: str) -> None:
        end = self._clock.now() + TRACKED_WITHIN
        try:
            while (words := await self._ask("GET", "TRACKING", tracked))[0] == "PENDING" and self._clock.now() < end:
                await self._clock.sleep(TRACKED_EVERY)
        except RefusalError as refusal:  # of the order, by its driver
            raise RefusalError(request, refusal.code) from refusal
        if words[0] not in {"SUCCESS", "PENDING"}:
            raise WireError(f"{request}: its driver says {quote(' '.join(words))}")

    async def _ask(self, *words: str) -> list[str]:
        return read_answer(self._name(words), await self._stream.exchange(write_line(*words), within=WITHIN))

    async def _list(self, head: str) -> list[list[str]]:
        answer = await self._stream.exchange(f"LIST {head}\n".encode(), end_of_list(head), WITHIN)
        return read_list(f"{self.name}: LIST {head}", head, answer)

    def _name(self, words: tuple[str, ...]) -> str:
        return f"{self.name}: {' '.join(words)}"

    # what is said first on every connection

    async def _greet(self, opening: Opening) -> None:
        """TLS, then the login, then that orders are tracked."""
        user, sealed = self.settings.user, False
        if user or self.settings.ca_file:
            sealed = await self._seal(opening)
        if not user:
            return
        if not sealed and not self.settings.insecure:
            raise WireError(
                f"{self.name} has no TLS, and the password of {user} would go in the clear; give it a certificate, or say insecure = true"
            )
        await self._agree(opening, "USERNAME", user)
        await self._agree(opening, "PASSWORD", await self._read_password())
        await opening.ask(b"SET TRACKING ON\n")  # a server before NUT 2.8 refuses, and says a bare OK to orders

    async def _seal(self, opening: Opening) -> bool:
        """Whether the connection is TLS now. Raises WireError where it has to be and cannot."""
        try:
            await self._agree(opening, "STARTTLS")
        except RefusalError as refusal:
            if refusal.code in NO_TLS and not self.settings.ca_file:
                return False
            raise
        await opening.secure(self.settings.ca_file, insecure=self.settings.insecure)
        return True

    async def _agree(self, opening: Opening, verb: str, *words: str) -> None:
        """Say something of the session, to which the server must say OK. Raises RefusalError, WireError; neither holds the words."""
        request = f"{self.name}: {verb}"
        answer = read_answer(request, await opening.ask(write_line(verb, *words)))
        if answer[0] != "OK":
            raise WireError(f"{request} was answered by {quote(' '.join(answer))}; is this a NUT server?")

    async def _read_password(self) -> str:
        return "" if self._secrets is None else await self._secrets.read(self._password_name)


def _to_pairs(rows: list[list[str]]) -> dict[str, str]:
    return {row[0]: row[1] for row in rows if len(row) > 1}
