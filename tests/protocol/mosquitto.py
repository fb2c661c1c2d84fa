"""A private mosquitto on a free loopback port, with access list, password and TLS as a test asks for."""

from __future__ import annotations

import asyncio
import shutil
import socket
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

PATIENCE = 10.0  # seconds until it must answer


def find(program: str) -> str:
    """The path of one of mosquitto's programs; a machine without it fails the test, not skips it."""
    for folder in ("/usr/sbin", "/usr/bin", "/usr/local/sbin"):
        path = Path(folder) / program
        if path.exists():
            return str(path)
    found = shutil.which(program)
    assert found is not None, f"{program} is not installed: `make test` installs it (Debian: apt-get install mosquitto mosquitto-clients)"
    return found


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


@dataclass
class Mosquitto:
    """One broker. `start` again after `kill` gives the same port."""

    folder: Path
    lines: list[str] = field(default_factory=list)
    port: int = field(default_factory=free_port)
    process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        config = self.folder / "mosquitto.conf"
        allow = [] if any(line.startswith("allow_anonymous") for line in self.lines) else ["allow_anonymous true"]
        config.write_text("\n".join([f"listener {self.port} 127.0.0.1", "set_tcp_nodelay true", "user root", *allow, *self.lines]) + "\n")
        log = (self.folder / "mosquitto.log").open("ab")
        with log:
            self.process = await asyncio.create_subprocess_exec(find("mosquitto"), "-c", str(config), stdout=log, stderr=log)
        async with asyncio.timeout(PATIENCE):
            while not await self._answers():
                assert self.process.returncode is None, (self.folder / "mosquitto.log").read_text()

    async def _answers(self) -> bool:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", self.port)
        except OSError:
            await asyncio.sleep(0.01)
            return False
        writer.close()
        return True

    async def kill(self) -> None:
        """As `kill -9`."""
        assert self.process is not None
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()

    def write(self, name: str, text: str) -> str:
        path = self.folder / name
        path.write_text(text)
        path.chmod(0o600)
        return str(path)

    def password_file(self, **users: str) -> str:
        path = self.write("passwords", "")
        for user, password in users.items():
            subprocess.run([find("mosquitto_passwd"), "-b", path, user, password], check=True, capture_output=True)
        return path
