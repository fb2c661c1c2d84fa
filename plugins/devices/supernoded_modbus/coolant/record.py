"""What this daemon must know of a CDU after a restart: that it engaged it, and what stood before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import msgspec

from supernoded.plugin import Tree, WireError


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """The record. `token` is the upper byte of our heartbeats, so that the CDU itself shows whose engagement stands; 0 = none of ours."""

    token: Annotated[int, msgspec.Meta(ge=0, le=254)] = 0
    control: str = ""
    fallback: float | None = None  # C, that it held by itself before we engaged it
    yielded: str = ""  # to whom, and why: another hand was seen on it
    pressure_before: float | None = None  # kPa, before the first that we asked for; None = none of ours stands
    pressure_ours: float | None = None  # kPa, the last that we asked for
    damaged: str = ""  # what is wrong with the file; never written


@dataclass(frozen=True)
class CoolantRecord:
    """The record of one CDU, in the daemon's own folder."""

    cdu: str  # its subject
    state: Tree

    @property
    def file(self) -> str:
        """Below the state folder."""
        return f"cdu/{self.cdu.removeprefix('cdu/').replace('/', '-')}.json"

    async def read(self) -> Kept:
        """What is written. Raises WireError when the file cannot be read.

        One that is damaged says nothing: then the CDU is as good as another's until its watchdog has run out.
        """
        found = (await self.state.read_all([self.file])).get(self.file)
        if found is None:
            return Kept()
        if isinstance(found, WireError):
            raise found
        return read_kept(found, self.file)

    async def write(self, scope: str, kept: Kept) -> None:
        """Whole or not at all, asking the pen. Raises WireError, NotHeldError."""
        text = msgspec.json.encode(msgspec.structs.replace(kept, damaged="")).decode()
        await self.state.order(scope, self.file, text)


def read_kept(text: str, file: str) -> Kept:
    """A record out of its file, whatever is in it."""
    try:
        return msgspec.structs.replace(msgspec.json.decode(text.encode("utf-8", "surrogatepass"), type=Kept), damaged="")
    except (msgspec.DecodeError, UnicodeError) as error:
        return Kept(damaged=f"{file} in the state folder is no record of a CDU ({error})")
