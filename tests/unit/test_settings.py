from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
import pytest

from supernoded.errors import SettingsError
from supernoded.model import Mode
from supernoded.settings import Settings, default_settings, parse_settings, read_plugin_table, read_secret, read_settings
from supernoded.settings.describing import describe_settings
from supernoded.tables import Problem, about
from supernoded.topology import Topology

SITE = '[[nodes]]\nname = "n0"\ncards = 2\nloop = "cdu0"\n[[loops]]\nname = "cdu0"\n[[nodes]]\nname = "n1"\ncards = 0\n'


def _parse(text: str, environment: dict[str, str] | None = None, folder: Path = Path("/etc/supernoded")) -> Settings:
    found = parse_settings(text, "supernoded.toml", folder, environment or {})
    assert isinstance(found, Settings), [str(problem) for problem in found]
    return found


def _refuse(text: str, folder: Path = Path("/etc/supernoded")) -> list[Problem]:
    found = parse_settings(text, "supernoded.toml", folder, {})
    assert isinstance(found, list)
    return found


def test_an_empty_file_gives_the_defaults() -> None:
    settings = _parse("")

    assert settings == default_settings()
    assert settings.mode is Mode.OBSERVE
    assert settings.staging is False
    assert settings.topology == Topology.empty(settings.node)
    assert settings.journal.file == Path("/var/lib/supernoded/journal.db")
    assert settings.admin.socket == Path("/run/supernoded/admin.sock")
    assert (settings.mqtt.host, settings.mqtt.outbox) == ("", 10_000)
    assert (settings.incidents.clear_after_s, settings.incidents.common_window_s, settings.incidents.common_count) == (60, 30, 3)


def test_every_table_is_read() -> None:
    settings = _parse(
        'node = "n1"\ncluster = "c7"\nmode = "act"\nplugins_off = ["host"]\nmaintenance = ["n0/card3"]\n'
        "[journal]\nreadings_days = 3\n[mqtt]\nhost = 'broker'\nport = 8883\n[guards]\nactions_per_minute = 60\n"
        '[roles]\n"cdu/0" = "n0"\nspares = "n1"\n[policies.link_ber]\nmode = "advise"\nmaintenance = ["n0/*"]\n'
        "[plugins.link_ber]\nwindow_s = 5\n" + SITE
    )

    assert (settings.node, settings.cluster, settings.mode, settings.journal.readings_days) == ("n1", "c7", Mode.ACT, 3)
    assert (settings.mqtt.host, settings.mqtt.port, settings.guards.actions_per_minute) == ("broker", 8883, 60)
    assert settings.roles == {"cdu/0": "n0", "spares": "n1"}
    assert (settings.policies["link_ber"].mode, settings.policies["link_ber"].maintenance) == (Mode.ADVISE, ("n0/*",))
    assert settings.plugins == {"link_ber": {"window_s": 5}}
    assert (settings.plugins_off, settings.maintenance) == (("host",), ("n0/card3",))
    assert settings.topology.shared("n0/card1") == ("cdu/0", "n0")


@pytest.mark.parametrize(
    ("text", "environment", "state", "runtime"),
    [
        ("", {"STATE_DIRECTORY": "/s:/other", "RUNTIME_DIRECTORY": "/r"}, "/s", "/r"),
        ("", {"XDG_RUNTIME_DIR": "/run/user/7"}, "/var/lib/supernoded", "/run/user/7/supernoded"),
        ("", {"RUNTIME_DIRECTORY": "/r", "XDG_RUNTIME_DIR": "/run/user/7"}, "/var/lib/supernoded", "/r"),
        ('state = "/own"\nruntime = "run"', {"STATE_DIRECTORY": "/s", "RUNTIME_DIRECTORY": "/r"}, "/own", "/etc/supernoded/run"),
    ],
)
def test_folders_come_from_the_file_then_the_surroundings(text: str, environment: dict[str, str], state: str, runtime: str) -> None:
    settings = _parse(text, environment)

    assert (settings.state, settings.runtime) == (Path(state), Path(runtime))
    assert settings.admin.socket == Path(runtime) / "admin.sock"


