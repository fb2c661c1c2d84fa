"""When a better counter denies a worse one."""

from __future__ import annotations

import pytest

from supernoded.plugin import Level
from supernoded_link_ber.ber.counting import Track
from supernoded_link_ber.ber.exposure import Span
from supernoded_link_ber.ber.following import find_overrule
from supernoded_link_ber.ber.judging import Finding
from supernoded_link_ber.ber.sources import COUNTERS
from tests.plugins.link_ber.ber.lives import make_judge

SPOILT = Track(at=100.0, errors=100.0, spans=(Span(50.0, 0.0, 1e13), Span(0.0, 100.0, 1e13)), raised=True)


@pytest.mark.parametrize(("since", "denied"), [(0.0, True), (50.0, False), (60.0, False)])
def test_only_for_the_time_that_it_remembers_itself(since: float, denied: bool) -> None:
    worse = Finding(Level.RAISED, COUNTERS["link.receive_errors"], SPOILT, spans=SPOILT.spans)
    clean = Track(at=100.0, errors=0.0, spans=(Span(since, 0.0, (100.0 - since) * 2e11),))
    better = Finding(Level.CLEAR, COUNTERS["link.effective_errors"], clean, spans=clean.spans)
    assert (find_overrule(worse, [worse, better], make_judge()) is better) is denied
