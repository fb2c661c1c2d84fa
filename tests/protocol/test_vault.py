"""The vault as a process of its own, over real files: killed, starved, unmounted, fed with garbage, and in company."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event

import pytest

from supernoded.job.protocol import Durable, Hello, VaultTrouble, Welcome, decode_peer, encode
from supernoded.job.vault.catalogue import Tier
from supernoded.job.vault.files import SystemFiles
from supernoded.job.vault.names import MARKER, name_step
from supernoded.job.vault.restoring import choose_step, verify_job
from tests.unit.job.vault.saving import JOB, save_part

LONGEST = 30.0  # seconds that anything here may take
MB = 1_000_000


class House:
    """Two folders, a settings file, and the vaults that run on it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.shared, self.durable, self.run = folder / "shm", folder / "disk", folder / "run"
        for each in (self.shared, self.durable, self.run):
            each.mkdir()
        (self.durable / MARKER).touch()
        self.vaults: list[subprocess.Popen[str]] = []
        self.write()

    def write(self, more: str = "", node: str = "n0") -> Path:
        path = self.folder / f"{node}.toml"
        tiers = (
            f'shared = "{self.shared}"\ndurable = "{self.durable}"\nheadroom_mb = 0\npoll_s = 0.05\nretry_s = 1\nkeep = 2\nforget_h = 1e9\n'
        )
        path.write_text(f'node = "{node}"\nruntime = "{self.run}"\n[vault]\n{tiers}{more}\n')
        return path

    def start(self, config: Path | None = None, *around: str) -> subprocess.Popen[str]:
        command = [*around, sys.executable, "-m", "supernoded.job.vault", "run", "--config", str(config or self.folder / "n0.toml")]
        vault = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        self.vaults.append(vault)
        return vault

    def ask(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "supernoded.job.vault", words[0], "--config", str(self.folder / "n0.toml"), *words[1:]]
        return subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, check=False)

    def save(self, step: int, size: int = 1000, world: int = 2) -> None:
        for rank in range(world):
            save_part(self.shared, step, rank, world, bytes([rank]) * size, taken=float(step))

    def newest(self) -> int | None:
        return choose_step(SystemFiles(), [Tier(name="durable", root=self.durable, committed=True)], JOB).step

    def list_durable(self) -> list[int]:
        return sorted(int(path.parent.name[5:]) for path in (self.durable / JOB).glob("step-*/whole.json"))


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    found = House(tmp_path)
    yield found
    for vault in found.vaults:
        vault.kill()
        vault.wait()
        if vault.stderr is not None:
            vault.stderr.close()


def until(vault: subprocess.Popen[str], words: str) -> str:
    """Read its log up to a line with these words; the test's own time limit bounds it."""
    assert vault.stderr is not None
    seen = ""
    for line in vault.stderr:
        seen += line
        if words in line:
            return line
    raise AssertionError(f"the vault ended without {words!r}: {seen}")


def wait_for(true: Callable[[], bool]) -> None:
    for _ in range(int(LONGEST / 0.01)):
        if true():
            return
        Event().wait(0.01)
    raise AssertionError("it did not come about")


def test_steps_become_durable_and_come_back(house: House) -> None:
    vault = house.start()
    for step in (1, 2, 3):
        house.save(step)
        until(vault, f"step {step} of {JOB} is durable")
    wait_for(lambda: '"step": 3' in (house.shared / "status.json").read_text())

    status = house.ask("status")
    assert (status.returncode, "job llama: step 3 durable" in status.stdout) == (0, True)
    assert "not connected" in status.stdout  # it works without a daemon
    assert house.ask("verify", JOB).stdout == "8 parts hold, 0 do not\n"
    back = house.ask("restore", JOB, "--step", "2", "--to", str(house.folder / "out"))
    assert back.stdout == f"step 2 of {JOB}, 2 parts from shared, is in {house.folder}/out\n"
    assert (house.folder / "out/rank-00001/model.pt").read_bytes() == bytes([1]) * 1000
    assert house.list_durable() == [2, 3]
    vault.send_signal(signal.SIGTERM)
    assert vault.wait(LONGEST) == 0


def test_it_yields_to_the_training(house: House) -> None:
    vault = house.start()
    said = until(vault, "")
    while "watches" not in said:
        assert "is not allowed here" in said
        said = until(vault, "")
    assert os.getpriority(os.PRIO_PROCESS, vault.pid) == 19
    assert house.ask("status").returncode in {0, 1}


def test_killed_in_mid_flush_the_older_step_stands_and_the_next_vault_goes_on(house: House) -> None:
    vault = house.start()
    house.save(1)
    until(vault, "step 1 of")
    house.save(2, size=150 * MB)
    step = house.durable / JOB / name_step(2)
    wait_for(lambda: any(draft.stat().st_size for draft in step.glob(".rank-*/model.pt")))
    vault.kill()
    vault.wait()
    drafts = list(step.glob(".rank-*"))

    assert drafts
    assert house.newest() == 1
    again = house.start()
    until(again, "step 2 of")
    assert house.newest() == 2
    assert list(step.glob(".rank-*")) == []


