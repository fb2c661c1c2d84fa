"""`supernodectl jobs` and `checkpoint`: how training is doing, and where its checkpoints are."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import click
from click.shell_completion import CompletionItem

from supernoded.ctl.client import AdminClient
from supernoded.ctl.options import Invocation, common
from supernoded.ctl.printing import Sheet, Table, show
from supernoded.ctl.rank_map import FORMS, print_map
from supernoded.ctl.wording import NONE, say_count, say_duration, say_value
from supernoded.errors import AdminError
from supernoded.messages import CheckpointAsk, CheckpointFilter, JobRow, Jobs, RankRow, Requested, RequestRow

COMPLETION_PATIENCE = 1.0  # seconds
LOOK_EVERY = 0.5  # seconds between two looks while somebody waits
ENDED = frozenset({"durable", "withdrawn", "failed"})
MOST_RANKS = 64  # of a job in the table; JSON has them all


def complete_job(context: click.Context, option: click.Parameter, typed: str) -> list[CompletionItem]:
    """The jobs the daemon knows; none when it does not answer at once."""
    del option
    try:
        known = context.ensure_object(Invocation).open_client(COMPLETION_PATIENCE).get("jobs", Jobs).answer
    except AdminError:  # in the middle of a line there is nobody to tell
        return []
    return [CompletionItem(one.job, help=one.state) for one in known.jobs if one.job.startswith(typed)]


class _Jobs(click.Group):
    """What is none of its verbs is the name of a job to show."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        return super().resolve_command(ctx, args if args[0] in self.commands else ["show", *args])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        named = [] if incomplete.startswith("-") else complete_job(ctx, click.Argument(["job"]), incomplete)
        return [*named, *super().shell_complete(ctx, incomplete)]


@click.group(cls=_Jobs, invoke_without_command=True, subcommand_metavar="[JOB | COMMAND [ARGS]...]")
@common
@click.pass_context
def jobs(context: click.Context) -> None:
    """Show the training jobs on this node: steps, saves, how old the newest durable checkpoint is; with JOB its ranks too."""
    if context.invoked_subcommand is None:
        _show_jobs(context.ensure_object(Invocation), "")


@jobs.command("show")
@click.argument("job", shell_complete=complete_job)
@common
@click.pass_obj
def show_job(invocation: Invocation, job: str) -> None:
    """Show JOB and its ranks; as `jobs JOB`, also for a job that is called like a verb."""
    _show_jobs(invocation, job)


@jobs.command("map")
@click.argument("job", shell_complete=complete_job)
@click.option("--as", "form", type=click.Choice(FORMS), default=FORMS[0], show_default=True, help="HCCL rank table, hostfile, or JSON.")
@click.option(
    "--addresses",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help='For an HCCL rank table: JSON with the address of each card\'s own port, {"n0/card0": "10.0.0.10"}.',
)
@common
@click.pass_obj
def map_job(invocation: Invocation, job: str, form: str, addresses: Path | None) -> None:
    """Write which rank of JOB runs on which card, for its launcher."""
    print_map(invocation, job, form, addresses)


def _show_jobs(invocation: Invocation, job: str) -> None:
    show(invocation, invocation.open_client().get("jobs", Jobs), lambda told: render_jobs(told, job))


@click.group()
@common
def checkpoint() -> None:
    """Ask a job for a checkpoint, or see how one stands."""


@checkpoint.command()
@click.argument("job", shell_complete=complete_job)
@click.option("--reason", default="", help="A sentence for the journal and for the ranks.")
@click.option(
    "--deadline", type=click.FloatRange(0, min_open=True), metavar="SECONDS", help="By when it is wanted; default as in the settings."
)
@click.option(
    "--wait",
    is_flag=True,
    help="Wait until it is durable (saved, without a durable tier), stage by stage; exit code 1 when it fails.",
)
@common
@click.pass_obj
def request(invocation: Invocation, job: str, reason: str, deadline: float | None, *, wait: bool) -> None:
    """Ask JOB for a checkpoint: its ranks agree on a step, save it and go on."""
    client = invocation.open_client()
    asked = client.post(f"jobs/{quote(job, safe='')}/checkpoint", Requested, CheckpointAsk(reason=reason, deadline_s=deadline))
    one = asked.answer.request
    if not wait or one is None:
        show(invocation, asked, render_requested)
        return
    last = _follow(invocation, client, job, one)
    if not _is_fulfilled(last):
        raise AdminError(last.text)


