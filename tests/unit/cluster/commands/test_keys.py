from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, NoEncryption, PrivateFormat
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from supernoded import settings
from supernoded.cluster.commands.keyring import KEYS, LOOK_EVERY, Keyring
from supernoded.cluster.commands.keys import DAY, Keys, list_files, read_keys
from supernoded.errors import SettingsError
from supernoded.pki.certificates import make_revocations, to_pem
from supernoded.supervisor import Health
from tests.unit.cluster.fakes import LOG, HandClock
from tests.unit.cluster.nodekeys import NOW, make_issuer, make_key, make_seal_key, write_keys

ISSUER = make_issuer()


@pytest.fixture
def table(tmp_path: Path) -> settings.Keys:
    return write_keys(tmp_path, "n0", ISSUER)


def file(table: settings.Keys, key: str) -> Path:
    path = getattr(table, key)
    assert isinstance(path, Path)
    return path


def with_list(table: settings.Keys, serials: dict[int, float], days: float = 10.0, issuer: object = ISSUER) -> settings.Keys:
    path = file(table, "ca_file").with_name("crl.pem")
    path.write_text(to_pem(make_revocations(serials, ISSUER if issuer is ISSUER else make_issuer("c1"), NOW, days)))
    return settings.Keys(**{key: getattr(table, key) for key in ("key_file", "certificate_file", "ca_file")}, revoked_file=path)


def test_a_whole_set(table: settings.Keys) -> None:
    keys = read_keys(table, "n0")
    assert keys.own is not None
    assert keys.authority is not None
    assert keys.authority.identify(keys.own.certificate).name == "n0"
    assert keys.fingerprint == make_seal_key("n0", ISSUER).identity.fingerprint
    assert keys.find_trouble(NOW) == ""
    assert len(list_files(table)) == 3


def test_none_and_half(table: settings.Keys) -> None:
    assert read_keys(settings.Keys(), "n0") == Keys()
    listening = read_keys(settings.Keys(ca_file=table.ca_file), "n0")
    assert listening.own is None
    assert listening.authority is not None
    assert listening.find_trouble(NOW) == ""


def locked(path: Path) -> None:
    path.write_bytes(make_key("n0").private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret")))


def other_kind(path: Path) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))


def other_authority(path: Path) -> None:
    path.write_text(make_seal_key("n0", make_issuer("c1")).certificate)


def other_node(path: Path) -> None:
    path.write_text(make_seal_key("n1", ISSUER).certificate)


def authority_itself(path: Path) -> None:
    path.write_text(to_pem(ISSUER.certificate))


def garbage(path: Path) -> None:
    path.write_bytes(b"\xff\x00 nothing")


def too_long(path: Path) -> None:
    path.write_bytes(b"x" * 1_000_001)


@pytest.mark.parametrize(
    ("key", "spoil", "words"),
    [
        ("key_file", Path.unlink, "cannot be read, No such file"),
        ("key_file", locked, "is locked by a passphrase; store it without one"),
        ("key_file", other_kind, "holds no Ed25519 key; make both anew with `supernodectl pki issue n0`"),
        ("key_file", garbage, "is not the PEM that it should be"),
        ("key_file", too_long, "has more than 1000000 bytes"),
        ("certificate_file", garbage, "is not the PEM that it should be"),
        ("certificate_file", other_node, "is that of 'n1', and this node is n0"),
        ("certificate_file", other_authority, "is not signed by an authority in keys.ca_file"),
        ("certificate_file", authority_itself, "cannot be used: the certificate of c0 authority is none of a node"),
        ("ca_file", garbage, "is not the PEM that it should be"),
    ],
)
def test_every_fault_names_file_fault_and_remedy(table: settings.Keys, key: str, spoil: Callable[[Path], None], words: str) -> None:
    spoil(file(table, key))
    with pytest.raises(SettingsError) as caught:
        read_keys(table, "n0")
    assert str(caught.value).startswith(f"keys.{key}: {file(table, key)} ")
    assert words in str(caught.value)


def test_a_key_of_another_certificate(table: settings.Keys) -> None:
    write_keys(file(table, "key_file").parent, "n1", ISSUER)
    mixed = settings.Keys(
        key_file=file(table, "key_file").with_name("n1.key"), certificate_file=table.certificate_file, ca_file=table.ca_file
    )
    with pytest.raises(SettingsError, match=r"keys.certificate_file: .* does not belong to the key in"):
        read_keys(mixed, "n0")


def test_what_is_revoked_is_read(table: settings.Keys) -> None:
    keys = read_keys(with_list(table, {make_seal_key("n1", ISSUER).identity.serial: NOW, 7: NOW}), "n0")
    assert keys.authority is not None
    assert 7 in keys.authority.revoked


