from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from supernoded.deeds import Deed, has_more_running, read_record, say_outcomes, take
from supernoded.model import Incident, Outcome, Result, Severity, Step
from supernoded.parts import Case

UNDOING = frozenset({"lift", "back"})


def end(at: float, result: Result = Result.DONE) -> Outcome:
    return Outcome(action="i1/step", result=result, text="", at=at)


def make_case(done: dict[str, Outcome], *running: str, raised: bool = True) -> Case:
    incident = Incident(id="i1", kind="heat", subject="n0", scope="node", severity=Severity.WARNING, text="n0 is hot", opened=0.0)
    return Case(incident=incident, done=done, running=frozenset(running), still_raised=raised)


def make_step(name: str) -> Step:
    return Step(name=name, kind="notify", target="n0", reason="")


def test_steps_are_read_back_from_their_names_in_the_order_of_their_outcomes() -> None:
    done = {"1-cap-n1": end(5.0), "1-cap-n0": end(3.0, Result.UNCONFIRMED), "odd": end(1.0), "x-cap-n2": end(1.0), "1-cap": end(1.0)}
    record = read_record(make_case(done, "1-save-job/a-b"), UNDOING)
    assert [(deed.verb, deed.target, deed.sent, deed.done) for deed in record.deeds] == [
        ("cap", "n0", True, False),
        ("cap", "n1", True, True),
        ("save", "job/a-b", False, False),
    ]
    assert record.name("cap", "n7") == "1-cap-n7"
    assert (record.has_ended("cap"), record.has_ended("save"), record.has_ended("stop")) == (True, False, False)


def test_what_failed_what_was_refused_and_what_could_not_be_tried_are_three_things() -> None:
    done = {
        "1-test-a": Outcome(action="a", result=Result.UNCONFIRMED, text="it came to nothing: 2 of 64 banks.", at=1.0),
        "1-test-b": Outcome(action="b", result=Result.REFUSED, text="it could not be done: cardctl cannot be started", at=2.0),
        "1-test-c": Outcome(action="c", result=Result.REFUSED, text="n2 is held by operator ann", at=3.0),
        "1-test-d": end(4.0, Result.EXPIRED),
        "1-test-e": end(5.0, Result.UNCONFIRMED),
    }
    deeds = [*read_record(make_case(done, "1-test-f"), UNDOING).deeds]
    assert [deed.target for deed in deeds if deed.failed] == ["a"]
    assert [deed.target for deed in deeds if deed.hindered] == ["b"]
    assert [deed.target for deed in deeds if deed.refused] == ["b", "c", "d"]
    assert [deed.why for deed in deeds[:2]] == ["2 of 64 banks", "cardctl cannot be started"]


def test_trouble_that_is_back_after_things_were_undone_begins_another_round() -> None:
    done = {"1-cap-n0": end(1.0), "1-lift-n0": end(2.0)}
    assert read_record(make_case(done), UNDOING).round == 2
    assert read_record(make_case(done, raised=False), UNDOING).round == 1
    assert read_record(make_case(done, raised=False), UNDOING, again=True).round == 2
    assert read_record(make_case({}), UNDOING).round == 1
    assert read_record(make_case({}, raised=False), UNDOING).round == 0
    assert read_record(make_case(done), UNDOING).list_round() == []
    assert [deed.verb for deed in read_record(make_case(done, raised=False), UNDOING).list_round()] == ["cap", "lift"]


def test_what_stands_is_what_was_sent_and_not_seen_undone_since() -> None:
    done = {"1-cap-n0": end(1.0), "1-cap-n1": end(1.0), "1-cap-n2": end(1.0, Result.REFUSED), "1-lift-n0": end(2.0), "2-cap-n0": end(3.0)}
    record = read_record(make_case(done), UNDOING)
    assert record.list_standing("cap", "lift") == ["n1", "n0"]
    assert not record.is_undone("n0", "lift"), "in the round before"


def test_a_batch_waits_for_the_one_before() -> None:
    first, second = [make_step("1-cap-n0"), make_step("1-cap-n1")], [make_step("1-save-job/a")]
    assert take(make_case({}), first, second) == tuple(first)
    assert take(make_case({"1-cap-n0": end(1.0)}, "1-cap-n1"), first, second) == ()
    assert take(make_case({step.name: end(1.0) for step in first}), first, second) == tuple(second)
    assert take(make_case({step.name: end(1.0) for step in (*first, *second)}), first, second) == ()


def test_a_step_of_an_earlier_life_whose_target_is_not_heard_again_is_not_forgotten() -> None:
    record = read_record(make_case({}, "1-save-job/a", "1-save2-job/b", "1-cap-n0"), UNDOING)
    assert has_more_running(record.deeds, ("save",), [make_step("1-save-job/a")])
    assert not has_more_running(record.deeds, ("save",), [make_step("1-save-job/a"), make_step("1-save2-job/b")])


def test_outcomes_are_told_by_verb() -> None:
    done = {"1-cap-n0": end(1.0), "1-cap-n1": end(1.0, Result.UNCONFIRMED)}
    record = read_record(make_case(done, "1-save-job/a"), UNDOING)
    assert list(say_outcomes(record, {"cap": "nodes capped", "save": "jobs saved"})) == ["nodes capped: 1 of 2 seen"]


@given(
    st.dictionaries(st.text(max_size=20), st.floats(0.0, 1e9).map(end), max_size=8),
    st.sets(st.text(max_size=20), max_size=4),
    st.booleans(),
)
def test_no_name_breaks_the_record(done: dict[str, Outcome], running: set[str], raised: bool) -> None:
    record = read_record(make_case(done, *running, raised=raised), UNDOING)
    assert all(isinstance(deed, Deed) and deed.target for deed in record.deeds)
    assert record.round >= int(raised)


def test_what_was_not_seen_in_time_has_not_failed() -> None:
    def end(text: str) -> Deed:
        return Deed(1, "test", "n0/card3", Outcome(action="a", result=Result.UNCONFIRMED, text=text, at=1.0))

    assert end("it came to nothing: it does not compute").failed
    assert not end("the effect was not seen by the deadline: under test").failed
    assert not Deed(1, "test", "n0/card3", None).failed
