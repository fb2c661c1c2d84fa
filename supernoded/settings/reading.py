"""`supernoded.toml` becomes Settings, or a list of everything that is wrong with it."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

import msgspec

from supernoded.errors import SettingsError
from supernoded.page import Page, as_error, read_file
from supernoded.settings.shape import Settings
from supernoded.tables import Key, Problem, find_value
from supernoded.topology import Topology, build_topology

T = TypeVar("T", bound=msgspec.Struct)

LONGEST_SOCKET = 107  # bytes of a unix socket's path, sockaddr_un less its closing zero
_MOST_SECRET = 65_536  # bytes of a secret that are read
_INLINE = tuple(field.encode_name for field in msgspec.structs.fields(Topology))


def read_settings(path: Path, environment: Mapping[str, str]) -> Settings:
    """The settings in a file. Raises SettingsError with a line for every problem."""
    found = load_settings(path, environment)
    if isinstance(found, Settings):
        return found
    raise as_error(found)


def default_settings(environment: Mapping[str, str] | None = None, node: str = "") -> Settings:
    """The settings of a daemon without a file: this node, without cards."""
    found = parse_settings("", "defaults", Path.cwd(), {**(environment or {})}, node)
    if isinstance(found, Settings):
        return found
    raise as_error(found)


def load_settings(path: Path, environment: Mapping[str, str]) -> Settings | list[Problem]:
    """The settings in a file, or what is wrong with it."""
    text = read_file(path)
    if isinstance(text, Problem):
        return [text]
    return parse_settings(text, str(path), path.absolute().parent, environment)


def parse_settings(text: str, name: str, folder: Path, environment: Mapping[str, str], node: str = "") -> Settings | list[Problem]:
    """The settings in `text`, a file called `name` in `folder`, or what is wrong with it."""
    page = Page(name, text)
    if page.problems:
        return page.problems
    table = {**_default(environment, node), **page.table}
    topology = _take_topology(page, table, folder)
    settings = page.read(Settings, {**table, "topology": topology} if topology else table)
    if settings is not None:
        settings = _place(settings, folder)
        _check_placed(page, settings)
    if settings is None or page.problems:
        return sorted(page.problems, key=lambda problem: (problem.file != name, problem.line))
    return settings


def read_plugin_table(kind: type[T], table: Mapping[str, object], path: str, file: str = "settings") -> T:
    """A plugin's own table as its own type. `path` is its key, `plugins.link_ber`. Raises SettingsError like `read_settings`."""
    page = Page(file, "")
    settings = page.read(kind, table, tuple(path.split(".")))
    if settings is None:
        raise as_error(page.problems)
    return settings


def read_secret(path: Path) -> str:
    """What a secret's file holds, without the line's end. Raises SettingsError when it cannot be read or is empty."""
    found = _try_secret(path)
    if found.fault:
        raise SettingsError(f"{path}: {found.fault}; {found.remedy}")
    return found.secret


def list_files(settings: Settings) -> list[tuple[Key, Path]]:
    """The key and path of every file that the settings name."""
    files: list[tuple[Key, Path | None]] = [
        (("mqtt", "password_file"), settings.mqtt.password_file),
        (("mqtt", "ca_file"), settings.mqtt.ca_file),
        (("mqtt", "certificate_file"), settings.mqtt.certificate_file),
        (("mqtt", "key_file"), settings.mqtt.key_file),
        (("journal", "database_password_file"), settings.journal.database_password_file),
        *((("keys", name), getattr(settings.keys, name)) for name in ("key_file", "certificate_file", "ca_file", "revoked_file")),
        (("vault", "peer", "secret"), settings.vault.peer.secret),
    ]
    return [(key, path) for key, path in files if path is not None]


class _Secret(msgspec.Struct, frozen=True):
    secret: str = ""
    fault: str = ""
    remedy: str = ""


def _try_secret(path: Path) -> _Secret:
    try:
        if path.exists() and not path.is_file():
            return _Secret(fault="is not a regular file", remedy="name a file")
        with path.open("rb") as file:
            secret = file.read(_MOST_SECRET).decode().strip("\r\n")
    except OSError as error:
        return _Secret(fault=f"cannot be read, {error.strerror}", remedy="create it, or make it readable for the daemon's user")
    except UnicodeDecodeError:
        return _Secret(fault="is not UTF-8 text", remedy="write the secret into it as text")
    return _Secret(secret=secret) if secret else _Secret(fault="is empty", remedy="write the secret into it")


