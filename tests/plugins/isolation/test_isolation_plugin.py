"""The hooks, and what people are told."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

import supernoded_isolation
from supernoded.plugin import Case, Incident, Node, Outcome, PluginError, Result, Severity, Topology, World
from supernoded_isolation.remedies import TellRemedy
from supernoded_isolation.saga import ReplaceRemedy
from supernoded_isolation.settings import IsolationSettings

WORLD = World(topology=Topology())


def incident(subject: str = "n0/card3", members: tuple[str, ...] = ()) -> Incident:
    text = f"{subject}: XID48 asks for 'reset': move the job away and reset it"
    return Incident(
        id="i1", kind="card.fault", subject=subject, scope="node", opened=0.0, severity=Severity.CRITICAL, text=text, members=members
    )


def test_one_notice_with_the_sentence() -> None:
    step = TellRemedy("card.fault").next(Case(incident=incident()), WORLD, 1.0)
    assert step is not None
    assert (step.kind, step.target) == ("notify", "n0/card3")
    assert step.reason == f"{incident().text}. Whether it is replaced is decided where the role `spares` is held, and told as card.faulty"


def test_told_once_and_only_while_it_is_so() -> None:
    done = {"notify": Outcome(action="i1/notify", result=Result.DONE, text="", at=1.0)}
    assert TellRemedy("card.fault").next(Case(incident=incident(), done=done), WORLD, 1.0) is None
    assert TellRemedy("card.fault").next(Case(incident=incident(), still_raised=False), WORLD, 1.0) is None


def test_many_cards_at_a_time_have_something_in_common() -> None:
    step = TellRemedy("card.fault").next(Case(incident=incident("n0", ("n0/card1", "n0/card2", "n0/card3"))), WORLD, 1.0)
    assert step is not None
    assert "; 3 cards at a time: before any of them look for what they share" in step.reason


def test_the_hooks(supernoded_node: Node) -> None:
    settings = supernoded_isolation.supernoded_settings()()
    assert settings == IsolationSettings()
    rules = supernoded_isolation.supernoded_rules(settings, supernoded_node)
    here = {"card.fault", "card.lost", "card.memory", "card.ecc"}
    there = {"card.silent", "card.faulty", "rank.silent", "card.software", "card.slow", "job.lost", "job.idle", "rank.map"}
    assert {rule.kind for rule in rules if rule.scope == "node"} == here
    assert {rule.kind for rule in rules if rule.scope == "spares"} == there
    assert {one.answers for one in supernoded_isolation.supernoded_remedies(settings, supernoded_node)} == here | there
    assert [one.name for one in supernoded_isolation.supernoded_diagnoses(settings, supernoded_node)] == ["cards"]


def test_whoever_has_the_role_is_told_which_cards_are_fenced_and_proven(supernoded_node: Node) -> None:
    """There people are sent to see every card."""
    remedies = supernoded_isolation.supernoded_remedies(IsolationSettings(), supernoded_node)
    watched = next(remedy.watches for remedy in remedies if isinstance(remedy, ReplaceRemedy))
    assert {"card.isolated", "card.proven"} <= watched.keys()


def test_a_bad_table_of_codes_leaves_the_plugin_out(supernoded_node: Node, tmp_path: Path) -> None:
    settings = msgspec.structs.replace(IsolationSettings(), fault_codes=str(tmp_path))
    with pytest.raises(PluginError, match=r"fault_codes: .*: cannot be read"):
        supernoded_isolation.supernoded_rules(settings, supernoded_node)


def test_the_memory_can_be_written_and_read(supernoded_node: Node) -> None:
    for rule in supernoded_isolation.supernoded_rules(IsolationSettings(), supernoded_node):
        memory = rule.start()
        assert msgspec.json.decode(msgspec.json.encode(memory), type=type(memory)) == memory
