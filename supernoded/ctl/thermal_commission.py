"""`supernodectl thermal commission`: what the valve of a unit does to its supply, recorded on the live plant. Imported when called."""

from __future__ import annotations

import time
from pathlib import Path

import click
import msgspec

from supernoded.ctl.client import AdminClient
from supernoded.ctl.mode import has_terminal
from supernoded.ctl.options import Invocation, common
from supernoded.ctl.printing import Sheet, Table, print_sheet
from supernoded.ctl.thermal import Duration, complete_unit, to_path
from supernoded.ctl.thermal_points import Record
from supernoded.ctl.thermal_procedure import HAND_FOR, Commissioning, Plan
from supernoded.ctl.thermal_watch import STEADY_FOR, Bounds
from supernoded.ctl.wording import say_count, say_duration
from supernoded.errors import AdminError
from supernoded.messages import SCHEMA, Handed, HandOrder, Thermal

POSITIONS = "10,20,30,40,50,60,70,80,90"
SETTLE = 180.0  # seconds; in less, racks behind long pipes still move
MOST = 30.0  # C of the supply: 8 above what is held (T5), and far below where a card throttles (ours)
PATIENCE = 5.0  # seconds for one answer: the hand lets go in twice as long
REASON = "commissioning"


class Recorded(msgspec.Struct, frozen=True, kw_only=True):
    """What `-o json` prints at the end."""

    schema: int = SCHEMA
    file: str
    cdu: str
    recorded: float
    silence_s: float | None
    fallback_c: float | None
    points: tuple[dict[str, float | bool], ...]


class OverSocket:
    """See `thermal_procedure.Access`."""

    def __init__(self, client: AdminClient) -> None:
        self._client = client

    def look(self) -> Thermal:
        """See `Access.look`."""
        return self._client.get("thermal", Thermal).answer

    def hold(self, target: str, value: float | None, seconds: float) -> None:
        """See `Access.hold`."""
        self._client.post(to_path(target), Handed, HandOrder(value=value, seconds=seconds, reason=REASON))

    def release(self, target: str) -> None:
        """See `Access.release`."""
        self._client.delete(to_path(target), Handed)

    def sleep(self, seconds: float) -> None:
        """See `Access.sleep`."""
        time.sleep(seconds)


def _read_positions(context: click.Context, option: click.Parameter, value: str) -> tuple[float, ...]:
    del context
    try:
        positions = tuple(float(part) for part in value.split(","))
    except ValueError as error:
        raise click.BadParameter(f"{value!r} is no list of per cents such as 10,50,90", param=option) from error
    outside = [position for position in positions if not 0.0 <= position <= 100.0]
    if outside:
        raise click.BadParameter(f"{outside[0]:g} is no position of a valve: 0 to 100 % can be asked for", param=option)
    return positions


@click.command()
@click.argument("unit", metavar="LOOP", shell_complete=complete_unit)
@click.option("--positions", default=POSITIONS, show_default=True, callback=_read_positions, help="Of the valve, in %, one after another.")
@click.option("--settle", type=Duration(3600), default=f"{SETTLE:g}", show_default=True, help="Seconds at most at each position.")
@click.option("--most", type=float, default=MOST, show_default=True, metavar="C", help="Let go when the supply is warmer.")
@click.option("--least", type=float, metavar="C", help="Let go when the supply is colder. Default: the dew point and its margin.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Default: the loop's name and .toml, here.")
@click.option("--silence", is_flag=True, help="Then say nothing to the unit until it falls back by itself, and read where it is then.")
@click.option("--yes", is_flag=True, help="Do not ask before it begins.")
@common
@click.pass_obj
def commission(
    invocation: Invocation,
    unit: str,
    *,
    positions: tuple[float, ...],
    settle: float,
    most: float,
    least: float | None,
    out: Path | None,
    silence: bool,
    yes: bool,
) -> None:
    """Step the valve of LOOP, such as cdu/0, through positions and record what comes of each.

    For units with authority direct, whose loop steers now. It moves the coolant of a live plant: load should be steady, and somebody
    should watch. The valve is given back at the end, at any error, and by itself within seconds when this program dies.
    """
    if settle < STEADY_FOR:
        raise click.UsageError(f"--settle {settle:g} is too short: nothing may move for {STEADY_FOR:g} s, which must fit in it")
    plan = Plan(unit, positions, settle, Bounds(most, least), silence)
    access = OverSocket(invocation.open_client(PATIENCE))
    procedure = Commissioning(access, plan, lambda line: click.echo(line, err=True))
    found = procedure.check()
    name = f"{found.name or unit.replace('/', '')}.toml"
    record = Record(out or Path(name), cdu=unit, recorded=access.look().now)
    _refuse_leftovers(record)
    _ask(plan, record, yes=yes)
    record.save()
    _run(procedure, record)
    _show(invocation, record, name)


