"""Who is calling, and what they may do: root, the daemon's own user, readers and operators."""

from __future__ import annotations

import asyncio
import grp
import os
import pwd
import socket
import struct
from collections.abc import Callable
from enum import Enum
from typing import NamedTuple

import msgspec
from aiohttp import web

from supernoded.admin.desk import Caller
from supernoded.errors import AdminError

ROOT = 0
LOOKUP_PATIENCE = 2.0  # seconds for a look into the user database, which may be a slow LDAP
MOST_LOOKUPS = 2  # threads that a hung user database may hold
_UCRED = struct.Struct("iII")  # struct ucred of unix(7): pid, uid, gid


class Right(Enum):
    """What a request needs."""

    READ = "read from"
    CHANGE = "change anything on"


class Access(msgspec.Struct, frozen=True, kw_only=True):
    """The groups of the settings; an empty name = nobody beyond root and the daemon's own user."""

    reading_group: str = ""
    operator_group: str = ""

    def groups_for(self, right: Right) -> tuple[str, ...]:
        """The groups that have a right, the least privileged first."""
        groups = (self.reading_group, self.operator_group) if right is Right.READ else (self.operator_group,)
        return tuple(group for group in groups if group)


class Membership(NamedTuple):
    """What the user database says of a caller."""

    user: str
    member: bool


Lookup = Callable[[Caller, tuple[str, ...]], Membership]


def caller_of(request: web.Request) -> Caller:
    """The process at the other end, by SO_PEERCRED; the simulated network hands over the same three numbers. Raises AdminError."""
    transport = request.transport
    if transport is None:
        raise AdminError("the caller has gone")
    told: tuple[int, int, int] | None = transport.get_extra_info("peercred")
    if told is not None:
        return Caller(*told)
    line: socket.socket | None = transport.get_extra_info("socket")
    if line is None or line.family != socket.AF_UNIX:
        raise AdminError("the admin interface is served on unix sockets only: the caller cannot be told otherwise")
    return Caller(*_UCRED.unpack(line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size)))


def look_up(caller: Caller, groups: tuple[str, ...]) -> Membership:
    """Whether the caller belongs to one of the groups. May block for long."""
    try:
        user = pwd.getpwuid(caller.uid).pw_name
        owned = os.getgrouplist(user, caller.gid)
    except KeyError:  # a user of a container, or one that was deleted
        user, owned = f"uid {caller.uid}", [caller.gid]
    return Membership(user, any(_find_gid(group) in owned for group in groups))


def _find_gid(group: str) -> int | None:
    try:
        return grp.getgrnam(group).gr_gid
    except KeyError:
        return None


class Gate:
    """Judges every request by its caller."""

    def __init__(self, access: Access, own_uid: int, lookup: Lookup = look_up, patience: float = LOOKUP_PATIENCE) -> None:
        self._access, self._own_uid, self._lookup, self._patience = access, own_uid, lookup, patience
        self._looking = 0

    async def find_refusal(self, caller: Caller, right: Right) -> str | None:
        """Why the caller may not, as a sentence that names the group to join; None when it may. Raises AdminError when nobody can tell."""
        if caller.uid in (ROOT, self._own_uid):
            return None
        groups = self._access.groups_for(right)
        if not groups:
            allowed = f"only root and uid {self._own_uid} may, the settings name no group for it"
            return f"uid {caller.uid} may not {right.value} this daemon: {allowed}"
        user, member = await self._look_up(caller, groups)
        if member:
            return None
        return (
            f"{user} may not {right.value} this daemon; members of the group {groups[0]} may: "
            f"`sudo usermod -aG {groups[0]} {user}`, then log in again"
        )

    async def _look_up(self, caller: Caller, groups: tuple[str, ...]) -> Membership:
        late = AdminError(
            f"the groups of uid {caller.uid} could not be looked up within {self._patience:g} s: "
            "the user database does not answer; root needs none"
        )
        if self._looking >= MOST_LOOKUPS:
            raise late
        self._looking += 1
        found = asyncio.get_running_loop().run_in_executor(None, self._lookup, caller, groups)
        found.add_done_callback(self._end_lookup)
        done, _ = await asyncio.wait({found}, timeout=self._patience)
        if not done:  # the thread goes on by itself; _end_lookup counts it off when it ends
            raise late
        return found.result()

    def _end_lookup(self, found: asyncio.Future[Membership]) -> None:
        self._looking -= 1
        if not found.cancelled():
            found.exception()