def test_a_list_of_another_authority(table: settings.Keys) -> None:
    with pytest.raises(SettingsError, match=r"keys.revoked_file: .* is signed by none of the authorities; name the list"):
        read_keys(with_list(table, {7: NOW}, issuer=None), "n0")


def test_troubles_of_time(table: settings.Keys) -> None:
    keys = read_keys(with_list(table, {}, days=10.0), "n0")
    assert keys.find_trouble(NOW + 5 * DAY) == ""
    assert "the revocation list is 2.0 days too old" in keys.find_trouble(NOW + 12 * DAY)
    assert "ends in 29.0 days: `supernodectl pki rotate n0`" in keys.find_trouble(NOW + 336 * DAY)
    assert "no node takes commands of this one" in keys.find_trouble(NOW + 366 * DAY)


def test_our_own_certificate_is_revoked(table: settings.Keys) -> None:
    first = read_keys(table, "n0")
    assert first.own is not None
    keys = read_keys(with_list(table, {first.own.identity.serial: NOW}), "n0")
    assert "has been revoked; no node takes commands of this one" in keys.find_trouble(NOW)


@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=300), key=st.sampled_from(["key_file", "certificate_file", "ca_file"]))
def test_any_bytes(table: settings.Keys, data: bytes, key: str) -> None:
    whole = file(table, key).read_bytes()
    file(table, key).write_bytes(data)
    with pytest.raises(SettingsError, match=f"keys.{key}"):
        read_keys(table, "n0")
    file(table, key).write_bytes(whole)


# The keyring ----------------------------------------------------------------------------------------------------------------


class Ring:
    def __init__(self, table: settings.Keys, *, alone: bool = False, at: float = NOW) -> None:
        self.clock = HandClock(at)
        self.health = Health(self.clock, LOG)
        self.keyring = Keyring(table, "n0", self.clock, self.health, alone=alone)

    @property
    def trouble(self) -> str:
        return next((condition.text for condition in self.health.conditions() if condition.name == KEYS), "")

    async def look(self) -> Keys:
        await self.clock.advance(LOOK_EVERY)
        return self.keyring.keys


async def test_a_renewed_certificate_counts_without_a_restart(table: settings.Keys) -> None:
    ring = Ring(table, at=NOW + 340 * DAY)
    assert "ends in 25.0 days" in ring.trouble
    write_keys(file(table, "key_file").parent, "n0", ISSUER, now=NOW + 340 * DAY)
    before = ring.keyring.keys.own
    assert before is not None
    await ring.clock.advance(LOOK_EVERY - 1.0)
    assert ring.keyring.keys.own is before
    after = (await ring.look()).own
    assert after is not None
    assert after.identity.ends > before.identity.ends
    assert ring.trouble == ""


async def test_half_copied_files_leave_the_old_ones(table: settings.Keys) -> None:
    ring = Ring(table)
    whole = file(table, "certificate_file").read_bytes()
    file(table, "certificate_file").write_bytes(b"half")
    assert (await ring.look()).own is not None
    assert "is not the PEM that it should be" in ring.trouble
    assert "those of before count on" in ring.trouble
    file(table, "certificate_file").write_bytes(whole)
    os.utime(file(table, "certificate_file"), ns=(1, 1))
    await ring.look()
    assert ring.trouble == ""


async def test_files_that_vanish_are_told(table: settings.Keys) -> None:
    ring = Ring(table)
    file(table, "key_file").unlink()
    assert (await ring.look()).own is not None
    assert "cannot be read" in ring.trouble


def test_a_site_without_keys_says_so(table: settings.Keys) -> None:
    ring = Ring(settings.Keys())
    assert ring.trouble.startswith("keys.key_file and keys.ca_file not set")
    assert "supernodectl pki issue n0" in ring.trouble
    assert Ring(settings.Keys(), alone=True).trouble == ""
    assert "keys.key_file not set" in Ring(settings.Keys(ca_file=table.ca_file)).trouble


@pytest.mark.parametrize("key", ["key_file", "certificate_file", "ca_file", "revoked_file"])
async def test_a_fault_at_the_start_costs_the_commands_and_not_the_daemon(table: settings.Keys, key: str) -> None:
    table = with_list(table, {})
    whole = file(table, key).read_bytes()
    file(table, key).write_bytes(b"half")
    ring = Ring(table)
    assert ring.keyring.keys == Keys()
    assert ring.trouble.startswith(f"keys.{key}: ")
    assert "until then no command goes between this node and the others" in ring.trouble
    file(table, key).write_bytes(whole)
    assert (await ring.look()).own is not None
    assert ring.trouble == ""


async def test_a_key_that_everybody_can_read_is_told(table: settings.Keys) -> None:
    path = file(table, "key_file")
    path.chmod(0o644)
    ring = Ring(table)
    assert f"everybody on this machine can read {path} and speak as n0: `chmod 600 {path}`" in ring.trouble
    path.chmod(0o640)
    await ring.look()
    assert ring.trouble == ""
