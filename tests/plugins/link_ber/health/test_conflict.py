"""Sources that contradict each other, or themselves."""

from __future__ import annotations

from collections.abc import Callable

from supernoded.plugin import Level, Reading, Severity
from supernoded.testing import Judge
from supernoded_link_ber.health.conflict import ConflictRule
from tests.plugins.link_ber.ber.lives import make_gallery

PORT = "n0/card0/port0"
Read = Callable[..., Reading]


def test_sources_that_agree(supernoded_judge: Judge, read: Read) -> None:
    readings = [read(PORT, "link.state", 1.0, 5.0 * n, source) for n in range(4) for source in ("kernel", "tool")]
    verdicts = supernoded_judge(ConflictRule(make_gallery()), readings)
    assert {verdict.level for verdict in verdicts} == {Level.CLEAR}
    assert verdicts[-1].text == f"{PORT}: its sources agree"


def test_a_contradiction_that_lasts(supernoded_judge: Judge, read: Read) -> None:
    """Two polls are a near miss: one source is slower than the other."""
    readings = [read(PORT, "link.state", float(s == "kernel"), 5.0 * n, s) for n in range(3) for s in ("kernel", "tool")]
    agreed = [read(PORT, "link.state", 0.0, 15.0, source) for source in ("kernel", "tool")]
    verdicts = supernoded_judge(ConflictRule(make_gallery()), [*readings, *agreed])
    assert [verdict.level for verdict in verdicts] == [Level.UNSURE, Level.UNSURE, Level.RAISED, Level.CLEAR]
    assert verdicts[2].text == f"{PORT}: the link is up by kernel and down by tool, 3 polls long; neither view is acted upon"
    assert verdicts[2].severity is Severity.WARNING


def test_a_slow_source_is_waited_for(supernoded_judge: Judge, read: Read) -> None:
    """Many polls of the fast one against a single one of the slow one prove nothing."""
    readings = [read(PORT, "link.state", 0.0, 0.0, "tool"), *(read(PORT, "link.state", 1.0, 5.0 * n, "kernel") for n in range(12))]
    assert {verdict.level for verdict in supernoded_judge(ConflictRule(make_gallery()), readings)} == {Level.UNSURE}


def test_not_present_yet_alive(supernoded_judge: Judge, read: Read) -> None:
    readings = [read(PORT, "link.present", 0.0), read(PORT, "link.rx_power", 0.7), read(f"{PORT}/lane1", "link.bias", 60.0)]
    (verdict,) = supernoded_judge(ConflictRule(make_gallery()), readings)
    assert verdict.level is Level.RAISED
    assert verdict.text == f"{PORT}: no module is in the cage by tool, yet tool reads live values of it; neither view is acted upon"
    (gone,) = supernoded_judge(ConflictRule(make_gallery()), [read(PORT, "link.present", 0.0), read(PORT, "link.rx_power", 0.0)])
    assert gone.level is Level.CLEAR  # a module that is out has no light: nothing contradicts itself


def test_a_module_that_was_pulled_between_two_looks(supernoded_judge: Judge, read: Read) -> None:
    """One source has looked since, the other not yet: no contradiction unless it stays."""
    pulled = [read(PORT, "link.rx_power", 0.7, 0.0, "slow"), read(PORT, "link.present", 0.0, 5.0, "fast")]
    assert {verdict.level for verdict in supernoded_judge(ConflictRule(make_gallery()), pulled)} == {Level.CLEAR}
    again = [read(PORT, "link.rx_power", 0.7, 30.0 * n, "slow") for n in range(4)]
    again += [read(PORT, "link.present", 0.0, 30.0 * n, "fast") for n in range(4)]
    levels = [verdict.level for verdict in supernoded_judge(ConflictRule(make_gallery()), again)]
    assert levels == [Level.CLEAR, Level.CLEAR, Level.RAISED, Level.RAISED]


def test_what_a_plugin_saw_contradict_itself(supernoded_judge: Judge, read: Read) -> None:
    note = "contradiction: the aggregate is 0 while lane 2 is at 3e-6"
    readings = [read(PORT, "link.ber.pre_fec", 3e-6, note=note), read(PORT, "link.ber.pre_fec", 3e-6, 5.0)]
    verdicts = supernoded_judge(ConflictRule(make_gallery()), readings)
    assert [verdict.level for verdict in verdicts] == [Level.RAISED, Level.CLEAR]
    assert "the aggregate is 0 while lane 2 is at 3e-6; neither view" in verdicts[0].text
