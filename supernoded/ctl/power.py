"""`supernodectl power`: the supplies, what is armed, and the timeline of a sag."""

from __future__ import annotations

import click

from supernoded.ctl.options import Invocation, common
from supernoded.ctl.printing import Sheet, Table, show
from supernoded.ctl.wording import NONE, say_count, say_duration, say_left_off, say_value, say_when
from supernoded.messages import Power, Strip, Supply, Timeline, TimelineFilter
from supernoded.model import Level, Severity


@click.group(invoke_without_command=True)
@common
@click.pass_context
def power(context: click.Context) -> None:
    """Show UPSes and PDUs: what they show, what is armed, and what is said of them.

    `supernodectl power timeline` tells a sag stage by stage.
    """
    if context.invoked_subcommand is None:
        invocation = context.ensure_object(Invocation)
        show(invocation, invocation.open_client().get("power", Power), render_power)


@power.command()
@click.argument("incident", metavar="[INCIDENT]", default="")
@common
@click.pass_obj
def timeline(invocation: Invocation, incident: str) -> None:
    """Tell what was seen and done about INCIDENT, stage by stage; without one, about the newest incident of power."""
    show(invocation, invocation.open_client().get("timeline", Timeline, TimelineFilter(incident=incident)), render_timeline)


def render_power(told: Power) -> Sheet:
    """Lay out supplies, PDUs and what is said."""
    raised = [verdict for verdict in told.verdicts if verdict.level is Level.RAISED]
    unsure = sum(1 for verdict in told.verdicts if verdict.level is Level.UNSURE)
    return [
        *(f"{verdict.severity.value}: {verdict.text}" for verdict in raised),
        *([_say_calm(told, unsure)] if not raised else []),
        "",
        Table(
            ("UPS", "STATUS", "INPUT", "CHARGE", "RUNTIME", "LOAD", "JUDGED", "WHAT IS SAID"),
            [_to_supply(one) for one in told.supplies],
            "No UPS is described or read.",
            below=1,
        ),
        "",
        Table(
            ("PDU", "FEED", "POWER", "ARMED", "RESTORES", "LAST EVENT", "OFF", "JUDGED"),
            [_to_strip(one) for one in told.strips],
            "No PDU is described or read.",
        ),
    ]


def _say_calm(told: Power, unsure: int) -> str:
    if unsure:
        return f"No trouble of power is seen, but {say_count(unsure, 'verdict')} could not be given for want of readings."
    if told.verdicts:
        return "All is well with power."
    judge = f"; node {told.judged_by} has the role that judges it" if told.judged_by else ""
    return f"No rule of this daemon judges power{judge}."


def _to_supply(one: Supply) -> tuple[str, ...]:
    status = NONE if one.status is None else " ".join(one.status).upper() or "(none)"
    return (
        one.subject,
        status if one.link in ("", "ok") else f"{status} ({one.link})",
        _say(one.input_voltage, "V"),
        _say(one.charge, "%"),
        NONE if one.runtime is None else say_duration(one.runtime),
        _say(one.load, "%"),
        _judge(one.level, one.severity),
        one.text,
    )


def _to_strip(one: Strip) -> tuple[str, ...]:
    return (
        one.subject,
        one.feed or NONE,
        _say(one.power, "W"),
        _say_armed(one),
        NONE if one.restore_s is None else f"after {one.restore_s:g} s",
        _say_event(one),
        " ".join(one.off) or NONE,
        _judge(one.level, one.severity),
    )


def _say_armed(one: Strip) -> str:
    if one.armed is None:
        return NONE
    if not one.armed:
        return "no"
    lease = "" if one.lease_left is None else f", {one.lease_left:.0f} s left"
    return f"{say_count(len(one.group or ()), 'outlet')}{lease}"


def _say_event(one: Strip) -> str:
    if one.event in ("fired", "restored") and one.event_age is not None:
        delay = "" if one.shed_delay is None else f" in {one.shed_delay:g} ms"
        return f"{one.event}, shed{delay} {say_duration(one.event_age)} ago"
    return one.event or NONE


def _say(value: float | None, unit: str) -> str:
    return NONE if value is None else say_value(value, unit)


def _judge(level: Level, severity: Severity) -> str:
    return {Level.RAISED: severity.value, Level.CLEAR: "good", Level.UNSURE: "unsure"}[level]


def render_timeline(told: Timeline) -> Sheet:
    """Lay out a timeline: seconds from the opening of the incident on."""
    one = told.incident
    end = "still open" if one.closed is None else f"closed after {say_duration(one.closed - one.opened)}"
    rows = [(f"{moment.at - one.opened:+.3f} s", moment.what, moment.subject, moment.text) for moment in told.moments]
    return [
        f"{one.text} ({one.kind}, incident {one.id})",
        f"Opened {say_when(one.opened, told.now)}, {end}.",
        "",
        Table(("AFTER", "WHAT", "OF", "WHICH"), rows, "Nothing was written of it.", below=1),
        *say_left_off(told.left_off),
    ]
