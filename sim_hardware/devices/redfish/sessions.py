"""Who may ask: Basic authentication, and sessions with a token (DSP0266, 13.3)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass

from sim_hardware.devices.redfish.asking import take_text
from sim_hardware.devices.redfish.board import Board
from sim_hardware.devices.redfish.words import ROOT, Body, RefusalError, Reply, link

SESSIONS = f"{ROOT}/SessionService/Sessions"
TIMEOUT_S = 1800.0  # since the last request (ours; DSP0268 allows 30 s to a day)
MOST = 16  # at once (ours): a client that never logs out locks everybody out, as with real ones


@dataclass
class Session:
    """One that is open."""

    user: str
    token: str
    used: float
    boot: int


class Sessions:
    """The sessions of one controller, by path; they are gone when it restarts."""

    def __init__(self, board: Board, name: str, login: tuple[str, str]) -> None:
        self._board, self._name, self._login = board, name, login
        self._opened = 0
        self._open: dict[str, Session] = {}

    def authenticate(self, headers: Mapping[str, str]) -> None:
        """Let a request through. Raises RefusalError with 401."""
        self._drop_old()
        token = headers.get("x-auth-token")
        for session in self._open.values():
            if session.token == token:
                session.used = self._board.now()
                return
        if token is not None or not self._knows(headers.get("authorization", "")):
            challenge = {"WWW-Authenticate": f'Basic realm="{self._name}"'}
            raise RefusalError(401, "NoValidSession", f"no valid session and no valid Basic authentication; POST to {SESSIONS}", challenge)

    def _knows(self, authorization: str) -> bool:
        scheme, _, given = authorization.partition(" ")
        try:
            pair = base64.b64decode(given, validate=True).decode()
        except (binascii.Error, ValueError):  # no base64, or no UTF-8
            return False
        return scheme.lower() == "basic" and tuple(pair.split(":", 1)) == self._login

    def _drop_old(self) -> None:
        oldest, boot = self._board.now() - TIMEOUT_S, self._board.boots
        self._open = {path: session for path, session in self._open.items() if session.used >= oldest and session.boot == boot}

    def open(self, body: Body) -> Reply:
        """Log in. Raises RefusalError."""
        user, password = take_text(body, "UserName"), take_text(body, "Password")
        if (user, password) != self._login:
            raise RefusalError(401, "ResourceAtUriUnauthorized", "there is no such user with this password")
        self._drop_old()
        if len(self._open) >= MOST:
            wait = math.ceil(min(session.used for session in self._open.values()) + TIMEOUT_S - self._board.now())
            raise RefusalError(
                503, "SessionLimitExceeded", f"{MOST} sessions are open, the limit; DELETE one", {"Retry-After": str(max(wait, 1))}
            )
        self._opened += 1
        path = f"{SESSIONS}/{self._opened}"
        token = hashlib.blake2b(f"{self._name}/{self._opened}/{password}".encode(), digest_size=16).hexdigest()
        self._open[path] = Session(user, token, self._board.now(), self._board.boots)
        return Reply(201, self.show(path), {"Location": path, "X-Auth-Token": token})

    def close(self, path: str) -> Reply:
        """Log out."""
        del self._open[path]
        return Reply(204)

    def __contains__(self, path: str) -> bool:
        return path in self._open

    def show(self, path: str) -> Body:
        """One session."""
        identity = path.rsplit("/", 1)[1]
        session = {"@odata.id": path, "@odata.type": "#Session.v1_7_0.Session", "Id": identity, "Name": f"Session {identity}"}
        return {**session, "UserName": self._open[path].user}

    def show_all(self) -> Body:
        """The collection."""
        head = {"@odata.id": SESSIONS, "@odata.type": "#SessionCollection.SessionCollection", "Name": "Sessions"}
        return {**head, "Members@odata.count": len(self._open), "Members": [link(path) for path in self._open]}
