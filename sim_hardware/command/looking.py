"""The verbs that look at the served rack: `truth`, `sense`, `sensors` and `watch`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import click

from sim_hardware.command.options import Invocation, common
from supernoded.ctl.printing import Table, escape_controls, print_sheet
from supernoded.ctl.wording import say_value


def say_shown(value: float | str | list[str] | None, unit: str) -> str:
    """A value as the control socket gives it."""
    return say_value(frozenset(value) if isinstance(value, list) else value, unit)


def say_happening(news: Mapping[str, Any]) -> str:
    """One line."""
    return escape_controls(f"{news['at']:10.3f} s  {news['kind']:24} {news['subject']:20} {news['text']}")


def _look(invocation: Invocation, do: str, subject: str, quantity: str) -> None:
    answer = invocation.open_line().ask(do, subject=subject, quantity=quantity)
    if invocation.as_json:
        click.echo(json.dumps(answer, indent=2))
        return
    cells = [(one["quantity"], say_shown(one["value"], one["unit"])) for one in answer["values"]]
    print_sheet([Table(("QUANTITY", "VALUE"), cells)])


@click.command()
@click.argument("subject")
@click.argument("quantity", default="")
@common
@click.pass_obj
def truth(invocation: Invocation, subject: str, quantity: str) -> None:
    """Show what is so: QUANTITY of SUBJECT, or all of them, whatever sensors say."""
    _look(invocation, "truth", subject, quantity)


@click.command()
@click.argument("subject")
@click.argument("quantity", default="")
@common
@click.pass_obj
def sense(invocation: Invocation, subject: str, quantity: str) -> None:
    """Show what the sensors of SUBJECT show, which may be wrong."""
    _look(invocation, "sense", subject, quantity)


@click.command()
@click.argument("pattern", default="*")
@common
@click.pass_obj
def sensors(invocation: Invocation, pattern: str) -> None:
    """List the sensors whose subject fits PATTERN (`n0/*`), or `subject:quantity` does (`*:card.temperature`)."""
    answer = invocation.open_line().ask("sensors", pattern=pattern)
    if invocation.as_json:
        click.echo(json.dumps(answer, indent=2))
        return
    cells = [(one["subject"], one["quantity"], one["unit"]) for one in answer["sensors"]]
    print_sheet([Table(("SUBJECT", "QUANTITY", "UNIT"), cells, f"No sensors fit {pattern!r}; 'ups/*' fits those of both UPSes.")])


@click.command()
@click.option("--since", type=click.IntRange(min=0), default=0, metavar="NUMBER", help="Begin with this one. Default: the first one kept.")
@common
@click.pass_obj
def watch(invocation: Invocation, since: int) -> None:
    """Follow what happens to the rack, a line each, until it is served no longer."""
    with suppress(KeyboardInterrupt):  # the way to end it
        for answer in invocation.open_line().follow("happened", since=since):
            for news in answer["happened"]:
                click.echo(json.dumps(news) if invocation.as_json else say_happening(news))
