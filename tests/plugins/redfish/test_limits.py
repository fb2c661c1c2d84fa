"""The limit of a card: what is read, what is written, and when it is believed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.model import Effect
from supernoded_redfish.limits import Before, Limit, fit_watts, is_back, is_waiting, judge_cap, read_limit, write_back, write_cap

LIMIT = {"SetPoint": 600, "AllowableMin": 100, "AllowableMax": 600, "ControlMode": "Disabled"}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*LIMIT, "Reading", "@odata.etag"]), inner, max_size=4),
    max_leaves=10,
)


def make(cap: float | None = None, drawn: float | None = 500.0, low: float | None = 100.0, high: float | None = 600.0) -> Limit:
    return Limit(high if cap is None else cap, "Disabled" if cap is None else "Automatic", low, high, drawn)


def test_what_is_read() -> None:
    body = {"PowerLimitWatts": LIMIT, "PowerWatts": {"Reading": 512.5}, "@odata.etag": 'W/"1"'}
    limit = read_limit(body)
    assert limit == Limit(600.0, "Disabled", 100.0, 600.0, 512.5, 'W/"1"')
    assert (limit.cap, limit.stands) == (None, False)
    assert read_limit({"PowerWatts": {"Reading": 1}}) is None
    bare = read_limit({"PowerLimitWatts": {"SetPoint": 300}})
    assert bare == Limit(300.0, "", None, None, None)
    assert (bare.cap, bare.stands) == (300.0, True)


def test_what_stands_for_no_number_is_none() -> None:
    limit = read_limit({"PowerLimitWatts": {"SetPoint": -1, "AllowableMin": 0, "AllowableMax": 0}, "PowerWatts": {"Reading": -1}})
    assert limit == Limit(None, "", None, None, None)
    assert judge_cap(limit, 300.0).effect is Effect.ABSENT
    assert write_cap(limit, 300.0) == {"PowerLimitWatts": {"SetPoint": 300.0}}


@given(JSON, JSON, JSON)
def test_no_answer_makes_it_raise(limit: Any, power: Any, tag: Any) -> None:
    found = read_limit({"PowerLimitWatts": limit, "PowerWatts": power, "@odata.etag": tag})
    if found is not None:
        assert judge_cap(found, 300.0).effect in Effect
        assert isinstance(write_cap(found, 300.0), dict)


@pytest.mark.parametrize(
    ("limit", "effect"),
    [
        (make(None), Effect.ABSENT),
        (make(400.0, drawn=290.0), Effect.ABSENT),  # idle now, and free to draw more
        (make(300.0, drawn=314.0), Effect.PRESENT),
        (make(250.0, drawn=250.0), Effect.PRESENT),  # somebody's lower one
        (make(300.0, drawn=316.0), Effect.UNKNOWN),
        (make(300.0, drawn=None), Effect.UNKNOWN),
        (Limit(None, "", None, None, 90.0), Effect.ABSENT),
    ],
)
def test_a_cap_is_seen_by_what_is_set_and_what_is_drawn(limit: Limit, effect: Effect) -> None:
    assert judge_cap(limit, 300.0).effect is effect


def test_a_card_is_held_as_near_as_it_can_be() -> None:
    assert [fit_watts(make(), watts) for watts in (50.0, 300.0, 900.0)] == [100.0, 300.0, 600.0]
    assert judge_cap(make(100.0, drawn=101.0), 50.0).effect is Effect.PRESENT
    assert write_cap(make(), 50.0) == {"PowerLimitWatts": {"SetPoint": 100.0, "ControlMode": "Automatic"}}
    assert write_cap(make(400.0), 300.0) == {"PowerLimitWatts": {"SetPoint": 300.0}}


@pytest.mark.parametrize(
    ("before", "written"),
    [
        (Before(600.0, "Disabled", 300.0), {"ControlMode": "Disabled"}),
        (Before(450.0, "Automatic", 300.0), {"SetPoint": 450.0, "ControlMode": "Automatic"}),
        (Before(450.0, "", 300.0), {"SetPoint": 450.0}),
        (Before(None, "", 300.0), {"SetPoint": 600.0}),
    ],
)
def test_what_stood_before_is_put_back(before: Before, written: dict[str, object]) -> None:
    assert write_back(make(300.0), before) == {"PowerLimitWatts": written}
    assert is_waiting(make(300.0), before)
    assert not is_waiting(make(200.0), before)  # somebody has lowered it since
    back = make(None) if before.mode == "Disabled" else make(before.watts or 600.0)
    assert is_back(back, before)
    assert not is_waiting(back, before)
