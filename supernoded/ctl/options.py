"""The options that every verb takes, before and after its name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ParamSpec, TypeVar

import click

from supernoded.ctl.client import AdminClient, list_sockets

P = ParamSpec("P")
T = TypeVar("T")

PATIENCE = 15.0  # seconds; the daemon itself gives up after 10


@dataclass
class Invocation:
    """What the common options of one run say."""

    socket: Path | None = None
    output: str = "table"
    timeout: float = PATIENCE

    @property
    def as_json(self) -> bool:
        """Whether a program reads the answer."""
        return self.output == "json"

    def open_client(self, patience: float | None = None) -> AdminClient:
        """The way to the daemon; `patience` replaces the default for requests that take long."""
        longest = self.timeout if self.timeout != PATIENCE or patience is None else patience
        return AdminClient(list_sockets(self.socket), longest)


def _remember(context: click.Context, option: click.Parameter, value: object) -> None:
    invocation = context.ensure_object(Invocation)
    if value is not None and option.name is not None:
        setattr(invocation, option.name, value)


_OPTIONS = (
    click.option(
        "--socket",
        type=click.Path(path_type=Path, readable=False),  # what this user may not read is unreachable, not a slip of the hand
        expose_value=False,
        callback=_remember,
        help="The daemon's admin socket. Default: $SUPERNODED_SOCKET, else the daemon of the system, else your own.",
    ),
    click.option(
        "-o", "--output", type=click.Choice(["table", "json"]), expose_value=False, callback=_remember, help="For people, or for programs."
    ),
    click.option(
        "--timeout",
        type=click.FloatRange(min=0.05, max=3600),
        expose_value=False,
        callback=_remember,
        metavar="SECONDS",
        help=f"Give up after so long. Default: {PATIENCE:g}.",
    ),
)


def common(verb: Callable[P, T]) -> Callable[P, T]:
    """Give a verb (or the whole command) the common options; `click.pass_obj` hands it the Invocation."""
    for option in reversed(_OPTIONS):
        verb = option(verb)
    return verb