def test_relative_paths_stand_on_the_files_folder(tmp_path: Path) -> None:
    (tmp_path / "password").write_text("hunter2\n")
    (tmp_path / "site.toml").write_text(SITE)
    file = tmp_path / "supernoded.toml"
    file.write_text('node = "n0"\nstate = "s"\ntopology = "site.toml"\n[mqtt]\nhost = "b"\nusername = "u"\npassword_file = "password"\n')

    settings = read_settings(file, {})

    assert settings.mqtt.password_file is not None
    assert read_secret(settings.mqtt.password_file) == "hunter2"
    assert settings.journal.file == tmp_path / "s" / "journal.db"
    assert [node.name for node in settings.topology.nodes] == ["n0", "n1"]


def test_a_byte_order_mark_and_carriage_returns_do_no_harm(tmp_path: Path) -> None:
    file = tmp_path / "supernoded.toml"
    file.write_bytes('\ufeffnode = "n9"\r\nmode = "act"\r\n'.encode())

    assert read_settings(file, {}).node == "n9"


@pytest.mark.parametrize(
    ("text", "line", "key", "value", "says"),
    [
        ("[mqtt]\nprot = 1", 2, "mqtt.prot", "1", ("no such key", "did you mean port?")),
        ("[mqt]\nport = 1", 1, "mqt", "{...}", ("no such key", "did you mean mqtt?")),
        ("[mqtt]\npassword = 'hunter2'", 2, "mqtt.password", "(hidden)", ("no such key", "password_file")),
        ("[mqtt]\nport = 70000", 2, "mqtt.port", "70000", ("from 1 to 65535", "leave it out")),
        ("[mqtt]\nport = '1883'", 2, "mqtt.port", '"1883"', ("a whole number", "leave it out")),
        ("staging = 1", 1, "staging", "1", ("true or false", "default false")),
        ("mode = 'atc'", 1, "mode", '"atc"', ("observe, advise, act", 'default "observe"')),
        ("[journal]\nreadings_days = 0", 2, "journal.readings_days", "0", ("from 1 to 3650 days", "default 7")),
        ("mqtt = 3", 1, "mqtt", "3", ("a table is due here", "[mqtt]")),
        ("plugins_off = ['a', 3]", 1, "plugins_off[1]", "3", ("a list, each entry a text", "correct it")),
        ("state = ''", 1, "state", '""', ("a path", "/var/lib/supernoded")),
        ("node = 'a/b'", 1, "node", '"a/b"', ("is not a name", "letters, digits")),
        ("cluster = '+'", 1, "cluster", '"+"', ("is not a name", "letters, digits")),
        ("node = 'n7'\n" + SITE, 1, "node", '"n7"', ("is no node of the topology, which has n0, n1", "[[nodes]]")),
        ("topology = 'none.toml'", 1, "topology", '"none.toml"', ("No such file", "create it")),
        ("topology = 'x'\n" + SITE, 1, "topology", '"x"', ("[[nodes]] stands here too", "not both")),
        ("topology = 3", 1, "topology", "3", ("must be the path of a file", "name a file")),
        ("[[ups]]\nname = 'A'", 0, "nodes", "", ("the topology has no node", "[[nodes]]")),
        (SITE.replace("cdu0", "cdu1", 1), 4, "nodes[0].loop", '"cdu1"', ("the nearest is cdu0", "[[loops]]")),
        ("node='n0'\n[roles]\n'cdu/0' = 'n7'\n" + SITE, 3, 'roles."cdu/0"', '"n7"', ("is no node", "one of them")),
        ("node='n0'\n[roles]\n'cdu/5' = 'n0'\n" + SITE, 3, 'roles."cdu/5"', '"n0"', ("has no cdu/5, it has cdu/0", "correct the role")),
        ("node='n0'\n[roles]\nspare = 'n0'\n" + SITE, 3, "roles.spare", '"n0"', ("no such role", "spares")),
        ("[mqtt]\nhost='b'\nkey_file='/k'", 3, "mqtt.key_file", '"/k"', ("of no use without certificate_file", "set certificate_file")),
        ("[mqtt]\nhost='b'\npassword_file='/k'", 3, "mqtt.password_file", '"/k"', ("of no use without username", "set username")),
        ("[mqtt]\nusername='u'", 2, "mqtt.username", '"u"', ("of no use with the embedded broker", "set host")),
        ("[mqtt]\nhost='b'\nca_file='/none'", 3, "mqtt.ca_file", '"/none"', ("cannot be read, No such file", "make it readable")),
        ("[journal]\ndatabase='sqlite:///x'", 2, "journal.database", '"sqlite:///x"', ("no PostgreSQL URL", "postgresql://")),
        ("[journal]\ndatabase_password_file='/p'", 2, "journal.database_password_file", '"/p"', ("there is no database", "set database")),
        ("plugins_off=['x']\n[plugins.x]\na = 1", 2, "plugins.x", "{...}", ("plugins_off names it", "remove the table")),
        ("[policies.link_ber]\nmod = 'act'", 2, "policies.link_ber.mod", '"act"', ("no such key", "did you mean mode?")),
        (
            "[hooks]\nisolate = ['cut', '--of', '{crad}']\nrelease = ['join', '${x}', '{card}']",
            2,
            "hooks.isolate[2]",
            '"{crad}"',
            ("a blank that nobody fills in, {crad}", "there are {card}, {slot}, {node}, {serial}, {reason}"),
        ),
        ("[guards]\nattempts_per_subject = 0", 2, "guards.attempts_per_subject", "0", ("from 1 to 100", "default 3")),
        ("runtime = '/" + "x" * 120 + "'", 1, "runtime", "/xxx", ("at most 107 are possible", "shorter")),
    ],
)
def test_what_is_wrong_is_named(text: str, line: int, key: str, value: str, says: tuple[str, str]) -> None:
    problem = _refuse(text)[0]

    assert (problem.file, problem.line, problem.key) == ("supernoded.toml", line, key)
    assert value in problem.value
    assert says[0] in problem.fault
    assert says[1] in problem.remedy
    assert all(part in str(problem) for part in (key, problem.value, problem.fault, problem.remedy))