@checkpoint.command()
@click.argument("job", shell_complete=complete_job)
@click.argument("request_id", metavar="[REQUEST]", default="")
@common
@click.pass_obj
def status(invocation: Invocation, job: str, request_id: str) -> None:
    """Show how the newest request to JOB stands, or REQUEST."""
    wanted = CheckpointFilter(request=request_id)
    show(invocation, invocation.open_client().get(f"jobs/{quote(job, safe='')}/checkpoint", Requested, wanted), render_requested)


def _follow(invocation: Invocation, client: AdminClient, job: str, one: RequestRow) -> RequestRow:
    """Until it is fulfilled, over, or past its hard limit; a line a stage."""
    told = ""
    while True:
        reply = client.get(f"jobs/{quote(job, safe='')}/checkpoint", Requested, CheckpointFilter(request=one.id))
        now = reply.answer.request or one
        if now.stage in ENDED or _is_fulfilled(now) or reply.answer.now >= now.hard:
            show(invocation, reply, render_requested)
            return now
        if now.text != told:
            click.echo(f"{say_duration(reply.answer.now - now.asked)}: {now.text}", err=True)
            told = now.text
        time.sleep(LOOK_EVERY)


def _is_fulfilled(one: RequestRow) -> bool:
    return one.stage in ("durable", one.wanted)


def render_jobs(told: Jobs, name: str = "") -> Sheet:
    """Lay out jobs, and the ranks of one."""
    chosen = [job for job in told.jobs if not name or job.job == name]
    if name and not chosen:
        known = ", ".join(job.job for job in told.jobs) or "none"
        return [f"No rank of job {name!r} has connected to this node; there are {known}."]
    columns = ("JOB", "STATE", "RANKS", "STEP", "STEP TIME", "SAVE", "STALL", "EVERY", "DURABLE STEP", "REQUEST")
    empty = "No rank has connected to this node's job.sock; docs/job.md says how a training script does."
    troubles = [f"{job.job}: {trouble}" for job in chosen for trouble in job.troubles]
    sheet: list[str | Table] = [*troubles, Table(columns, [_to_row(job) for job in chosen], empty)]
    if name:
        sheet += [chosen[0].interval_text or "The daemon of this node asks for no checkpoint by itself."]
        sheet += ["", Table(("RANK", "CARD", "STATE", "STEP", "STEP TIME", "HEARD"), list(_list_ranks(chosen[0])))]
    return sheet


def _to_row(job: JobRow) -> tuple[str, ...]:
    durable = NONE if job.durable_step is None else f"{job.durable_step} ({_say_seconds(job.durable_age)} old)"
    return (
        job.job,
        job.state,
        f"{len(job.ranks)} of {job.world}",
        _say_step(job.step),
        _say_seconds(job.step_time),
        _say_seconds(job.save_time),
        _say_seconds(job.stall_time),
        _say_seconds(job.interval),
        durable,
        NONE if job.request is None else job.request.text,
    )


def _list_ranks(job: JobRow) -> Iterator[tuple[str, ...]]:
    yield from (_to_rank_row(rank) for rank in job.ranks[:MOST_RANKS])
    if len(job.ranks) > MOST_RANKS:
        yield (f"... and {say_count(len(job.ranks) - MOST_RANKS, 'rank')} more", "", "", "", "", "")


def _to_rank_row(rank: RankRow) -> tuple[str, ...]:
    return str(rank.rank), rank.card, rank.state, _say_step(rank.step), _say_seconds(rank.step_time), f"{say_duration(rank.age)} ago"


def render_requested(told: Requested) -> Sheet:
    """Lay out a request."""
    one = told.request
    if one is None:
        return [f"Job {told.job} was not asked for a checkpoint; `supernodectl checkpoint request {told.job}` does."]
    left = one.deadline - told.now
    facts = [
        ("request", one.id),
        ("what", one.text),
        ("stage", one.stage),
        ("step", _say_step(one.step)),
        ("ranks saved", f"{len(one.saved)} of {len(one.expected)} on this node"),
        ("asked", f"{say_duration(told.now - one.asked)} ago"),
        *([("deadline", f"in {say_duration(left)}" if left > 0 else f"{say_duration(-left)} ago")] if one.stage not in ENDED else []),
        *([("reason", one.reason)] if one.reason else []),
    ]
    return [Table((), facts)]


def _say_step(step: int | None) -> str:
    return NONE if step is None else f"{step:,}"


def _say_seconds(seconds: float | None) -> str:
    return NONE if seconds is None else say_value(seconds, "s")
