"""Five hundred storms of power over whole daemons: an hour or two on one core.

`make test` does not collect this file, as its name does not begin with `test`; `make long` names the pattern.
"""

from __future__ import annotations

import pytest

from tests.chaos.power_judging import judge
from tests.chaos.power_play import play_storm
from tests.chaos.power_storm import draw_outages, draw_storm

pytestmark = pytest.mark.timeout(600)


@pytest.mark.parametrize("seed", range(1000, 1300))
def test_a_storm_leaves_everything_as_the_rules_have_it(seed: int) -> None:
    assert judge(play_storm(draw_storm(seed))) == []


@pytest.mark.parametrize("seed", range(1000, 1200))
def test_outages_leave_everything_as_the_rules_have_it(seed: int) -> None:
    assert judge(play_storm(draw_outages(seed))) == []
