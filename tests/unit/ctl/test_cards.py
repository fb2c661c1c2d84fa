"""`supernodectl cards`, `card` and `holds` against the real server on a real socket."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result

from supernoded.ctl import cards as verbs
from supernoded.ctl import saving
from supernoded.ctl.links import render_diagnosis
from supernoded.ctl.main import program
from supernoded.messages import CardDone, Cards, CardTested, Diagnosed, Holds, IsolateAsk, LiftAsk, ReleaseAsk, TestAsk
from tests.unit.admin.fake_desk import HOLD, NOW, FakeDesk, serving

Run = Callable[..., Result]


@pytest.fixture
def desk() -> FakeDesk:
    return FakeDesk()


@pytest.fixture
def run(tmp_path: Path, desk: FakeDesk, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    monkeypatch.setattr(verbs, "LOOK_EVERY", 0.0)
    monkeypatch.setattr(saving, "LOOK_EVERY", 0.0)

    def call(*arguments: str, typed: str = "") -> Result:
        return CliRunner().invoke(program, arguments, input=typed, env={"SUPERNODED_SOCKET": str(tmp_path / "s")}, prog_name="supernodectl")

    with serving(tmp_path / "s", desk):
        yield call


def test_cards_are_a_table_with_a_word_and_a_reason_each(run: Run) -> None:
    told = run("cards").stdout
    assert "n0/card0  SN0000  in service  job/train/rank0  61 C" in told
    assert "isolated    -                38 C         OK      h1     alice holds it: replaced fibre" in told
    assert len(msgspec.json.decode(run("cards", "-o", "json").stdout, type=Cards).cards) == 2


def test_a_pattern_and_trouble_choose_cards(run: Run, desk: FakeDesk) -> None:
    assert "n0/card5" not in run("cards", "*card0").stdout
    assert "n0/card0" not in run("cards", "--troubled").stdout
    assert run("cards", "n7*").stdout.startswith("No cards match subject 'n7*'.")
    desk.cards.rows = desk.cards.rows[:1]
    assert run("cards", "--troubled").stdout == "All 1 card are in service, or spares.\n"
    desk.cards.rows = ()
    assert run("cards").stdout == "No card is in the topology of this daemon.\n"


def test_holds_show_how_those_ended_that_are_over(run: Run) -> None:
    assert "ENDED" not in run("holds").stdout
    told = run("holds", "--all").stdout
    assert "by operator bob: it was the switch" in told
    assert msgspec.json.decode(run("holds", "-o", "json").stdout, type=Holds).holds[0].id == "h1"


def test_a_hold_is_lifted_with_a_reason_only(run: Run, desk: FakeDesk) -> None:
    assert run("holds", "lift", "h1").exit_code == 2
    result = run("holds", "lift", "h1", "--reason", "it was the switch")
    assert "Hold h1 of alice on n0/card5 is lifted." in result.stdout
    assert desk.cards.asked == [("lift", LiftAsk(reason="it was the switch"))]
    missing = run("holds", "lift", "h9", "--reason", "x")
    assert (missing.exit_code, "there is no hold 'h9'" in missing.stderr) == (1, True)


def test_an_idle_card_is_isolated_without_a_question(run: Run, desk: FakeDesk) -> None:
    result = run("card", "isolate", "n0/card5", "--reason", "its fan rattles", "--expires", "4h")
    assert (result.exit_code, result.stdout) == (0, "n0/card5 is held as h2, until it is lifted.\n")
    assert desk.cards.asked == [("isolate n0/card5", IsolateAsk(reason="its fan rattles", expires_s=14400.0))]
    assert desk.checkpoints == []


def test_a_card_with_a_rank_asks_and_is_saved_first(run: Run, desk: FakeDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ("card", "isolate", "n0/card0", "--reason", "x")
    assert run(*arguments).exit_code == 2
    monkeypatch.setattr(verbs, "has_terminal", lambda: True)
    assert run(*arguments, typed="n\n").exit_code == 1
    assert desk.cards.asked == []
    desk.stages = ["saving", "durable"]
    result = run(*arguments, typed="y\n")
    assert (result.exit_code, "job train is saved" in result.stderr) == (0, True)
    assert [asked for _, asked in desk.cards.asked] == [IsolateAsk(reason="x", fence=False), IsolateAsk(reason="x")]
    assert [one.reason for one in desk.checkpoints] == ["n0/card0 is taken out: x"]


def test_now_takes_it_at_once_and_a_failed_checkpoint_leaves_it_unfenced(run: Run, desk: FakeDesk) -> None:
    assert run("card", "isolate", "n0/card0", "--reason", "x", "--now", "--yes").exit_code == 0
    assert desk.checkpoints == []
    desk.cards.asked.clear()
    desk.stages = ["failed"]
    result = run("card", "isolate", "n0/card0", "--reason", "x", "--yes")
    assert (result.exit_code, "the card is held, and not fenced" in result.stderr) == (1, True)
    assert [asked for _, asked in desk.cards.asked] == [IsolateAsk(reason="x", fence=False)]


def test_what_was_not_done_is_a_no(run: Run, desk: FakeDesk) -> None:
    desk.cards.undone = ("n0/card5 stays out of service: bob holds it",)
    result = run("card", "release", "n0/card5", "--reason", "fan replaced")
    assert (result.exit_code, result.stdout) == (1, "hold h2 is lifted.\n")
    assert "bob holds it" in result.stderr
    assert desk.cards.asked == [("release n0/card5", ReleaseAsk(reason="fan replaced"))]
    told = msgspec.json.decode(run("card", "release", "n0/card5", "--reason", "y", "-o", "json").stdout, type=CardDone)
    assert told.undone == desk.cards.undone


def test_a_test_is_waited_for_and_a_failed_one_is_a_no(run: Run, desk: FakeDesk) -> None:
    result = run("card", "test", "n0/card5")
    assert result.exit_code == 0
    assert "n0/card5: passed: watched for 15 s" in result.stdout
    assert "under test for 3 s, 15 s in all" in result.stderr
    assert desk.cards.asked[0] == ("test n0/card5", TestAsk())
    desk.cards.looks, desk.cards.test_text = [False], "it did not answer once in 15.0 s"
    failed = run("card", "test", "n0/card5", "-o", "json")
    assert failed.exit_code == 1
    assert msgspec.json.decode(failed.stdout, type=CardTested).passed is False


def test_a_diagnosis_names_who_keeps_it_out() -> None:
    told = Diagnosed(now=NOW, subject="n0/card5", holds=(HOLD,))
    assert "alice holds n0/card5 out of service since 1 h 6 min ago: replaced fibre [h1]" in render_diagnosis(told)


def test_completion_knows_cards_and_holds(run: Run, tmp_path: Path) -> None:
    def complete(line: str, count: int) -> str:
        env = {
            "SUPERNODED_SOCKET": str(tmp_path / "s"),
            "_SUPERNODECTL_COMPLETE": "bash_complete",
            "COMP_WORDS": line,
            "COMP_CWORD": str(count),
        }
        return CliRunner().invoke(program, [], env=env, prog_name="supernodectl").stdout

    assert run("cards").exit_code == 0
    assert "n0/card5" in complete("supernodectl card test n0/card5", 3)
    assert "h1" in complete("supernodectl holds lift h", 3)


def test_a_card_is_named_once_in_what_came_of_its_test() -> None:
    failed = CardTested(now=NOW, subject="n1/card3", test="t", passed=False, text="n1/card3 failed its test: it is hot", test_s=15.0)
    assert verbs.render_tested(failed) == ["n1/card3 failed its test: it is hot."]
    assert verbs.render_tested(msgspec.structs.replace(failed, passed=True, text="passed: cool")) == ["n1/card3: passed: cool."]
