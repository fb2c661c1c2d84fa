"""A small UPS on a serial line that speaks Megatec's Q1, which a dozen of NUT's drivers know."""

from __future__ import annotations

import asyncio
import os
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

# Volts in, at the last fault, out; load %, Hz, V a cell, C; eight bits: on mains, battery well, ..., line-interactive, beeper on.
ANSWERS = {
    b"Q1": b"(230.4 230.1 229.9 028 49.9 2.27 25.0 00001001",
    b"F": b"#230.0 002 024.0 50.0",
    b"I": b"#Acme            Small      V1        ",
}


@dataclass
class Megatec:
    """What it is asked it answers; orders it takes without a word."""

    orders: list[str] = field(default_factory=list)
    _came: bytes = b""

    @contextmanager
    def serve(self) -> Iterator[str]:
        """Gives the path of its line."""
        ours, theirs = os.openpty()
        tty.setraw(theirs)
        loop = asyncio.get_running_loop()
        loop.add_reader(ours, self._hear, ours)
        try:
            yield os.ttyname(theirs)
        finally:
            loop.remove_reader(ours)
            os.close(ours)
            os.close(theirs)

    def _hear(self, line: int) -> None:
        *asked, self._came = (self._came + os.read(line, 256)).split(b"\r")
        for one in asked:
            if one in ANSWERS:
                os.write(line, ANSWERS[one] + b"\r")
            else:
                self.orders.append(one.decode(errors="replace"))
