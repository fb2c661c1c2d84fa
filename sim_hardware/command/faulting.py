"""The verbs that do something to the served rack: `inject`, `lift`, and `active` which shows what is done."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence

import click

from sim_hardware.command.asking import Answer, SimError
from sim_hardware.command.options import Invocation, Seconds, common
from supernoded.ctl.printing import Table, print_sheet
from supernoded.ctl.wording import NONE, say_duration


def read_parameters(given: Sequence[str]) -> dict[str, object]:
    """`name=value` each; a value is TOML (a number, true, "a text", a list), and else a text as it stands. Raises click.UsageError."""
    read: dict[str, object] = {}
    for pair in given:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise click.UsageError(f"{pair!r} is no parameter; write name=value")
        if name in read:
            raise click.UsageError(f"{name} is given twice; give each parameter once")
        read[name] = _read_value(value)
    return read


def _read_value(text: str) -> object:
    """Dates, and numbers that are none, stay text: the server says what is due there."""
    try:
        table = tomllib.loads(f"value = {text}")
        return json.loads(json.dumps(table["value"], allow_nan=False)) if list(table) == ["value"] else text
    except (tomllib.TOMLDecodeError, TypeError, ValueError):
        return text


@click.command()
@click.argument("kind")
@click.argument("target")
@click.argument("parameters", nargs=-1, metavar="[NAME=VALUE]...")
@click.option("--for", "seconds", type=Seconds(), metavar="SECONDS", help="Lift it by itself after so long. Default: it stays.")
@click.option("--name", default="", help="By which it is lifted. Default: KIND@TARGET.")
@common
@click.pass_obj
def inject(invocation: Invocation, kind: str, target: str, parameters: Sequence[str], seconds: float | None, name: str) -> None:
    """Begin a fault of KIND on TARGET; again with the same name, change its parameters. `faults KIND` shows them."""
    timed = {} if seconds is None else {"for": seconds}
    request = {"fault": kind, "on": target, "with": read_parameters(parameters), "name": name}
    answer = invocation.open_line().ask("inject", **request, **timed)
    _print(invocation, answer, [_say(answer)])


@click.command()
@click.argument("name", default="")
@click.option("--all", "everything", is_flag=True, help="Lift all of them.")
@common
@click.pass_obj
def lift(invocation: Invocation, name: str, everything: bool) -> None:
    """End the fault called NAME."""
    if bool(name) == everything:
        raise click.UsageError("give the NAME of a fault in place, or --all; `active` lists them")
    answer = invocation.open_line().ask("lift", **({"all": True} if everything else {"name": name}))
    _print(invocation, answer, [f"lifted: {one['name']}" for one in answer["lifted"]] or ["no fault is in place"])


@click.command()
@common
@click.pass_obj
def active(invocation: Invocation) -> None:
    """List the faults in place, and whether they show in what devices say."""
    line = invocation.open_line()
    answer, now = line.ask("active"), line.ask("rack")["now"]
    for fault in answer["active"]:
        fault["manifest"] = _look(invocation, fault["name"])
    cells = [
        (
            fault["name"],
            fault["fault"],
            fault["on"],
            _say_parameters(fault["with"]),
            say_duration(now - fault["since"]),
            say_duration(fault["until"] - now) if "until" in fault else NONE,
            {True: "yes", False: "no", None: "not known"}[fault["manifest"]],
            fault.get("trouble", ""),
        )
        for fault in answer["active"]
    ]
    columns = ("NAME", "FAULT", "TARGET", "PARAMETERS", "SINCE", "LEFT", "SHOWS", "TROUBLE")
    if invocation.as_json:
        click.echo(json.dumps(answer, indent=2))
    else:
        print_sheet([Table(columns, cells, "No fault is in place.", below=1)])


def _look(invocation: Invocation, name: str) -> bool | None:
    try:
        shows: bool | None = invocation.open_line().ask("manifest", name=name)["manifest"]
    except SimError:
        return None  # it was lifted meanwhile
    return shows


def _print(invocation: Invocation, answer: Answer, sentences: Sequence[str]) -> None:
    click.echo(json.dumps(answer, indent=2) if invocation.as_json else "\n".join(sentences))


def _say(fault: Answer) -> str:
    timed = f", for {say_duration(fault['until'] - fault['since'])}" if "until" in fault else ""
    return f"{fault['name']}: {fault['fault']} on {fault['on']} is in place ({_say_parameters(fault['with'])}){timed}"


def _say_parameters(parameters: Mapping[str, object]) -> str:
    return ", ".join(f"{name}={value}" for name, value in parameters.items()) or NONE
