"""The way to a served rack: its control socket. Needs neither the simulator nor a loop, so that verbs start quickly."""

from __future__ import annotations

import json
import shlex
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PATIENCE = 30.0  # s for one answer: a pod of a thousand nodes is busy now and then

Answer = dict[str, Any]


class SimError(Exception):
    """The served rack says no."""


class UnservedError(SimError):
    """No rack is served there."""


class Line:
    """One connection to the rack that is served in `folder`. Raises UnservedError when none is."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._line.settimeout(PATIENCE)
        try:
            self._line.connect(str(folder / "control.sock"))
        except OSError as error:
            self._line.close()
            raise UnservedError(
                f"no rack is served in {folder} ({error.strerror or error}).\n"
                f"Serve one:       supernode-sim serve rack-1x8 --dir {shlex.quote(str(folder))}\n"
                "Another folder:  supernode-sim --dir DIR, or set SUPERNODE_SIM_DIR"
            ) from error
        self._answers = self._line.makefile("rb")

    def ask(self, do: str, **fields: object) -> Answer:
        """One answer. Raises SimError with the server's sentence, and UnservedError when it has gone."""
        return next(self._ask({"do": do, **fields}))

    def follow(self, do: str, **fields: object) -> Iterator[Answer]:
        """Answers until the server ends. Raises as `ask` does."""
        answers = self._ask({"do": do, **fields, "follow": True})
        yield next(answers)
        self._line.settimeout(None)
        yield from answers

    def _ask(self, request: Answer) -> Iterator[Answer]:
        try:
            self._line.sendall(json.dumps(request).encode() + b"\n")
            answer: Answer = self._read()
            yield answer
            while line := self._answers.readline():
                yield json.loads(line)
        except TimeoutError as error:
            raise UnservedError(f"the rack in {self._folder} did not answer within {PATIENCE:g} s; it is stuck or overloaded") from error
        except OSError as error:
            raise UnservedError(f"the rack in {self._folder} is served no longer ({error.strerror or error})") from error

    def _read(self) -> Answer:
        line = self._answers.readline()
        if not line:
            raise UnservedError(f"the rack in {self._folder} is served no longer")
        answer: Answer = json.loads(line)
        if not answer.pop("ok", False):
            raise SimError(str(answer.get("error", "it says no, and not why")))
        return answer
