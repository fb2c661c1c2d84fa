"""Ten kinds of bad settings and more, each told with key, value and remedy."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import msgspec
import pytest

from supernoded import __main__ as command
from supernoded.checking import find_problems
from supernoded.ports import system_ports
from supernoded.tables import Problem
from tests.unit.cluster.nodekeys import make_issuer, write_keys

PLUGINS = ("fabric", "host", "link_ber")
POLICIES = ("link_ber", "ring")
PEM = "-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n"


class _Own(msgspec.Struct, frozen=True):
    window: float = 60.0


def _check(tmp_path: Path, text: str) -> list[Problem]:
    file = tmp_path / "supernoded.toml"
    file.write_text(text)
    surroundings = {"STATE_DIRECTORY": str(tmp_path / "state"), "RUNTIME_DIRECTORY": str(tmp_path / "run")}
    return find_problems(file, surroundings, plugins=PLUGINS, policies=POLICIES, tables={"link_ber": _Own})


@pytest.fixture
def tls(tmp_path: Path) -> str:
    """A broker with everything that TLS wants, in good order."""
    for name in ("ca", "certificate", "key", "password"):
        (tmp_path / name).write_text(PEM)
        (tmp_path / name).chmod(0o600)
    files = 'ca_file = "ca"\ncertificate_file = "certificate"\nkey_file = "key"\npassword_file = "password"\n'
    return f'node = "n0"\n[mqtt]\nhost = "broker"\nusername = "n0"\n{files}'


def test_good_settings_have_no_problem(tmp_path: Path, tls: str) -> None:
    assert _check(tmp_path, tls + '[plugins.host]\n[policies.ring]\nmode = "act"\n') == []
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize(
    ("text", "key", "value", "remedy"),
    [
        ("mode = ", "", "", "correct that line"),  # no TOML
        ("[mqtt]\nprot = 1883", "mqtt.prot", "1883", "did you mean port?"),  # unknown key
        ('[mqtt]\nport = "1883"', "mqtt.port", '"1883"', "leave it out"),  # wrong type
        ("[journal]\nreadings_days = 0", "journal.readings_days", "0", "default 7"),  # impossible value
        ('mode = "on"', "mode", '"on"', 'default "observe"'),  # unknown word
        ('topology = "site.toml"', "topology", '"site.toml"', "create it"),  # missing file
        ('[[nodes]]\nname = "n0"\ncards = 1\nloop = "c"', "nodes[0].loop", '"c"', "[[loops]]"),  # dangling reference
        ('[roles]\nspares = "n9"', "roles.spares", '"n9"', "one of them"),  # unknown node
        ('[mqtt]\nhost = "b"\nkey_file = "/k"', "mqtt.key_file", '"/k"', "set certificate_file"),  # half a pair
        ('[mqtt]\nhost = "b"\nusername = "u"\npassword_file = "none"', "mqtt.password_file", "none", "make it readable"),  # secret
        ('runtime = "/' + "r" * 110 + '"', "runtime", "/rrr", "shorter"),  # socket path
        ('[journal]\ndatabase = "db"', "journal.database", '"db"', "postgresql://"),  # no URL
        ("[limits.network]\necn_threshold_bytes = 120000", "limits.network.ecn_threshold_bytes", "120000", "lower it"),  # relation
        ('[policies.link_bre]\nmode = "act"', "policies.link_bre", "", "did you mean link_ber?"),  # unknown policy
        ('[mqtt]\nhost = "mqtt://broker:1883"', "mqtt.host", '"mqtt://broker:1883"', "the port has a key of its own"),  # no host
        ("[plugins.link_ber]\nwindow_s = -1", "plugins.link_ber.window_s", "-1", "did you mean window?"),  # in a plugin's own table
        ("[plugins.hosts]\nx = 1", "plugins.hosts", "", "did you mean host?"),  # unknown plugin
        ('plugins_off = ["nvidia"]', "plugins_off[0]", "nvidia", "there are fabric, host, link_ber"),
        ('state = "supernoded.toml/state"', "state", "supernoded.toml/state", "another folder"),  # not a folder
    ],
)
def test_bad_settings_are_told_with_key_value_and_remedy(tmp_path: Path, text: str, key: str, value: str, remedy: str) -> None:
    problem = next(iter(_check(tmp_path, text if "[[nodes]]" in text else f'node = "n0"\n{text}' if "=" in text else text)))

    assert problem.key == key
    assert value in problem.value
    assert remedy in problem.remedy
    assert str(problem).startswith(str(tmp_path / "supernoded.toml"))


def test_a_folder_of_somebody_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    access = os.access
    monkeypatch.setattr("os.access", lambda path, mode: access(path, mode) and (mode == os.F_OK or path != tmp_path))

    problems = _check(tmp_path, 'node = "n0"')

    assert [problem.key for problem in problems] == ["state", "runtime"]
    assert f"cannot be made, {tmp_path} is not ours to write" in problems[0].fault
    assert "daemon's user" in problems[0].remedy


def test_a_secret_that_everybody_can_read(tmp_path: Path, tls: str) -> None:
    (tmp_path / "key").chmod(0o644)

    problem = _check(tmp_path, tls)[0]

    assert (problem.key, problem.value, problem.line) == ("mqtt.key_file", f'"{tmp_path / "key"}"', 7)
    assert "0644" in problem.fault
    assert problem.remedy == f"chmod 0600 {tmp_path / 'key'}"


def test_a_certificate_that_is_none(tmp_path: Path, tls: str) -> None:
    (tmp_path / "ca").write_text("hello")

    problem = _check(tmp_path, tls)[0]

    assert (problem.key, problem.fault) == ("mqtt.ca_file", "holds no PEM block")


def test_problems_of_all_kinds_are_told_together(tmp_path: Path, tls: str) -> None:
    (tmp_path / "ca").write_text("hello")
    (tmp_path / "password").chmod(0o666)

    keys = [problem.key for problem in _check(tmp_path, tls + "[policies.x]\n[plugins.y]\n")]

    assert keys == ["mqtt.ca_file", "mqtt.password_file", "policies.x", "plugins.y"]


def test_names_are_not_judged_when_nobody_knows_them(tmp_path: Path) -> None:
    file = tmp_path / "supernoded.toml"
    file.write_text(f'node = "n0"\nstate = "{tmp_path}"\nruntime = "{tmp_path}"\n[policies.x]\n[plugins.y]\n')

    assert find_problems(file, {}) == []


@pytest.mark.parametrize("host", ["broker", "broker-1.site.example", "10.0.0.5", "::1", "fe80::1%eth0", ""])
def test_what_a_broker_may_be_called(tmp_path: Path, host: str) -> None:
    assert _check(tmp_path, f'node = "n0"\n[mqtt]\nhost = "{host}"\n') == []


@pytest.mark.parametrize("host", ["broker:1883", "[::1]", "my broker", "user@broker", "broker/x"])
def test_what_is_no_broker(tmp_path: Path, host: str) -> None:
    assert [problem.key for problem in _check(tmp_path, f'node = "n0"\n[mqtt]\nhost = "{host}"\n')] == ["mqtt.host"]


def test_a_problem_in_a_plugins_own_table_has_its_line(tmp_path: Path) -> None:
    problems = _check(tmp_path, 'node = "n0"\n[plugins.link_ber]\nwindow = "long"\nfoo = 1\n')

    assert [(problem.key, problem.line) for problem in problems] == [("plugins.link_ber.window", 3), ("plugins.link_ber.foo", 4)]


def test_without_a_file_the_defaults_are_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "DEFAULT_CONFIG", tmp_path / "none.toml")
    environment = {"STATE_DIRECTORY": str(tmp_path), "RUNTIME_DIRECTORY": str(tmp_path)}
    ports = system_ports(environment, logging.getLogger("test"))

    assert command.check(None, environment, ports) == 0
    assert capsys.readouterr().out.startswith(f"defaults (there is no {tmp_path}/none.toml): sound")

    (tmp_path / "file").touch()
    assert command.check(None, {**environment, "STATE_DIRECTORY": str(tmp_path / "file")}, ports) == 1
    assert "is not a folder" in capsys.readouterr().out


@pytest.fixture
def with_keys(tmp_path: Path) -> Path:
    """Settings of n0 with whole keys beside them."""
    table = write_keys(tmp_path / "keys", "n0", make_issuer())
    lines = [f'{name} = "{getattr(table, name)}"' for name in ("key_file", "certificate_file", "ca_file")]
    (tmp_path / "keys" / "n0.key").chmod(0o600)
    file = tmp_path / "supernoded.toml"
    file.write_text(f'node = "n0"\nstate = "{tmp_path}"\nruntime = "{tmp_path}"\n[keys]\n' + "\n".join(lines) + "\n")
    return file


def test_keys_that_belong_together(with_keys: Path) -> None:
    assert find_problems(with_keys, {}) == []


def test_keys_that_do_not(with_keys: Path) -> None:
    write_keys(with_keys.parent / "keys", "n1", make_issuer())
    with_keys.write_text(with_keys.read_text().replace("n0.crt", "n1.crt"))
    (problem,) = find_problems(with_keys, {})
    assert (problem.key, problem.line) == ("keys.certificate_file", 6)
    assert problem.fault == "is that of 'n1', and this node is n0"
    assert "supernodectl pki issue n0" in problem.remedy
