"""A driver of our own behind upsd (docs/sock-protocol.txt of NUT): a PDU whose outlets can be switched, which none of Debian's plays."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

NAME = "ours"  # as upsd knows the driver
DONE, UNKNOWN, FAILED = 0, 1, 3  # STAT_INSTCMD_HANDLED, _UNKNOWN and _FAILED of upshandler.h


@dataclass
class Strip:
    """One PDU. `mute` = it carries out an order and never says so; `stuck` outlets fail."""

    variables: dict[str, str]
    stuck: frozenset[int] = frozenset()
    mute: bool = False
    heard: list[str] = field(default_factory=list)  # commands, in order

    @asynccontextmanager
    async def serve(self, folder: Path, device: str) -> AsyncIterator[None]:
        """Listen where upsd looks for it."""
        server = await asyncio.start_unix_server(self._talk, folder / f"{NAME}-{device}")
        try:
            yield
        finally:
            server.close()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            for answer in self._answer(shlex.split(line.decode())):
                writer.write(f"{answer}\n".encode())
            await writer.drain()
        writer.close()

    def _answer(self, words: list[str]) -> list[str]:
        match words:
            case ["PING"]:
                return ["PONG"]
            case ["DUMPALL"]:
                commands = [f"ADDCMD {name.removesuffix('.status')}.load.{word}" for name in self._list_outlets() for word in ("off", "on")]
                return [*map(self._tell, self.variables), *commands, "DATAOK", "DUMPDONE"]
            case ["INSTCMD", command, "TRACKING", tracked]:
                status, changed = self._obey(command)
                return [*map(self._tell, changed), *([] if self.mute else [f"TRACKING {tracked} {status}"])]
            case _:
                return []

    def _list_outlets(self) -> list[str]:
        return [name for name in self.variables if name.startswith("outlet.") and name.endswith(".status")]

    def _tell(self, name: str) -> str:
        return f'SETINFO {name} "{self.variables[name]}"'

    def _obey(self, command: str) -> tuple[int, list[str]]:
        """How it went, and the variables that have changed."""
        self.heard.append(command)
        match command.split("."):
            case ["outlet", number, "load", "on" | "off" as word] if f"outlet.{number}.status" in self.variables:
                if int(number) in self.stuck:
                    return FAILED, []
                told = {f"outlet.{number}.status": word, f"outlet.{number}.realpower": "75.0" if word == "on" else "0.0"}
                self.variables |= told
                return DONE, list(told)
            case _:
                return UNKNOWN, []
