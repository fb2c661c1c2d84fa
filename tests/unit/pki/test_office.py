from __future__ import annotations

import fcntl
import os
import stat
from pathlib import Path

import pytest
from cryptography import x509
from hypothesis import given
from hypothesis import strategies as st

from supernoded.cluster import asyncapi, topics
from supernoded.cluster.commands.keys import read_keys
from supernoded.errors import PkiError, SealError
from supernoded.page import Page
from supernoded.pki.handouts import ROOT, write_acl, write_listener, write_snippet
from supernoded.pki.office import DAY, Office
from supernoded.pki.trust import Authority, list_revoked, read_identity
from supernoded.settings import Keys, Settings

NOW = 1_800_000_000.0


@pytest.fixture
def office(tmp_path: Path) -> Office:
    office = Office(tmp_path / "pki", NOW)
    office.found("c7", 3650.0)
    return office


def keys_of(office: Office, node: str) -> Keys:
    folder = office.find_folder(node, broker=False)
    return Keys(
        key_file=folder / "node.key", certificate_file=folder / "node.crt", ca_file=folder / "ca.crt", revoked_file=folder / "crl.pem"
    )


def revoked(office: Office) -> frozenset[int]:
    authority = x509.load_pem_x509_certificate((office.folder / "ca.crt").read_bytes())
    return list_revoked([x509.load_pem_x509_crl((office.folder / "crl.pem").read_bytes())], [authority])


def test_what_is_issued_is_a_nodes_key(office: Office) -> None:
    made = office.issue("n0", 365.0)
    keys = read_keys(keys_of(office, "n0"), "n0")
    assert keys.own is not None
    assert keys.find_trouble(NOW) == ""
    assert (keys.own.identity.name, f"{keys.own.identity.serial:x}") == ("n0", made.serial)
    assert keys.own.identity.ends == pytest.approx(NOW + 365 * DAY)


def test_secrets_are_for_their_owner_alone(office: Office) -> None:
    office.issue("n0", 365.0)
    office.issue("b0", 365.0, broker=True)
    modes = {
        path.relative_to(office.folder): stat.S_IMODE(path.stat().st_mode)
        for path in (office.folder, *office.folder.rglob("*"))
        if path.is_dir() or path.suffix == ".key"
    }
    assert {mode for path, mode in modes.items() if path.suffix == ".key"} == {0o600}
    assert {mode for path, mode in modes.items() if path.suffix != ".key"} == {0o700}


def test_nothing_is_overwritten(office: Office) -> None:
    office.issue("n0", 365.0)
    before = {path: path.read_bytes() for path in office.folder.rglob("*") if path.is_file()}
    with pytest.raises(PkiError, match=r"n0 has a certificate that counts, .*`supernodectl pki rotate n0`"):
        office.issue("n0", 365.0)
    with pytest.raises(PkiError, match="holds an authority; with --force"):
        office.found("c7", 3650.0)
    assert {path: path.read_bytes() for path in office.folder.rglob("*") if path.is_file()} == before
    office.issue("n0", 365.0, force=True)
    assert (office.find_folder("n0", broker=False) / "node.key").read_bytes() not in before.values()


def test_a_certificate_that_ran_out_is_issued_anew(office: Office) -> None:
    first = office.issue("n0", 1.0)
    again = Office(office.folder, NOW + 2 * DAY).issue("n0", 365.0)
    assert again.serial != first.serial


def test_rotated(office: Office) -> None:
    first = office.issue("n0", 1.0, hosts=["10.0.0.1", "n0.example"], at="/keys")
    second = office.rotate("n0", 365.0)
    assert (second.hosts, second.at) == (first.hosts, "/keys")
    assert revoked(office) == {int(first.serial, 16)}
    own = read_keys(keys_of(office, "n0"), "n0").own
    assert own is not None
    assert f"{own.identity.serial:x}" == second.serial
    assert 'key_file = "/keys/node.key"' in (office.find_folder("n0", broker=False) / "supernoded.toml").read_text()