def _default(environment: Mapping[str, str], node: str) -> dict[str, object]:
    """What the surroundings say where the file does not. systemd may name several folders; the first is ours."""
    defaults: dict[str, object] = {"node": node or socket.gethostname().partition(".")[0]}
    if state := environment.get("STATE_DIRECTORY", "").partition(":")[0]:
        defaults["state"] = state
    if runtime := environment.get("RUNTIME_DIRECTORY", "").partition(":")[0]:
        defaults["runtime"] = runtime
    elif own := environment.get("XDG_RUNTIME_DIR", ""):
        defaults["runtime"] = f"{own}/supernoded"
    return defaults


def _take_topology(page: Page, table: dict[str, object], folder: Path) -> Topology | None:
    """The topology that the table holds or names, which is taken out of it; None when there were problems."""
    inline = {key: table.pop(key) for key in _INLINE if key in table}
    if "topology" not in table:
        return _check_nodes(page, build_topology(page, inline)) if inline else Topology.empty(str(table["node"]))
    named = table.pop("topology")
    if not isinstance(named, str) or inline:
        fault = f"names a file, and [[{next(iter(inline))}]] stands here too" if inline else "must be the path of a file"
        page.report(("topology",), named, fault, "name a file, or describe the topology here, not both")
        return None
    text = read_file(folder / named)
    if isinstance(text, Problem):
        page.report(("topology",), named, text.fault, text.remedy)
        return None
    other = Page(str(folder / named), text)
    topology = _check_nodes(other, build_topology(other, other.table))
    page.problems += other.problems
    return topology


def _check_nodes(page: Page, topology: Topology | None) -> Topology | None:
    if topology is not None and not topology.nodes:
        page.report(("nodes",), None, "the topology has no node", "describe at least this one in [[nodes]]")
        return None
    return topology


def _place(settings: Settings, folder: Path) -> Settings:
    """Relative paths stand on the file's folder; the journal on the state folder, the socket on the runtime folder."""
    state, runtime = folder / settings.state, folder / settings.runtime
    files = {key: folder / path for key, path in list_files(settings)}
    mqtt = {str(key[1]): path for key, path in files.items() if key[0] == "mqtt"}
    journal = {str(key[1]): path for key, path in files.items() if key[0] == "journal"}
    keys = {str(key[1]): path for key, path in files.items() if key[0] == "keys"}
    peer = msgspec.structs.replace(settings.vault.peer, secret=files.get(("vault", "peer", "secret")))
    return msgspec.structs.replace(
        settings,
        state=state,
        runtime=runtime,
        journal=msgspec.structs.replace(settings.journal, file=state / settings.journal.file, **journal),
        mqtt=msgspec.structs.replace(settings.mqtt, **mqtt),
        admin=msgspec.structs.replace(settings.admin, socket=runtime / settings.admin.socket),
        job=msgspec.structs.replace(
            settings.job,
            socket=runtime / settings.job.socket,
            tokens={name: folder / path for name, path in settings.job.tokens.items()},
        ),
        keys=msgspec.structs.replace(settings.keys, **keys),
        vault=msgspec.structs.replace(settings.vault, peer=peer),
        reflex=msgspec.structs.replace(settings.reflex, socket=runtime / settings.reflex.socket, record=state / settings.reflex.record),
    )


def _check_placed(page: Page, settings: Settings) -> None:
    length = len(bytes(settings.admin.socket))
    if length > LONGEST_SOCKET:
        key: Key = ("admin", "socket") if find_value(page.table, ("admin", "socket")) else ("runtime",)
        page.report(
            key, settings.admin.socket, f"the socket's path has {length} bytes, at most {LONGEST_SOCKET} are possible", "use a shorter one"
        )
    tokens: list[tuple[Key, Path]] = [(("job", "tokens", name), path) for name, path in settings.job.tokens.items()]
    for key, path in [*list_files(settings), *tokens]:
        found = _try_secret(path)
        if found.fault:
            page.report(key, path, found.fault, found.remedy)