def test_a_password_in_a_url_is_refused_and_not_repeated() -> None:
    problem = _refuse("[journal]\ndatabase = 'postgresql://u:hunter2@db/x'")[0]

    assert problem.key == "journal.database"
    assert "database_password_file" in problem.remedy
    assert "hunter2" not in str(problem)


def test_a_syntax_error_names_its_line() -> None:
    assert str(_refuse('node = "n0"\nmode = \n')[0]).startswith("supernoded.toml, line 2: this is not TOML")


def test_all_problems_are_told_at_once_in_the_order_of_the_file() -> None:
    problems = _refuse("mode = 'x'\n[mqtt]\nport = -1\nprot = 3\n[journal]\nevents_days = -1\n[limits.link]\npoll_s = 0\n")

    assert [problem.line for problem in problems] == [1, 3, 4, 6, 8]


def test_a_broken_topology_file_is_named_with_its_own_line(tmp_path: Path) -> None:
    (tmp_path / "site.toml").write_text(SITE.replace("cdu0", "cdu1", 1))

    problem = _refuse("node = 'n0'\ntopology = 'site.toml'", tmp_path)[0]

    assert (problem.file, problem.line, problem.key) == (str(tmp_path / "site.toml"), 4, "nodes[0].loop")


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda path: None, "No such file or directory"),
        (lambda path: path.mkdir(), "is not a regular file"),
        (lambda path: path.write_bytes(b"node = '\xff'"), "is not UTF-8 at byte 8"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, make: object, says: str) -> None:
    file = tmp_path / "supernoded.toml"
    assert callable(make)
    make(file)

    with pytest.raises(SettingsError, match=says) as refused:
        read_settings(file, {})

    assert str(file) in str(refused.value)


@pytest.mark.parametrize(("content", "says"), [(b"", "is empty"), (b"\n", "is empty"), (b"\xff", "is not UTF-8"), (None, "No such file")])
def test_a_secret_that_is_none(tmp_path: Path, content: bytes | None, says: str) -> None:
    file = tmp_path / "secret"
    if content is not None:
        file.write_bytes(content)

    with pytest.raises(SettingsError, match=says):
        read_secret(file)


class _Port(msgspec.Struct, frozen=True):
    name: str
    width: Annotated[int, about("bits of its counters", ge=1, le=64)] = 64


class _Own(msgspec.Struct, frozen=True):
    window_s: Annotated[float, about("window", unit="s", gt=0)] = 60.0
    root: Path | None = None
    ports: tuple[_Port, ...] = ()

    def __post_init__(self) -> None:
        if len({port.name for port in self.ports}) < len(self.ports):
            raise ValueError("two ports have one name")