def test_revoked_everywhere(office: Office) -> None:
    gone, left = office.issue("n0", 365.0), office.issue("n1", 365.0)
    (told,) = office.revoke("n0")
    assert (told.serial, told.revoked) == (gone.serial, NOW)
    lists = {path.read_bytes() for path in office.folder.rglob("crl.pem")}
    assert len(lists) == 1  # the nodes' copies are the authority's
    authority = read_keys(keys_of(office, "n1"), "n1").authority
    assert authority is not None
    assert authority.revoked == {int(gone.serial, 16)}
    assert int(left.serial, 16) not in authority.revoked
    with pytest.raises(PkiError, match="nothing that counts was issued to n0"):
        office.revoke("n0")


def test_a_broker_and_a_node_of_one_name_are_two(office: Office) -> None:
    office.issue("n0", 365.0)
    office.issue("n0", 365.0, broker=True, hosts=["10.0.0.1"])
    office.revoke("n0", broker=True)
    certificate = x509.load_pem_x509_certificate((office.find_folder("n0", broker=True) / "broker.crt").read_bytes())
    with pytest.raises(SealError, match="is none of a node"):
        read_identity(certificate)
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert [str(address) for address in names.get_values_for_type(x509.IPAddress)] == ["10.0.0.1"]
    assert names.get_values_for_type(x509.DNSName) == ["n0"]
    assert read_keys(keys_of(office, "n0"), "n0").find_trouble(NOW) == ""


def test_the_list_lasts_as_long_as_the_authority(office: Office) -> None:
    office.issue("n0", 365.0)
    keys = read_keys(keys_of(office, "n0"), "n0")
    assert keys.list_ends == pytest.approx(NOW + 3650 * DAY, abs=1.0)


def test_a_new_authority_knows_nothing_of_the_old(office: Office) -> None:
    office.issue("n0", 365.0)
    old = read_keys(keys_of(office, "n0"), "n0").own
    assert old is not None
    office.found("c7", 3650.0, force=True)
    authority = Authority((x509.load_pem_x509_certificate((office.folder / "ca.crt").read_bytes()),))
    with pytest.raises(SealError, match="no authority of ours"):
        authority.identify(old.certificate)
    assert office.read().issued == ()


@pytest.mark.parametrize("name", ["", "a/b", "+", "..", "-x", "x" * 65, "a b", "é"])
def test_names_that_cannot_be(office: Office, name: str) -> None:
    with pytest.raises(PkiError, match="cannot be a node name"):
        office.issue(name, 1.0)
    with pytest.raises(PkiError, match="cannot be a host"):
        office.issue("n0", 1.0, hosts=[name.replace("x" * 65, "x" * 254) if name not in {"..", "-x"} else "a/b"])
    assert not list(office.folder.glob("nodes/*"))


def test_folders_that_cannot_be_used(office: Office, tmp_path: Path) -> None:
    with pytest.raises(PkiError, match="make an authority with `supernodectl pki init"):
        Office(tmp_path / "none", NOW).issue("n0", 1.0)
    (tmp_path / "file").write_text("")
    with pytest.raises(PkiError, match="cannot be made"):
        Office(tmp_path / "file", NOW).found("c7", 1.0)
    handle = os.open(office.folder, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    with pytest.raises(PkiError, match="another supernodectl is at work"):
        office.issue("n0", 1.0)
    os.close(handle)


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("issued.json", "{", "is damaged"),
        ("ca.key", "nothing", "ca.crt or ca.key is damaged"),
        ("ca.crt", "nothing", "ca.crt or ca.key is damaged"),
    ],
)
def test_a_damaged_authority(office: Office, file: str, text: str, words: str) -> None:
    (office.folder / file).write_text(text)
    with pytest.raises(PkiError, match=words):
        office.issue("n0", 1.0)


