"""URLs of agents: what they may say, and what is told to those who wrote something else."""

from __future__ import annotations

import pytest

from supernoded.plugin import PluginError
from supernoded_snmp.address import Address, parse_address
from supernoded_snmp.messages import V1, V2C, V3
from supernoded_snmp.settings import SnmpSettings

SETTINGS = SnmpSettings(community_file="/etc/read", write_community_file="/etc/write")


def test_the_shortest() -> None:
    assert parse_address("ups/A", "snmp://10.0.0.5", SnmpSettings()) == Address(url="udp://10.0.0.5:161", version=V2C)


def test_all_that_there_is() -> None:
    url = "snmp://[fe80::1]:1161?version=1&profile=sentry3&place=2.1&community_file=/a&write_community_file=/b&serial=S%201"
    assert parse_address("pdu/A1", url, SETTINGS) == Address(
        url="udp://[fe80::1]:1161",
        version=V1,
        profile="sentry3",
        place=(2, 1),
        community_file="/a",
        write_community_file="/b",
        serial="S 1",
    )


def test_a_user_of_version_3() -> None:
    address = parse_address("ups/A", "snmp://h?version=3&user=boss&auth=sha&auth_file=/a&priv_file=/p", SnmpSettings())
    assert (address.version, address.user, address.auth, address.auth_file, address.priv_file) == (V3, "boss", "sha", "/a", "/p")


def test_the_settings_say_what_the_url_does_not() -> None:
    address = parse_address("ups/A", "snmp://h?community_file=/mine", SETTINGS)
    assert (address.community_file, address.write_community_file) == ("/mine", "/etc/write")


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("snmp://", "no snmp://host"),
        ("udp://h", "no snmp://host"),
        ("snmp://public@h", "a community stands in a file"),
        ("snmp://h?version=2", "not spoken"),
        ("snmp://h?version=3", "wants user=NAME&auth_file=PATH"),
        ("snmp://h?version=3&user=u&auth_file=/a&auth=md5", "auth=sha or sha256"),
        ("snmp://h?community=public", "its url has community"),
        ("snmp://h:99999", "cannot be read"),
        ("snmp://h?place=one", "cannot be read"),
        ("snmp://h?profile", "cannot be read"),
    ],
)
def test_what_cannot_be_is_told(url: str, told: str) -> None:
    with pytest.raises(PluginError, match=told) as caught:
        parse_address("ups/A", url, SETTINGS)
    assert str(caught.value).startswith("ups/A: ")
    assert "public" not in str(caught.value)
