"""A site with nothing wrong, and its rules."""

from __future__ import annotations

import pytest

from tests.plugins.isolation.site import CARDS, Court, Site

CARD = CARDS[2]


@pytest.fixture
def site() -> Site:
    return Site()


@pytest.fixture
def court(site: Site) -> Court:
    court = Court(site)
    court.run(4)
    assert court.raised == set()
    return court