def _refuse_leftovers(record: Record) -> None:
    if record.partial.exists():
        raise AdminError(f"{record.partial} is left from a run that did not end: move it away, or name another file with --out")


def _ask(plan: Plan, record: Record, *, yes: bool) -> None:
    """Say on stderr what will be done, and ask."""
    print_sheet(explain(plan, record), to_stderr=True)
    if yes:
        return
    if not has_terminal():
        raise click.UsageError("commissioning asks first, and there is nobody to ask: say --yes")
    click.confirm(f"Take hold of the valve of {plan.cdu}?", abort=True, err=True)


def explain(plan: Plan, record: Record) -> Sheet:
    """What will be done."""
    floor = "the dew point and its margin" if plan.bounds.least is None else f"{plan.bounds.least:g} C (or the dew point and its margin)"
    steps, longest = ", ".join(f"{position:g}" for position in plan.positions), say_duration(len(plan.positions) * plan.settle)
    return [
        f"This holds the valve of {plan.cdu} at {steps} %, each for {plan.settle:g} s at most: {longest} in all.",
        f"It lets go at once when the supply leaves {floor} to {plan.bounds.most:g} C, at a leak, at any error and at Ctrl-C.",
        f"When this program dies, the valve is let go within {HAND_FOR:g} s.",
        "Keep the load steady meanwhile. The rules will rightly say that the supply leaves its band.",
        *(["Then the unit hears nothing from us until it falls back to its own control, and is taken anew."] if plan.silence else []),
        f"Every point is kept in {record.partial}, which becomes {record.path} at the end.",
    ]


def _run(procedure: Commissioning, record: Record) -> None:
    whole = False
    try:
        procedure.run(record)
        record.finish()
        whole = True
    finally:
        if not whole:
            click.echo(_say_unfinished(record), err=True)


def _say_unfinished(record: Record) -> str:
    """A partial file without a point is of no use to anybody."""
    if record.points:
        return f"It did not end: {say_count(len(record.points), 'point')} in {record.partial}."
    record.partial.unlink(missing_ok=True)
    return "It did not end: nothing was recorded."


def _show(invocation: Invocation, record: Record, name: str) -> None:
    if not invocation.as_json:
        print_sheet(render_record(record, name))
        return
    told = Recorded(
        file=str(record.path),
        cdu=record.cdu,
        recorded=record.recorded,
        silence_s=record.silence_s,
        fallback_c=record.fallback_c,
        points=tuple(msgspec.to_builtins(point) for point in record.points),
    )
    click.echo(msgspec.json.format(msgspec.json.encode(told), indent=2))


def render_record(record: Record, name: str) -> Sheet:
    """Lay out what was recorded, and say where it belongs, and under which name."""
    rows = [
        (
            f"{p.valve:.1f} %",
            f"{p.supply:.2f} C",
            f"{p.return_temperature:.2f} C",
            f"{p.primary:.2f} C",
            f"{p.flow:.0f} L/min",
            _say(p.steady),
        )
        for p in record.points
    ]
    fallback = "" if record.fallback_c is None else f" to {record.fallback_c:.2f} C"
    return [
        Table(("VALVE", "SUPPLY", "RETURN", "PRIMARY", "FLOW", "STEADY"), rows),
        *([] if record.silence_s is None else [f"In silence it fell back after {record.silence_s:.0f} s{fallback}."]),
        *_warn_of_unsteady(record),
        f"Recorded in {record.path}.",
        f"It belongs, as {name}, into the folder that `commissioning` of [plugins.thermal] names.",
        "A restart of the daemon takes it: sudo systemctl restart supernoded",
    ]


def _warn_of_unsteady(record: Record) -> Sheet:
    moved = sum(1 for point in record.points if not point.steady)
    if not moved:
        return []
    return [f"{moved} of {say_count(len(record.points), 'point')} still moved: a loop is held better by a record with a longer --settle."]


def _say(steady: bool) -> str:
    return "yes" if steady else "not yet"
