"""A private PostgreSQL cluster on loopback, for the tests of one file. PostgreSQL refuses to run as root: then it runs as `nobody`."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import psycopg
from psycopg import sql

NOBODY = 65534
PATIENCE = "30"  # seconds pg_ctl waits


class Cluster:
    """One server that can be stopped, killed and started again."""

    def __init__(self, folder: Path, address: str = "127.0.0.1", enter: Sequence[str] = ()) -> None:
        """`enter` goes before each command, such as what enters a network namespace where `address` is one of its own."""
        self._folder, self.address, self._enter = folder, address, enter
        self._tools = find_tools()
        self._user = NOBODY if os.geteuid() == 0 else os.geteuid()
        self.port = find_port()
        self._databases = 0

    def make(self) -> None:
        """Make the cluster; without fsync, as its data live as long as the tests."""
        if os.geteuid() == 0:
            os.chown(self._folder, self._user, -1)
        self._run("initdb", "--no-sync", "-A", "trust", "-U", "tester", "-E", "UTF8", "-D", str(self._data))
        with (self._data / "pg_hba.conf").open("a") as rules:
            rules.write(f"host all all {self.address}/24 trust\n")

    def start(self) -> None:
        """Start the server and wait until it answers."""
        options = f"-p {self.port} -c listen_addresses={self.address} -c unix_socket_directories={self._folder} -c fsync=off"
        self._run("pg_ctl", "-w", "-t", PATIENCE, "-D", str(self._data), "-l", str(self._folder / "log"), "-o", options, "start")

    def stop(self, how: str = "immediate") -> None:
        """Stop the server; `immediate` is what a crash looks like to its clients."""
        self._run("pg_ctl", "-w", "-t", PATIENCE, "-m", how, "-D", str(self._data), "stop")

    def new_database(self) -> str:
        """The URL of an empty database."""
        self._databases += 1
        name = f"journal{self._databases}"
        with psycopg.connect(self.local_url("postgres"), autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        return f"postgresql://tester@{self.address}:{self.port}/{name}"

    def local_url(self, name: str) -> str:
        """The URL of a database by the server's unix socket, which no cut reaches."""
        return f"postgresql://tester@/{name}?host={quote(str(self._folder), safe='')}&port={self.port}"

    @property
    def _data(self) -> Path:
        return self._folder / "data"

    def _run(self, tool: str, *arguments: str) -> None:
        as_user = ("setpriv", f"--reuid={self._user}", "--clear-groups") if os.geteuid() == 0 else ()
        # Output to a file: the server inherits it, and a pipe would never end.
        with (self._folder.parent / f"{self._folder.name}.out").open("a+") as output:
            done = subprocess.run(
                [*self._enter, *as_user, str(self._tools / tool), *arguments],
                stdout=output,
                stderr=output,
                cwd=self._folder,
                timeout=60,
                check=False,
            )
            if done.returncode:
                output.seek(0)
                raise AssertionError(f"{tool} ended with {done.returncode}: {output.read()[-2000:]}")


def find_tools() -> Path:
    """Where the newest server's programs are."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if found:
        return found[-1].parent
    on_path = shutil.which("initdb")
    if on_path:
        return Path(on_path).resolve().parent
    raise AssertionError("PostgreSQL is not installed: no /usr/lib/postgresql/*/bin/initdb. `make test` installs it (Debian: postgresql)")


def find_port() -> int:
    """A free port of the loopback."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


@contextmanager
def running_cluster(address: str = "127.0.0.1", enter: Sequence[str] = ()) -> Iterator[Cluster]:
    """A cluster that runs; it is stopped and removed in the end."""
    with tempfile.TemporaryDirectory(prefix="supernoded-pg-") as name:
        os.chmod(name, 0o755)  # noqa: PTH101, S103 - the server's user must reach what is in it
        folder = Path(name) / "cluster"
        folder.mkdir(0o700)
        cluster = Cluster(folder, address, enter)
        cluster.make()
        cluster.start()
        try:
            yield cluster
        finally:
            cluster.stop()
