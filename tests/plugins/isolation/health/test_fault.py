"""Cards that complain, cards that do not, and cards of which nobody can tell."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from supernoded.plugin import Level, Reading, Severity, State, Value, Verdict
from supernoded.testing import judge
from supernoded_isolation.health.codes import build_table
from supernoded_isolation.health.fault import FaultRule

CARD = "n0/card3"
RULE = FaultRule(build_table(), lambda subject: subject.startswith("n0/card7"))


def read(quantity: str, value: Value, at: float = 0.0, source: str = "tool", note: str = "", card: str = CARD) -> Reading:
    unit = "flags" if quantity == "card.health" else "text"
    state = State.UNKNOWN if value is None else State.GOOD
    return Reading(subject=card, quantity=quantity, value=value, unit=unit, at=at, state=state, note=note, source=source)


def health(*flags: str, at: float = 0.0, source: str = "tool", note: str = "", card: str = CARD) -> Reading:
    return read("card.health", frozenset(flags), at, source, note, card)


def unknown(at: float = 0.0, source: str = "tool", note: str = "hung") -> Reading:
    return read("card.health", None, at, source, note)


def last(readings: Iterable[Reading]) -> Verdict:
    return judge(RULE, readings)[-1]


def test_no_code_is_clear() -> None:
    verdict = last([health()])
    assert (verdict.level, verdict.text) == (Level.CLEAR, "n0/card3: no code is a fault")


def test_codes_that_are_not_handled_are_clear_and_named() -> None:
    verdict = last([health("alarm", "A4025021")])
    assert (verdict.level, verdict.text) == (Level.CLEAR, "n0/card3: no code is a fault (A4025021, alarm)")


def test_one_sentence_with_card_serial_code_level_and_what_to_do() -> None:
    readings = [health("8C084E00", "8C03A000", "A4025021", note="HBM multi-bit error"), read("card.serial", "SN0003")]
    verdict = last(readings)
    assert (verdict.level, verdict.severity, verdict.kind) == (Level.RAISED, Severity.CRITICAL, "card.fault")
    assert verdict.text == (
        "n0/card3 (serial SN0003): 8C03A000 asks for 'reset' (HBM multi-bit error), beside 8C084E00: move the job away and reset it"
    )


def test_an_unknown_code_is_a_fault() -> None:
    verdict = last([health("DEAD0001")])
    assert (verdict.level, verdict.severity) == (Level.RAISED, Severity.WARNING)
    assert verdict.text.startswith("n0/card3: DEAD0001 asks for 'unknown': look the code up")
    assert "; DEAD0001 is in no table" in last([health("DEAD0001", "8C03A000")]).text


@pytest.mark.parametrize(("code", "severity"), [("8C084E00", Severity.WARNING), ("XID48", Severity.CRITICAL), ("XID94", Severity.WARNING)])
def test_severity_goes_by_level(code: str, severity: Severity) -> None:
    assert last([health(code)]).severity is severity


def test_sources_are_put_together() -> None:
    readings = [health("alarm", source="npu-smi"), health("A4025021", source="npu-smi health")]
    assert last(readings).level is Level.CLEAR
    assert last([health(source="smi"), health("XID48", source="kernel")]).level is Level.RAISED


def test_a_source_that_falls_silent_is_not_healthy() -> None:
    verdict = last([health(at=0.0), health(at=0.0, source="kernel"), unknown(10.0)])
    assert verdict.level is Level.UNSURE
    assert verdict.unseen == ("card.health is unknown by tool: hung",)


def test_a_source_that_falls_silent_hides_no_fault_of_another() -> None:
    verdict = last([health(at=0.0), health("XID48", at=10.0, source="kernel"), unknown(10.0)])
    assert (verdict.level, len(verdict.unseen)) == (Level.RAISED, 1)


def test_a_source_that_never_spoke_is_not_waited_for() -> None:
    assert last([unknown(source="old driver"), health(source="kernel")]).level is Level.CLEAR
    assert last([unknown()]).level is Level.UNSURE


def test_a_card_that_is_gone_has_no_health() -> None:
    for flag in ("lost", "XID79"):
        assert last([health(flag, "XID48")]).level is Level.UNSURE


def test_an_alarm_in_normal_use() -> None:
    assert last([health("alarm"), read("card.chip", "310b4")]).level is Level.CLEAR
    assert last([health("alarm"), read("card.chip", "310b4", 0.0), read("card.chip", None, 10.0)]).level is Level.CLEAR
    assert last([health("alarm"), read("card.chip", "910b4")]).level is Level.RAISED


def test_under_maintenance_nothing_is_said() -> None:
    assert last([health("8C03A000", card="n0/card7")]).level is Level.UNSURE


def test_it_clears_when_the_code_goes() -> None:
    levels = [verdict.level for verdict in judge(RULE, [health("XID48"), health(at=10.0)])]
    assert levels == [Level.RAISED, Level.CLEAR]


def test_many_codes_make_no_endless_sentence() -> None:
    verdict = last([health(*(f"DEAD{number:04}" for number in range(64)))])
    assert "and 55 more" in verdict.text
    assert len(verdict.text) < 600