def test_a_key_of_another_authority(office: Office, tmp_path: Path) -> None:
    other = Office(tmp_path / "other", NOW)
    other.found("c8", 1.0)
    (office.folder / "ca.key").write_bytes((other.folder / "ca.key").read_bytes())
    with pytest.raises(PkiError, match=r"ca\.key does not belong to ca\.crt"):
        office.issue("n0", 1.0)


def test_a_disk_that_is_full_leaves_what_was_there(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(handle: int) -> None:
        raise OSError(28, "No space left on device")

    before = (office.folder / "issued.json").read_bytes()
    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(PkiError, match="cannot be written, No space left on device; what was there before stands"):
        office.issue("n0", 1.0)
    assert (office.folder / "issued.json").read_bytes() == before


# What is handed out ------------------------------------------------------------------------------------------------------------


def test_the_snippet_is_read_as_settings(office: Office) -> None:
    office.issue("n0", 365.0, at="/etc/keys")
    snippet = office.find_folder("n0", broker=False) / "supernoded.toml"
    assert "[mqtt]" not in [line.strip() for line in snippet.read_text().splitlines()]
    office.issue("b0", 365.0, broker=True, hosts=["10.0.0.9"])
    page = Page("snippet", f'node = "n0"\n{snippet.read_text()}')
    settings = page.read(Settings, page.table)
    assert page.problems == []
    assert settings is not None
    assert (settings.mqtt.host, settings.mqtt.port) == ("10.0.0.9", 8883)
    assert settings.keys.revoked_file == Path("/etc/keys/crl.pem")


def test_topics_stand_under_the_same_root() -> None:
    assert ROOT == topics.ROOT


@given(st.sampled_from(["beat", "presence", "digest", "jobs", "answer", "hold/h1", "event", "outcome"]))
def test_only_its_own_name_is_open_for_writing(leaf: str) -> None:
    """As a broker reads it: %u is the client's name."""
    acl = [line.split() for line in write_acl("c7").splitlines() if line.startswith("pattern")]
    writable = [filter_.replace("%u", "n0") for _, right, filter_ in acl if right in {"write", "readwrite"}]

    def may_write(topic: str) -> bool:
        return any(topics.matches(filter_, topic) for filter_ in writable)

    assert may_write(f"{topics.ROOT}/c7/node/n0/{leaf}")
    assert may_write(f"{topics.ROOT}/c7/node/n1/{leaf}") == (leaf == "answer")
    assert may_write(topics.command("c7", "n1"))
    assert may_write(topics.role_view("c7", "cdu/0"))
    assert not may_write(f"{topics.ROOT}/c8/node/n0/{leaf}")


def test_what_nodes_say_is_open_for_reading_but_what_is_for_one_alone() -> None:
    acl = [line.split() for line in write_acl("c7").splitlines() if line.startswith("pattern")]
    readable = [filter_.replace("%u", "n0") for _, right, filter_ in acl if right in {"read", "readwrite"}]
    for leaf, channel in asyncapi.CHANNELS.items():
        topic = f"{topics.ROOT}/c7/{channel.address.format(node='n1', hold='h1', role='cdu/0', part='0')}"
        assert any(topics.matches(filter_, topic) for filter_ in readable) == (leaf not in {"command", "answer"}), topic


def test_the_listener_asks_for_certificates_and_takes_its_user_from_them(tmp_path: Path) -> None:
    lines = write_listener(tmp_path).splitlines()
    assert {"require_certificate true", "use_identity_as_username true", "allow_anonymous false", "tls_version tlsv1.3"} <= set(lines)
    assert f"acl_file {tmp_path}/acl" in lines


def test_without_a_broker_the_snippet_says_what_is_missing(tmp_path: Path) -> None:
    assert "--broker --host HOST" in write_snippet("c7", "n0", tmp_path, "")
