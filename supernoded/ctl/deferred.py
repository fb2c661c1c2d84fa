"""A command whose module is imported when it is called, so that what it needs slows no other verb."""

from __future__ import annotations

import importlib
from typing import Any

import click


class Deferred(click.Command):
    """Stands for the click command at `target` (`module:attribute`) in lists and help of its group."""

    def __init__(self, name: str, target: str, short_help: str) -> None:
        super().__init__(name, short_help=short_help)
        self._target = target

    def make_context(self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any) -> click.Context:
        """The context of the real command: from here on click sees that one."""
        module, _, attribute = self._target.partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command.make_context(info_name, args, parent, **extra)
