"""A million Modbus exchanges under every fault of a line: no wrong value, and nothing called done that is not."""

from __future__ import annotations

import pytest

from tests.protocol.test_modbus_exchanges import suffer

EACH = 125_000  # exchanges; a minute on one core

pytestmark = pytest.mark.timeout(1800)


@pytest.mark.parametrize(
    ("seed", "baud", "echo"), [(seed, baud, seed == 8) for seed, baud in enumerate((115200, 19200, 9600, 57600) * 2, start=1)]
)
def test_no_wrong_value_and_no_false_done(seed: int, baud: int, echo: bool) -> None:
    toll = suffer(EACH, 1000 + seed, baud, echo=echo)
    assert toll.wrong == []
    assert toll.kinds["exchanges"] >= EACH
    assert toll.right > EACH / 4
    assert toll.written > EACH / 40
