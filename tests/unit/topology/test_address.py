from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.errors import SettingsError
from supernoded.topology import read_topology
from supernoded.topology.address import parse_address


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("n1:22", ("n1", 22)),
        ("10.0.0.1:65535", ("10.0.0.1", 65535)),
        ("[fe80::1]:22", ("fe80::1", 22)),
        *(
            (text, None)
            for text in ("", "n1", "n1:", ":22", "[]:22", "n1:0", "n1:65536", "n1:ssh", "n1:\u0662\u0662", "n1:-1", "n1:" + "2" * 5000)
        ),
    ],
)
def test_addresses(address: str, place: tuple[str, int] | None) -> None:
    assert parse_address(address) == place


@given(st.text())
def test_any_text_is_an_address_or_none(text: str) -> None:
    place = parse_address(text)
    assert place is None or (place[0] != "" and 0 < place[1] < 65_536)


def test_a_wrong_one_is_named_with_its_line() -> None:
    with pytest.raises(SettingsError, match=r"line 4.*is no host and port"):
        read_topology('[[nodes]]\nname = "n0"\ncards = 1\naddress = "n0"\n', "site.toml")