def test_a_plugins_table_becomes_its_own_type() -> None:
    table = {"window_s": 5, "root": "/sys", "ports": [{"name": "a"}]}

    assert read_plugin_table(_Own, table, "plugins.own") == _Own(window_s=5.0, root=Path("/sys"), ports=(_Port(name="a"),))


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ({"window": 5}, "plugins.own.window = 5: no such key; did you mean window_s?"),
        ({"window_s": 0}, "plugins.own.window_s = 0: must be a number above 0 s; correct it, or leave it out for the default 60.0"),
        ({"ports": [{"name": "a"}, {"name": "b", "width": 65}]}, "plugins.own.ports[1].width = 65: must be a whole number from 1 to 64"),
        ({"ports": [{}]}, "plugins.own.ports[0].name: is missing; add name = a text"),
        ({"ports": [{"name": "a"}, {"name": "a"}]}, "plugins.own: two ports have one name"),
        ({"ports": 3}, "plugins.own.ports = 3: must be a list"),
    ],
)
def test_a_plugins_table_is_refused_like_our_own(table: dict[str, object], says: str) -> None:
    with pytest.raises(SettingsError) as refused:
        read_plugin_table(_Own, table, "plugins.own")

    assert says in str(refused.value)


def test_the_page_of_settings_is_true(checkout: Path) -> None:
    written = (checkout / "docs" / "settings.md").read_text(encoding="utf-8")

    assert written == describe_settings(), "run: python -m supernoded.settings.describing docs/settings.md"
    assert "| `mqtt.port` |  | a whole number from 1 to 65535 |" in written


def test_a_ring_within_one_node_is_that_nodes_and_the_settings_win() -> None:
    rings = """
[[nodes]]
name = "n0"
cards = 2
[[nodes]]
name = "n1"
cards = 2
[[rings]]
name = "b0"
level = "backplane"
order = ["n0/card0", "n0/card1"]
[[rings]]
name = "b1"
level = "backplane"
order = ["n1/card0", "n1/card1"]
[[rings]]
name = "pod"
level = "cluster"
order = ["n0", "n1"]
"""
    settings = _parse('node = "n0"\n[roles]\n"ring/b1" = "n0"\n' + rings)
    assert settings.list_seats() == {"ring/b0": "n0", "ring/b1": "n0"}


def test_on_a_site_of_one_node_all_roles_are_that_nodes() -> None:
    lone = {"spares": "n0", "fleet": "n0"}
    site = '[[nodes]]\nname = "n0"\ncards = 1\nfeeds = ["A"]\nloop = "cdu0"\n[[loops]]\nname = "cdu0"\n[[ups]]\nname = "A"\n'
    assert _parse('node = "n0"\n' + site).list_seats() == {"feed/A": "n0", "cdu/0": "n0", "power/site": "n0", **lone}
    bare = '[[nodes]]\nname = "n0"\ncards = 1\n'
    assert _parse('node = "n0"\n' + bare).list_seats() == lone
    two = site + '[[nodes]]\nname = "n1"\ncards = 1\n'
    assert _parse('node = "n0"\n' + two).list_seats() == {}


def test_what_a_node_needs_and_nobody_has_is_a_vacant_role() -> None:
    site = """
rings = [{name = "pod", level = "cluster", order = ["n0", "n1"]}]
ups = [{name = "A", wire = "nut://h/a"}, {name = "B"}]
loops = [{name = "cdu0", wire = "modbus://h"}, {name = "cdu1"}, {name = "cdu2", wire = "modbus://i"}]
nodes = [{name = "n0", cards = 1, feeds = ["A", "B"], loop = "cdu0"}, {name = "n1", cards = 1, loop = "cdu1"}]
"""
    assert _parse('node = "n0"\n' + site).list_vacant_roles() == ["ring/pod", "cdu/0", "feed/A", "power/site"]
    assert _parse('node = "n1"\n' + site).list_vacant_roles() == ["ring/pod"]  # its loop has no wire
    seats = '[roles]\n"ring/pod" = "n1"\n"cdu/0" = "n1"\n"feed/A" = "n0"\n"power/hall" = "n0"\n'
    assert _parse('node = "n0"\n' + site + seats).list_vacant_roles() == []
    alone = '[[loops]]\nname = "cdu0"\nwire = "modbus://h"\n[[nodes]]\nname = "n0"\ncards = 1\nloop = "cdu0"\n'
    assert _parse('node = "n0"\n' + alone).list_vacant_roles() == []  # all roles are that node's


def test_maintenance_is_everybodys_and_the_policys_own() -> None:
    settings = _parse('maintenance = ["n0/card3"]\n[policies.ring]\nmaintenance = ["n0/*"]\n')
    assert (settings.list_maintenance("ring"), settings.list_maintenance("thermal")) == (("n0/card3", "n0/*"), ("n0/card3",))