def test_a_full_tier_keeps_the_copy_in_memory_and_goes_on_when_there_is_space(house: House) -> None:
    """Full by RLIMIT_FSIZE, which a user without rights can set on his own process."""
    assert shutil.which("prlimit"), "prlimit of util-linux is on every Linux that this project runs on"
    house.save(1, size=4 * MB)
    vault = house.start(None, "prlimit", f"--fsize={MB}:unlimited")
    assert "File too large; the copy in shared memory stays, and this is tried again" in until(vault, "durable: ")
    house.save(2)
    wait_for(lambda: "File too large" in house.ask("status").stdout)
    assert house.ask("status").returncode == 1
    assert house.ask("list", JOB).stdout.count("whole") >= 2
    assert (house.shared / JOB / name_step(1) / "rank-00000").exists()

    resource.prlimit(vault.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    until(vault, "durable: well again")
    wait_for(lambda: house.list_durable() == [1, 2])


def test_a_small_mount_that_is_full_and_then_gone(house: House) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can mount a tmpfs")
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(house.durable)], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip(f"this machine lets nobody mount a tmpfs: {mounted.stderr!r}")
    try:
        (house.durable / MARKER).touch()
        house.save(1, size=2 * MB)
        vault = house.start()
        assert "bytes are missing" in until(vault, "durable: ")
        subprocess.run(["mount", "-o", "remount,size=16m", str(house.durable)], check=True)
        until(vault, "step 1 of")
        until(vault, "durable: well again")
    finally:
        subprocess.run(["umount", "-l", str(house.durable)], check=True)
    (house.durable / MARKER).unlink()  # of the folder below the mount
    house.save(2)
    assert f"has no {MARKER}: it is not mounted" in until(vault, "durable: ")
    house.save(3)
    wait_for(lambda: "not mounted" in house.ask("status").stdout)
    assert list(house.durable.iterdir()) == []  # the root disk below is not filled
    assert [path.name for path in sorted((house.shared / JOB).iterdir())] == [name_step(step) for step in (1, 2, 3)]


def test_garbage_is_passed_over(house: House) -> None:
    broken = save_part(house.shared, 1, 0, 2, b"x")
    (broken / "rank.json").write_bytes(b"\x00\xff{{{")
    (house.shared / "\udcff").write_text("no job")
    (house.shared / JOB / name_step(2)).mkdir()
    os.mkfifo(house.shared / JOB / name_step(2) / "rank-00000")
    vault = house.start()
    assert "rank-00000/rank.json Not a directory (and 1 more)" in until(vault, "shared: ")
    house.save(3)
    until(vault, "step 3 of")

    assert house.newest() == 3
    assert house.ask("restore", JOB, "--to", str(house.folder / "out")).returncode == 0


def test_two_vaults_on_one_mount(house: House) -> None:
    vaults = [house.start(), house.start(house.write(node="n1"))]
    for step in range(1, 6):
        house.save(step, size=200_000)
        for vault in vaults:
            until(vault, f"step {step} of")

    assert house.newest() == 5
    assert [vault.poll() for vault in vaults] == [None, None]
    tiers = [Tier(name="durable", root=house.durable, committed=True)]
    wait_for(lambda: house.list_durable() == [4, 5])
    assert verify_job(SystemFiles(), tiers, JOB) == (4, [])


async def test_the_daemon_is_told(house: House) -> None:
    heard: asyncio.Queue[object] = asyncio.Queue()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await heard.put(decode_peer(await reader.readline()))
        writer.write(encode(Welcome(node="n0")))
        while line := await reader.readline():
            await heard.put(decode_peer(line))
        writer.close()

    server = await asyncio.start_unix_server(serve, house.run / "job.sock")
    (house.durable / MARKER).unlink()
    house.save(1)
    vault = house.start()
    hello, trouble = await asyncio.wait_for(heard.get(), LONGEST), await asyncio.wait_for(heard.get(), LONGEST)
    assert isinstance(hello, Hello)
    assert (hello.kind, hello.job) == ("vault", JOB)
    assert isinstance(trouble, VaultTrouble)
    assert (trouble.tier, MARKER in trouble.text) == ("durable", True)
    (house.durable / MARKER).touch()
    durable, well = await asyncio.wait_for(heard.get(), LONGEST), await asyncio.wait_for(heard.get(), LONGEST)
    assert isinstance(durable, Durable)
    assert (durable.step, durable.tier, durable.taken, durable.size) == (1, "durable", 1.0, 2000)
    assert well == VaultTrouble(tier="durable", text="")
    vault.terminate()
    assert await asyncio.to_thread(vault.wait, LONGEST) == 0
    server.close()


def test_a_mount_that_hangs_is_told_and_does_not_keep_the_process(house: House) -> None:
    """The storage never answers when it is asked for its space, as a dead NFS server does."""
    script = (
        "import sys, threading\n"
        "from supernoded.job.vault import __main__, files\n"
        "real = files.SystemFiles.find_space\n"
        "def hang(self, folder):\n"
        "    return threading.Event().wait() if folder.name == 'disk' else real(self, folder)\n"
        "files.SystemFiles.find_space = hang\n"
        "__main__.main()\n"
    )
    config = house.write("hang_s = 1")
    house.save(1)
    vault = subprocess.Popen([sys.executable, "-c", script, "run", "--config", str(config)], stderr=subprocess.PIPE, text=True)
    house.vaults.append(vault)
    assert "the mount hangs" in until(vault, "durable: ")
    wait_for(lambda: "the mount hangs" in json.loads((house.shared / "status.json").read_text())["troubles"].get("durable", ""))
    vault.terminate()
    assert vault.wait(LONGEST) == 0


def test_bad_settings_end_it_with_their_own_code(house: House) -> None:
    house.write('compress = "lz4"')
    ended = house.ask("status")

    assert ended.returncode == 78
    assert "is refused by policy" in ended.stderr
    assert house.ask("interval", "--save-s", "4").returncode == 78


def test_a_folder_is_given_to_the_vault_once(house: House) -> None:
    (house.durable / MARKER).unlink()
    command = [sys.executable, "-m", "supernoded.job.vault", "init", str(house.durable)]
    first, second = (subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, check=False) for _ in range(2))

    assert (first.returncode, second.returncode) == (0, 0)
    assert "has been given to the vault before" in second.stdout
    assert (house.durable / MARKER).read_text().startswith("A durable tier of supernoded-vault")
