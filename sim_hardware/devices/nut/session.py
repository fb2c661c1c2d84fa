"""One connection to the server, without the connection: a line in, an answer out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sim_hardware.devices.nut.answers import SERVER, get, list_all, require_ups
from sim_hardware.devices.nut.commands import COMMANDS, perform
from sim_hardware.devices.nut.settings import SETTINGS
from sim_hardware.devices.nut.unit import Unit
from sim_hardware.devices.nut.words import RefusalError, split_words

NETWORK_VERSION = "1.3"
_HELP = "Commands: HELP VER GET LIST SET INSTCMD LOGIN LOGOUT USERNAME PASSWORD STARTTLS"
_USER_VERBS = {"SET", "INSTCMD", "LOGIN", "PRIMARY", "MASTER", "FSD"}  # which need a name and a password


class Session:
    """What one client has said so far. `over`: it has said LOGOUT."""

    def __init__(self, unit: Unit, host: str = "127.0.0.1") -> None:
        self.unit, self.host = unit, host
        self.over = False
        self.tracking = False
        self._user: str | None = None
        self._password: str | None = None
        self._login = False

    def answer(self, line: bytes) -> bytes:
        """The answer to a line, which is one line, or a list from BEGIN to END. Any bytes have one."""
        try:
            text = self._obey(split_words(line.decode("utf-8", "replace")))
        except RefusalError as refusal:
            text = f"ERR {refusal.code}"
        return (text + "\n").encode("utf-8", "replace")

    def end(self) -> None:
        """The connection is gone, and the login with it."""
        if self._login:
            self.unit.logins.remove(self.host)
            self._login = False

    def _obey(self, words: Sequence[str]) -> str:
        verb = words[0].upper() if words else ""
        if verb not in _VERBS:
            raise RefusalError("UNKNOWN-COMMAND")
        if verb in _USER_VERBS:
            self._require_names()
        return _VERBS[verb](self, words[1:])

    def _require_names(self) -> None:
        if self._user is None:
            raise RefusalError("USERNAME-REQUIRED")
        if self._password is None:
            raise RefusalError("PASSWORD-REQUIRED")

    def _require_right(self) -> None:
        account = self.unit.account
        if (self._user, self._password) != (account.user, account.password):
            raise RefusalError("ACCESS-DENIED")

    def _require_ups(self, words: Sequence[str]) -> None:
        if len(words) != 1:
            raise RefusalError("INVALID-ARGUMENT")
        require_ups(self.unit, words[0])

    # who it is

    def name_user(self, words: Sequence[str]) -> str:
        """USERNAME."""
        if len(words) != 1 or not words[0]:
            raise RefusalError("INVALID-ARGUMENT" if len(words) != 1 else "INVALID-USERNAME")
        if self._user is not None:
            raise RefusalError("ALREADY-SET-USERNAME")
        self._user = words[0]
        return "OK"

    def give_password(self, words: Sequence[str]) -> str:
        """PASSWORD; whether it is right shows when it is needed."""
        if len(words) != 1 or not words[0]:
            raise RefusalError("INVALID-ARGUMENT" if len(words) != 1 else "INVALID-PASSWORD")
        if self._password is not None:
            raise RefusalError("ALREADY-SET-PASSWORD")
        self._password = words[0]
        return "OK"

    def log_in(self, words: Sequence[str]) -> str:
        """LOGIN: this host draws power from the UPS."""
        if self._login:
            raise RefusalError("ALREADY-LOGGED-IN")
        self._require_ups(words)
        self._require_right()
        self._login = True
        self.unit.logins.append(self.host)
        return "OK"

    def log_out(self, _: Sequence[str]) -> str:
        """LOGOUT."""
        self.end()
        self.over = True
        return "OK Goodbye"

    def grant_primary(self, words: Sequence[str]) -> str:
        """PRIMARY."""
        self._require_ups(words)
        self._require_right()
        return "OK PRIMARY-GRANTED"

    def grant_master(self, words: Sequence[str]) -> str:
        """MASTER, its older name."""
        self._require_ups(words)
        self._require_right()
        return "OK MASTER-GRANTED"

    # what it wants

    def force_shutdown(self, words: Sequence[str]) -> str:
        """FSD: set the latch that tells everybody to shut down. As with upsd this goes without data too: whoever lost them may need it."""
        self._require_ups(words)
        self._require_right()
        self.unit.fsd = self.unit.fsd or not self.unit.impairment.idle_orders
        return "OK FSD-SET"

    def get(self, words: Sequence[str]) -> str:
        """GET."""
        if not words or words[0].upper() != "TRACKING":
            return get(self.unit, words)
        if len(words) == 1:
            return "ON" if self.tracking else "OFF"
        if not self.tracking:
            raise RefusalError("FEATURE-NOT-CONFIGURED")
        return self.unit.find_answer(words[1])

    def set(self, words: Sequence[str]) -> str:
        """SET VAR and SET TRACKING."""
        match [words[0].upper() if words else "", *words[1:]]:
            case ["TRACKING", ("ON" | "OFF") as value]:
                self.tracking = value == "ON"
                return "OK"
            case ["VAR", ups, name, value]:
                require_ups(self.unit, ups)
                self.unit.require()
                self._require_right()
                if name not in SETTINGS:
                    raise RefusalError("READONLY" if name in self.unit.list_variables() else "VAR-NOT-SUPPORTED")
                SETTINGS[name].check(value)
                if not self.unit.impairment.idle_orders:
                    self.unit.settings[name] = value
                return self._accept("SUCCESS")
            case _:
                raise RefusalError("INVALID-ARGUMENT")

    def command(self, words: Sequence[str]) -> str:
        """INSTCMD. OK only says that the driver has it, as with upsd; whether it was done is told by GET TRACKING."""
        if not 2 <= len(words) <= 3:
            raise RefusalError("INVALID-ARGUMENT")
        require_ups(self.unit, words[0])
        self.unit.require()
        if words[1] not in COMMANDS:
            raise RefusalError("CMD-NOT-SUPPORTED")
        self._require_right()
        if self.unit.impairment.idle_orders:
            return self._accept("SUCCESS")
        return self._accept(perform(self.unit, words[1], words[2] if len(words) == 3 else None))

    def _accept(self, result: str) -> str:
        return f"OK TRACKING {self.unit.track(result)}" if self.tracking else "OK"

    # the rest

    def list(self, words: Sequence[str]) -> str:
        """LIST."""
        return list_all(self.unit, words)

    def refuse_tls(self, _: Sequence[str]) -> str:
        """STARTTLS, for which the server has no certificate."""
        raise RefusalError("FEATURE-NOT-CONFIGURED")


_VERBS: Mapping[str, Callable[[Session, Sequence[str]], str]] = {
    "FSD": Session.force_shutdown,
    "GET": Session.get,
    "HELP": lambda _session, _words: _HELP,
    "INSTCMD": Session.command,
    "LIST": Session.list,
    "LOGIN": Session.log_in,
    "LOGOUT": Session.log_out,
    "MASTER": Session.grant_master,
    "NETVER": lambda _session, _words: NETWORK_VERSION,
    "PASSWORD": Session.give_password,
    "PRIMARY": Session.grant_primary,
    "SET": Session.set,
    "STARTTLS": Session.refuse_tls,
    "USERNAME": Session.name_user,
    "VER": lambda _session, _words: SERVER,
}
