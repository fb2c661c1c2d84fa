"""An upsd in memory, for one connection: what it says is set by the test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from supernoded.testing import MemoryStream
from supernoded_nut.words import split_words

Variables = dict[str, str]


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("#", "\\#") + '"'


@dataclass
class Upsd:
    """Devices by name, each with its variables; a text in their place is a refusal of all that is asked of the device."""

    devices: dict[str, Variables | str] = field(default_factory=dict)
    commands: dict[str, Callable[[], str]] = field(default_factory=dict)  # command -> performs it, and says how the driver answers
    refusals: dict[str, str] = field(default_factory=dict)  # beginning of a request -> code
    tracking: bool = False
    answers: dict[str, list[str]] = field(default_factory=dict)  # of tracked orders; the last one stays
    settable: tuple[str, ...] = ()

    def listen(self, stream: MemoryStream) -> None:
        stream.answer = self.answer

    def answer(self, request: bytes) -> bytes:
        line = request.decode()
        assert line.endswith("\n")
        assert line.count("\n") == 1
        words = split_words(line)
        assert words is not None
        refusal = next((code for beginning, code in self.refusals.items() if line.startswith(beginning)), "")
        return ((f"ERR {refusal}" if refusal else self._obey(words)) + "\n").encode()

    def _obey(self, words: list[str]) -> str:
        match words:
            case ["USERNAME" | "PASSWORD", _]:
                return "OK"
            case ["STARTTLS"]:
                return "OK STARTTLS"
            case ["SET", "TRACKING", "ON"]:
                self.tracking = True
                return "OK"
            case ["GET", "TRACKING", tracked]:
                said = self.answers[tracked]
                return said.pop(0) if len(said) > 1 else said[0]
            case ["LIST", "UPS"]:
                return self._frame("UPS", [f"{name} {quoted('a device')}" for name in self.devices])
            case [_, "UPS" | "VAR" | "RW" | "CMD" as kind, device, *rest]:
                return self._ask(words[0], kind, device, rest)
            case ["INSTCMD", device, command]:
                return self._ask("INSTCMD", command, device, [])
            case _:
                return "ERR UNKNOWN-COMMAND"

    def _ask(self, verb: str, kind: str, device: str, rest: list[str]) -> str:
        found = self.devices.get(device, "UNKNOWN-UPS")
        if isinstance(found, str):
            return f"ERR {found}"
        if verb == "LIST":
            shown = {name: text for name, text in found.items() if kind == "VAR" or name in self.settable}
            rows = list(self.commands) if kind == "CMD" else [f"{name} {quoted(text)}" for name, text in shown.items()]
            return self._frame(f"{kind} {device}", rows)
        if verb == "GET":
            return f"VAR {device} {rest[0]} {quoted(found[rest[0]])}" if rest[0] in found else "ERR VAR-NOT-SUPPORTED"
        if verb == "SET":
            if rest[0] not in self.settable:
                return "ERR READONLY"
            found[rest[0]] = rest[1]
            return self._accept("SUCCESS")
        return self._accept(self.commands[kind]()) if kind in self.commands else "ERR CMD-NOT-SUPPORTED"

    def _accept(self, said: str) -> str:
        if not self.tracking:
            return "OK"
        tracked = f"id-{len(self.answers)}"
        self.answers[tracked] = ["PENDING", said]
        return f"OK TRACKING {tracked}"

    def _frame(self, head: str, rows: list[str]) -> str:
        return "\n".join((f"BEGIN LIST {head}", *(f"{head} {row}" for row in rows), f"END LIST {head}"))
