"""`supernodectl nodes` and `breakers` against the real server on a real socket."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import click
import msgspec
import pytest
from click.testing import CliRunner, Result

from supernoded.ctl.main import program
from supernoded.ctl.nodes import complete_breaker, render_breakers, render_nodes
from supernoded.ctl.options import Invocation
from supernoded.messages import Breakers, BreakerWasReset, NodeRow, Nodes
from tests.unit.admin.fake_desk import NOW, FakeDesk, serving

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    def call(*arguments: str) -> Result:
        return CliRunner().invoke(program, arguments, env={"SUPERNODED_SOCKET": str(tmp_path / "s")}, prog_name="supernodectl")

    with serving(tmp_path / "s", FakeDesk()):
        yield call


def test_nodes_are_a_table_with_whose_word_it_is(run: Run) -> None:
    told = run("nodes").stdout.splitlines()
    assert told[0] == "By the word of n0, which has the role fleet, 3 s old."
    assert told[1] == "Beating, and not in the topology: n9."
    assert "n0 up 0.4 s ago up 3,120 W 71 C 1,204 +0.01 s 0.1.0 fleet spares -" in [" ".join(line.split()) for line in told]
    gone = next(line for line in told if line.startswith("n1 "))
    assert "gone   2 min 5 s ago" in gone
    assert "held: n1 by fleet: n1: no beat for 8.0 s" in gone
    assert [line.split()[0] for line in run("nodes", "--troubled").stdout.splitlines()[3:]] == ["n1"]
    assert "No nodes match subject 'x*'" in run("nodes", "x*").stdout
    assert [node.name for node in msgspec.json.decode(run("nodes", "-o", "json").stdout, type=Nodes).nodes] == ["n0", "n1"]


def test_what_is_not_known_is_said() -> None:
    trouble = "nobody is known to have the role fleet"
    sheet = render_nodes(Nodes(now=NOW, nodes=(NodeRow(name="n0", state="unknown"),), trouble=trouble))
    assert sheet[0] == "Nobody is known to have the role fleet."
    well = Nodes(now=NOW, nodes=(NodeRow(name="n0", state="up"),), told_by="n0", told_age=0.0)
    assert render_nodes(well, troubled=True) == ["All 1 node beat, and nothing is held."]


def test_breakers_say_what_counts_and_what_to_do(run: Run) -> None:
    told = run("breakers").stdout
    assert told.startswith(
        "Nothing is granted now: n0 hears 2 of 5 nodes.\nNothing is taken out of service until every tripped breaker is reset"
    )
    assert "cards_out  1    4      closed   n0/card3" in told
    assert "nodes_out  0    2      tripped  tripped " in told
    assert msgspec.json.decode(run("breakers", "-o", "json").stdout, type=Breakers).holder == "n0"
    assert len(render_breakers(Breakers(now=NOW, holder="n0"))) == 3


def test_a_breaker_is_reset_with_a_reason(run: Run) -> None:
    told = run("breakers", "reset", "nodes_out", "--reason", "the feed is back")
    assert (told.exit_code, told.stdout.startswith("Breaker nodes_out is reset. It had tripped ")) == (0, True)
    as_json = run("breakers", "reset", "nodes_out", "--reason", "the feed is back", "-o", "json").stdout
    assert msgspec.json.decode(as_json, type=BreakerWasReset).text == "the feed is back"
    refused = run("breakers", "reset", "per_hour", "--reason", "x")
    assert (refused.exit_code, "has not tripped; tripped: nodes_out" in refused.stderr) == (1, True)
    assert run("breakers", "reset", "nodes_out").exit_code == 2
    assert run("breakers", "reset", "nodes_out", "--reason", " ").exit_code == 2


def test_tripped_breakers_are_completed(run: Run, tmp_path: Path) -> None:
    del run
    context = click.Context(program, obj=Invocation(socket=tmp_path / "s"))
    items = complete_breaker(context, click.Argument(["name"]), "n")
    assert [(item.value, item.help) for item in items] == [("nodes_out", "n3 would be one more")]
    nobody = click.Context(program, obj=Invocation(socket=tmp_path / "none"))
    assert complete_breaker(nobody, click.Argument(["name"]), "") == []
