"""The options that every verb takes, before and after its name."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import click

from sim_hardware.command.asking import Line

P = ParamSpec("P")
T = TypeVar("T")

VARIABLE = "SUPERNODE_SIM_DIR"


def find_folder() -> Path:
    """Where a rack is served when nobody says where."""
    return Path(os.environ.get(VARIABLE) or Path(tempfile.gettempdir()) / f"supernode-sim-{os.getuid()}")


class Seconds(click.FloatRange):
    """A time above 0 that ends."""

    def __init__(self) -> None:
        super().__init__(min=0.0, min_open=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """See `click.ParamType.convert`."""
        seconds: float = super().convert(value, param, ctx)
        if not math.isfinite(seconds):
            self.fail(f"{value} is no number of seconds; leave the option out for no end.", param, ctx)
        return seconds


@dataclass
class Invocation:
    """What the common options of one run say."""

    dir: Path = field(default_factory=find_folder)
    output: str = "table"

    @property
    def as_json(self) -> bool:
        """Whether a program reads the answer."""
        return self.output == "json"

    def open_line(self) -> Line:
        """The way to the served rack. Raises UnservedError."""
        return Line(self.dir)


def _remember(context: click.Context, option: click.Parameter, value: object) -> None:
    invocation = context.ensure_object(Invocation)
    if value is not None and option.name is not None:
        setattr(invocation, option.name, value)


_OPTIONS = (
    click.option(
        "--dir",
        type=click.Path(path_type=Path, file_okay=False),
        expose_value=False,
        callback=_remember,
        help=f"The folder of the served rack. Default: ${VARIABLE}, else supernode-sim-UID among the temporary files.",
    ),
    click.option(
        "-o", "--output", type=click.Choice(["table", "json"]), expose_value=False, callback=_remember, help="For people, or for programs."
    ),
)


def common(verb: Callable[P, T]) -> Callable[P, T]:
    """Give a verb (or the whole command) the common options; `click.pass_obj` hands it the Invocation."""
    for option in reversed(_OPTIONS):
        verb = option(verb)
    return verb
