"""`supernodectl links` and `diagnose`: how every link is doing, and why one thing is in trouble."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import partial

import click

from supernoded.ctl.options import Invocation, common
from supernoded.ctl.printing import Sheet, Table, show
from supernoded.ctl.wording import NONE, say_age, say_count, say_none, say_value
from supernoded.messages import Diagnosed, Link, Links, SubjectFilter
from supernoded.model import Cause, Level, Reading, Verdict

MOST_READINGS = 60  # of a diagnosis; JSON has them all


@click.command()
@click.argument("pattern", metavar="[SUBJECT-PATTERN]", default="")
@click.option("--troubled", is_flag=True, help="Only links that a rule raises, or that are not up.")
@common
@click.pass_obj
def links(invocation: Invocation, pattern: str, *, troubled: bool) -> None:
    """Show every link: state, speed, where it goes, its light, and the worst that is said of it.

    SUBJECT-PATTERN is a shell pattern, such as 'n0/card3/*'; JSON has all links, whatever the pattern.
    """
    show(invocation, invocation.open_client().get("links", Links), partial(render_links, pattern=pattern, troubled=troubled))


def render_links(told: Links, pattern: str = "", *, troubled: bool = False) -> Sheet:
    """Lay out links."""
    chosen = [link for link in told.links if fnmatchcase(link.subject, pattern or "*") and (not troubled or _is_troubled(link))]
    if troubled and not chosen and told.links and not pattern:
        return [f"All {say_count(len(told.links), 'link')} are up, and no rule raises any of them."]
    rows = [
        (
            link.subject,
            link.state,
            NONE if link.speed is None else f"{say_value(link.speed, 'Gb/s')}{_say_width(link)}",
            link.neighbour or link.peer or NONE,
            NONE if link.rx_power is None else say_value(link.rx_power, "mW"),
            _judge(link),
            link.text,
        )
        for link in chosen
    ]
    return [Table(("PORT", "STATE", "SPEED", "TO", "RX", "JUDGED", "WHAT IS SAID"), rows, say_none("links", subject=pattern), below=1)]


def _is_troubled(link: Link) -> bool:
    return bool(link.kinds) or link.state != "up"


def _say_width(link: Link) -> str:
    return "" if link.width is None else f" x{link.width:.0f}"


def _judge(link: Link) -> str:
    return {Level.RAISED: link.severity.value, Level.CLEAR: "good", Level.UNSURE: "unsure"}[link.level]


@click.command()
@click.argument("subject")
@common
@click.pass_obj
def diagnose(invocation: Invocation, subject: str) -> None:
    """Say what is known of SUBJECT, such as n0/card3/port0, and what most likely troubles it.

    It is looked at from the hardware up: link, communication library, application. The first trouble found
    that way explains those below it.
    """
    if not subject.strip():
        raise click.BadParameter("it is empty; name one, such as n0/card3/port0", param_hint="SUBJECT")
    show(invocation, invocation.open_client().get("diagnosis", Diagnosed, SubjectFilter(subject=subject)), render_diagnosis)


def render_diagnosis(told: Diagnosed) -> Sheet:
    """Lay out a diagnosis: the finding, its causes, every verdict, the readings."""
    raised = [verdict for verdict in told.verdicts if verdict.level is Level.RAISED]
    rows = [(_word(verdict), verdict.kind, verdict.subject, verdict.text) for verdict in told.verdicts]
    readings = [_to_row(reading, told.now) for reading in told.readings[:MOST_READINGS]]
    more = len(told.readings) - len(readings)
    return [
        *_say_finding(told, raised),
        *(line for number, cause in enumerate(told.causes, start=1) for line in _say_cause(number, cause, told.now)),
        "",
        Table(("SAID", "RULE", "OF", "WHAT"), rows, f"No rule has judged {told.subject} or what is around it.", below=1),
        "",
        Table(("PART", "QUANTITY", "VALUE", "STATE", "READ", "NOTE"), readings, f"Nothing is read of {told.subject}.", below=1),
        *([f"... and {say_count(more, 'reading')} more: supernodectl readings '{told.subject}*'"] if more > 0 else []),
    ]


def _say_finding(told: Diagnosed, raised: list[Verdict]) -> Iterator[str]:
    if not told.readings and not any(f"{verdict.subject}/".startswith(f"{told.subject}/") for verdict in told.verdicts):
        yield f"Nothing is read or judged of {told.subject} itself; what follows is of what is around it."
    unsure = sum(1 for verdict in told.verdicts if verdict.level is Level.UNSURE)
    if raised:
        yield f"{raised[0].text} ({raised[0].kind})."
        if len(raised) > 1:
            yield f"{say_count(len(raised) - 1, 'further trouble')} around it; the first, from the hardware up, explains the others best."
    elif unsure:
        yield f"{told.subject}: no trouble is seen, but {say_count(unsure, 'verdict')} could not be given for want of readings."
    else:
        yield f"{told.subject}: no trouble is seen."
    for incident in told.incidents:
        yield f"Open incident {incident.id} since {say_age(incident.opened, told.now)}: {incident.text}"
    for hold in told.holds:
        yield f"{hold.owner} holds {hold.subject} out of service since {say_age(hold.placed, told.now)}: {hold.reason} [{hold.id}]"
    if raised and not told.causes:
        yield "No plugin explains it."


def _say_cause(number: int, cause: Cause, now: float) -> Iterator[str]:
    yield ""
    yield f"{number}. {cause.name}, {100 * cause.weight:.0f} %, at {cause.subject}"
    yield from (f"   + {sentence}" for sentence in cause.evidence)
    yield from (f"   - {sentence}" for sentence in cause.against)
    if cause.advice:
        yield f"   do: {cause.advice}"
    if cause.at:
        yield f"   newest reading: {say_age(cause.at, now)}"


def _word(verdict: Verdict) -> str:
    return verdict.severity.value if verdict.level is Level.RAISED else "good" if verdict.level is Level.CLEAR else "unsure"


def _to_row(reading: Reading, now: float) -> tuple[str, ...]:
    note = f"by {reading.source}" + (f": {reading.note}" if reading.note else "")
    return reading.subject, reading.quantity, say_value(reading.value, reading.unit), reading.state.value, say_age(reading.at, now), note
