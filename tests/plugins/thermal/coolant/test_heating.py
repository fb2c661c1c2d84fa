"""Heat of a loop beside another trouble of it: one incident, and always one that is answered."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from supernoded.history import History
from supernoded.model import Level, Verdict
from supernoded_thermal import supernoded_rules
from supernoded_thermal.node.heat import HeatRule
from supernoded_thermal.settings import ThermalSettings
from tests.plugins.thermal.coolant.bench import CDU, NAMES, START, Change, make_node, see_all

HOT: dict[tuple[str, str], Change] = {(f"{name}/card{n}", "card.temperature"): 88.0 for name in NAMES for n in (0, 1)}
NO_PRIMARY: dict[tuple[str, str], Change] = {(CDU, "coolant.primary_pressure"): 0.0}
NO_FLOW: dict[tuple[str, str], Change] = {(CDU, "coolant.flow"): 0.0, (CDU, "coolant.pressure_difference"): 0.0}
TRIPPED: dict[tuple[str, str], Change] = {
    **NO_FLOW,
    **{(f"{CDU}/pump{n}", f"pump.{name}"): value for n in (0, 1) for name, value in (("state", "tripped"), ("speed", 0.0), ("rpm", 0.0))},
}
AT_STOP: dict[tuple[str, str], Change] = {
    (CDU, "coolant.valve"): 100.0,
    (CDU, "coolant.supply_temperature"): 26.0,
    (CDU, "coolant.supply_temperature.2"): 26.0,
}
BLOCKED: dict[tuple[str, str], Change] = {(CDU, "coolant.flow"): 15.0}
EMPTY: dict[tuple[str, str], Change] = {**BLOCKED, (CDU, "coolant.level"): 10.0}


def judge_heat(trouble: Mapping[tuple[str, str], Change], maintenance: tuple[str, ...] = ()) -> Verdict:
    """What is said of the loop after a minute that is well and 70 s of this trouble, with all dies hot."""
    rules = supernoded_rules(ThermalSettings(), make_node(maintenance=maintenance))
    (rule,) = [one for one in rules if isinstance(one, HeatRule)]
    history, memory, found = History(rule.watches), rule.start(), dict[str, Verdict]()
    for second in range(0, 130, 2):
        readings = see_all(float(second), {**trouble, **HOT} if second >= 60 else {})
        history.add([one for one in readings if one.quantity in rule.watches], 5.0)
        memory, verdicts = rule.judge(history.view(START + second, rule.watches), memory)
        found = {verdict.subject: verdict for verdict in verdicts}
    return found[CDU]


@pytest.mark.parametrize(
    ("trouble", "kind"),
    [(NO_PRIMARY, "primary"), (TRIPPED, "pump"), (NO_FLOW, "flow"), (BLOCKED, "flow"), (AT_STOP, "capacity")],
)
def test_heat_of_a_loop_is_explained_by_what_is_answered_in_its_place(trouble: Mapping[tuple[str, str], Change], kind: str) -> None:
    verdict = judge_heat(trouble)
    assert verdict.level is Level.UNSURE
    assert verdict.text.startswith(f"explained by coolant.{kind} (")


@pytest.mark.parametrize(("trouble", "maintenance"), [({}, ()), (EMPTY, ()), (NO_PRIMARY, (CDU,))])
def test_heat_that_nobody_else_answers_is_told(trouble: Mapping[tuple[str, str], Change], maintenance: tuple[str, ...]) -> None:
    """Of a low reservoir people are told and nobody cools; what people work at is theirs, and dies are ours all the same."""
    assert judge_heat(trouble, maintenance).level is Level.RAISED
