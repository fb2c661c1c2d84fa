"""The verbs that plugins bring. Imported only when a verb is not one of ours, or all are listed."""

from __future__ import annotations

import click

from supernoded.registry import commands, discover


def list_commands() -> dict[str, click.Command]:
    """The plugins' groups by name; what is left out is named by `supernodectl plugins`."""
    return commands(discover())
