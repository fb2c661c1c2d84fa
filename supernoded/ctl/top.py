"""`supernodectl top`: the status and what happened last, again and again."""

from __future__ import annotations

import sys
import time

import click

from supernoded.ctl.client import AdminClient, UnreachableError
from supernoded.ctl.incidents import render_actions, render_events
from supernoded.ctl.options import Invocation, common
from supernoded.ctl.printing import Sheet, print_sheet, show
from supernoded.ctl.status import render_status
from supernoded.messages import ActionFilter, Actions, EventFilter, Events, Status

LAST = 5  # events and actions that are shown


@click.command()
@click.option("--every", type=click.FloatRange(min=0.1, max=3600), default=2.0, show_default=True, metavar="SECONDS")
@common
@click.pass_obj
def top(invocation: Invocation, every: float) -> None:
    """Show the status and what happened last, again and again.

    Until Ctrl-C; into a pipe, once.
    """
    client = invocation.open_client()
    if invocation.as_json:
        show(invocation, client.get("status", Status), render_status)
        return
    if not sys.stdout.isatty():
        print_sheet(look(client))
        return
    while True:
        try:
            sheet = look(client)
        except UnreachableError as error:  # it may be restarting: go on looking
            sheet = [str(error)]
        click.clear()
        print_sheet(sheet)
        time.sleep(every)


def look(client: AdminClient) -> Sheet:
    """One screen. Raises AdminError."""
    told = client.get("status", Status).answer
    events = client.get("events", Events, EventFilter(limit=LAST)).answer
    actions = client.get("actions", Actions, ActionFilter(limit=LAST)).answer
    return [*render_status(told), "", *render_events(events), "", *render_actions(actions)]
