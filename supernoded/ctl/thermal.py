"""`supernodectl thermal`: coolant and heat at a glance, a device held by hand, the last minutes of a unit, its commissioning."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import click
from click.shell_completion import CompletionItem

from supernoded.chaos.durations import FORMS, parse_duration
from supernoded.ctl.deferred import Deferred
from supernoded.ctl.options import Invocation, common
from supernoded.ctl.printing import show
from supernoded.ctl.thermal_wording import render_handed, render_history, render_thermal
from supernoded.ctl.wording import say_duration
from supernoded.errors import AdminError
from supernoded.messages import LONGEST_HAND, Handed, HandOrder, Thermal, ThermalHistory, ThermalHistoryFilter

COMPLETION_PATIENCE = 1.0  # seconds


class Duration(click.FloatRange):
    """Seconds, written as people do: `10m`."""

    def __init__(self, most: float) -> None:
        super().__init__(min=0.0, min_open=True, max=most)
        self._most = most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """See `click.ParamType.convert`."""
        seconds = parse_duration(value) if isinstance(value, str) and not value.replace(".", "", 1).isdecimal() else float(value)
        if seconds is None:
            self.fail(f"{value!r} is no duration; {FORMS}", param, ctx)
        if not 0.0 < seconds <= self._most:
            self.fail(f"{value} is too short or too long: above 0 s and at most {say_duration(self._most)} can be asked for", param, ctx)
        return seconds


def complete_target(context: click.Context, option: click.Parameter, typed: str) -> list[CompletionItem]:
    """The devices that the daemon's loops turn; none when it does not answer at once."""
    del option
    told = _look_quickly(context)
    return [] if told is None else [CompletionItem(row.target, help=row.name) for row in told.loops if row.target.startswith(typed)]


def complete_unit(context: click.Context, option: click.Parameter, typed: str) -> list[CompletionItem]:
    """The coolant units that the daemon knows."""
    del option
    told = _look_quickly(context)
    return [] if told is None else [CompletionItem(unit.subject) for unit in told.units if unit.subject.startswith(typed)]


def _look_quickly(context: click.Context) -> Thermal | None:
    try:
        return context.ensure_object(Invocation).open_client(COMPLETION_PATIENCE).get("thermal", Thermal).answer
    except AdminError:  # in the middle of a line there is nobody to tell
        return None


@click.group(invoke_without_command=True)
@click.option("--watts", is_flag=True, help="Draw the power of the cards instead of their temperature.")
@common
@click.pass_context
def thermal(context: click.Context, *, watts: bool) -> None:
    """Show coolant and heat: what is wrong, units and their margins, who turns what, and every card's temperature."""
    if context.invoked_subcommand is None:
        invocation = context.ensure_object(Invocation)
        show(invocation, invocation.open_client().get("thermal", Thermal), lambda told: render_thermal(told, watts=watts))


@thermal.command()
@click.argument("target", shell_complete=complete_target)
@click.argument("value", type=float)
@click.option(
    "--for", "seconds", type=Duration(LONGEST_HAND), required=True, help=f"How long, such as 10m; at most {say_duration(LONGEST_HAND)}."
)
@click.option("--reason", default="", help="A sentence for the journal, and for whoever looks.")
@common
@click.pass_obj
def hold(invocation: Invocation, target: str, value: float, seconds: float, reason: str) -> None:
    """Hold TARGET, such as cdu/0/valve, at VALUE by hand for a while.

    Its loop follows meanwhile, keeps what must never be broken (the dew point), and goes on from there at the end.
    """
    order = HandOrder(value=value, seconds=seconds, reason=reason)
    show(invocation, invocation.open_client().post(to_path(target), Handed, order), render_handed)


@thermal.command()
@click.argument("target", shell_complete=complete_target)
@common
@click.pass_obj
def release(invocation: Invocation, target: str) -> None:
    """Give TARGET back to its loop before its time is up."""
    show(invocation, invocation.open_client().delete(to_path(target), Handed), render_handed)


@thermal.command()
@click.argument("unit", metavar="LOOP", shell_complete=complete_unit)
@click.option("--last", "seconds", type=Duration(3600), default="10m", show_default=True, help="How far back.")
@common
@click.pass_obj
def history(invocation: Invocation, unit: str, seconds: float) -> None:
    """Draw the last minutes of LOOP, such as cdu/0: supply, setpoint, return, flow, valve. Ten minutes are kept in memory."""
    wanted = ThermalHistoryFilter(loop=unit, seconds=seconds)
    show(invocation, invocation.open_client().get("thermal/history", ThermalHistory, wanted), render_history)


def to_path(target: str) -> str:
    """Where a device is held by hand."""
    return f"loops/{quote(target)}"


thermal.add_command(
    Deferred("commission", "supernoded.ctl.thermal_commission:commission", "Step a unit's valve through positions and record what comes.")
)
