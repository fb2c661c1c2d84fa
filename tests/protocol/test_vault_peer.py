"""Vaults that keep each other's parts, processes over loopback: killed, refused, full, and asked after a node lost its memory."""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from supernoded.job.client import connect
from supernoded.job.vault.catalogue import Tier
from supernoded.job.vault.files import SystemFiles
from supernoded.job.vault.names import MARKER, name_step, place_part
from supernoded.job.vault.restoring import choose_step
from tests.protocol.test_vault import LONGEST, MB, House, until, wait_for
from tests.unit.job.vault.saving import FAST, JOB, save_part


def find_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class Node(House):
    """A node with memory of its own and, where it has any, storage of its own."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.port, self.kept = find_port(), folder / "peer"
        super().__init__(folder)

    def meet(self, *others: Node, known: str = "one secret", most_mb: int = 1000) -> None:
        (self.folder / "secret").write_text(known)
        addresses = ", ".join(f'"127.0.0.1:{other.port}"' for other in others)
        table = f'[vault.peer]\nlisten = "127.0.0.1:{self.port}"\npush = [{addresses}]\nsecret = "{self.folder / "secret"}"\n'
        self.write(f'{table}folder = "{self.kept}"\nmost_mb = {most_mb}')

    def newest_kept(self) -> int | None:
        return choose_step(SystemFiles(), [Tier(name="peer", root=self.kept, committed=False)], JOB).step

    def lose_memory(self) -> None:
        for folder in (self.shared, self.kept):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()

    def lose_storage(self) -> None:
        (self.durable / MARKER).unlink()


@pytest.fixture
def pair() -> Iterator[tuple[Node, Node]]:
    """`a` pushes to `b`; neither has storage, unless a test gives it some."""
    with tempfile.TemporaryDirectory(dir=FAST) as name:
        a, b = Node(Path(name) / "a"), Node(Path(name) / "b")
        for node in (a, b):
            node.lose_storage()
        a.meet(b)
        b.meet()
        try:
            yield a, b
        finally:
            for vault in [*a.vaults, *b.vaults]:
                end(vault)


def end(vault: subprocess.Popen[str]) -> None:
    vault.kill()
    vault.wait()
    if vault.stderr is not None:
        vault.stderr.close()


def test_a_part_is_in_the_peers_memory_and_back_after_the_node_lost_its_own(
    pair: tuple[Node, Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = pair
    there = b.start()
    until(there, "listens for peers")
    here = a.start()
    for step in (1, 2, 3):
        a.save(step)
        until(here, f"the peer 127.0.0.1:{b.port} has step {step} of {JOB}, 2 parts")
    wait_for(lambda: "has step 3 of llama" in a.ask("status").stdout)
    assert b.newest_kept() == 3
    assert not place_part(b.kept, JOB, 1, 0).exists()  # of the older steps one stays
    here.kill()
    a.lose_memory()

    back = a.ask("restore", JOB, "--to", str(a.folder / "out"))

    assert back.stdout.splitlines()[-1] == f"step 3 of {JOB}, 2 parts from peer, is in {a.folder}/out"
    assert (a.folder / "out/rank-00001/model.pt").read_bytes() == bytes([1]) * 1000
    assert a.ask("verify", JOB).stdout.splitlines()[-1].startswith("2 parts hold")
    assert f"{JOB}: peer     {name_step(3)}  2 of 2 parts" in a.ask("list").stdout
    monkeypatch.setenv("SUPERNODED_VAULT", f"{a.shared}:{a.kept}:{a.durable}")
    ranks = [connect(JOB, rank, world=2, path="/nowhere/job.sock").restore() for rank in range(2)]
    assert [found[0] if found else None for found in ranks] == [3, 3]  # and so the ranks can start


def test_a_step_of_two_nodes_comes_together(pair: tuple[Node, Node]) -> None:
    """One has lost its memory; the other gives the parts that it kept, and those of its own ranks."""
    a, b = pair
    there = b.start()
    until(there, "listens for peers")
    here = a.start()
    save_part(b.shared, 5, 1, 2, b"of b")
    save_part(a.shared, 5, 0, 2, b"of a")
    until(here, "has step 5")
    here.kill()
    a.lose_memory()

    assert "2 parts from peer" in a.ask("restore", JOB, "--step", "5", "--to", str(a.folder / "out")).stdout
    assert [(a.folder / f"out/rank-0000{rank}/model.pt").read_bytes() for rank in (0, 1)] == [b"of a", b"of b"]


def test_the_tier_that_has_the_newest_whole_step_is_restored_from(pair: tuple[Node, Node]) -> None:
    """Scenario: the process dies, then the memory is lost; storage has an older step by then, and later the newest."""
    a, b = pair
    (a.durable / MARKER).touch()
    there = b.start()
    until(there, "listens for peers")
    here = a.start()
    a.save(1)
    until(here, f"step 1 of {JOB} is durable")
    a.lose_storage()
    a.save(2)
    until(here, "has step 2")
    here.kill()
    (a.durable / MARKER).touch()

    assert "step 2 of llama, 2 parts from shared" in a.ask("restore", JOB, "--to", str(a.folder / "1")).stdout
    a.lose_memory()
    assert "step 2 of llama, 2 parts from peer" in a.ask("restore", JOB, "--to", str(a.folder / "2")).stdout
    there.kill()
    there.wait()
    a.lose_memory()
    last = a.ask("restore", JOB, "--to", str(a.folder / "3"))
    assert f"the peer 127.0.0.1:{b.port} is passed over" in last.stdout
    assert "step 1 of llama, 2 parts from durable" in last.stdout


def test_killed_in_mid_push_on_either_side(pair: tuple[Node, Node]) -> None:
    a, b = pair
    there = b.start()
    until(there, "listens for peers")
    here = a.start()
    a.save(1)
    until(here, "has step 1")
    step = b.kept / JOB / name_step(2)
    a.save(2, size=200 * MB)
    wait_for(lambda: any(draft.stat().st_size for draft in step.glob(".rank-*/model.pt")))
    end(here)
    wait_for(lambda: not list(step.glob(".rank-*")))  # a connection that breaks leaves nothing
    assert b.newest_kept() == 1

    again = a.start()
    wait_for(lambda: any(draft.stat().st_size for draft in step.glob(".rank-*/model.pt")))
    end(there)
    assert b.newest_kept() == 1
    until(again, "peer: ")
    b.start()
    until(again, "has step 2")
    until(again, "peer: well again")
    assert b.newest_kept() == 2
    assert list(step.glob(".rank-*")) == []


@pytest.mark.parametrize("liar", ["a", "b"])
def test_without_the_secret_nothing_is_taken_and_nothing_is_given(pair: tuple[Node, Node], liar: str) -> None:
    a, b = pair
    (a if liar == "a" else b).meet(*([b] if liar == "a" else []), known="another")
    there = b.start()
    until(there, "listens for peers")
    a.save(1)
    here = a.start()

    assert "it has not our secret" in until(here, "peer: ")
    assert "127.0.0.1 is turned away: it has not our secret" in until(there, "turned away")
    assert not (b.kept / JOB).exists()
    wait_for(lambda: "it has not our secret" in a.ask("status").stdout)
    end(here)
    a.lose_memory()
    back = a.ask("restore", JOB, "--to", str(a.folder / "out"))
    assert (back.returncode, "is passed over: it has not our secret" in back.stdout) == (1, True)


def test_a_peer_that_is_full_says_so_and_what_it_has_stays(pair: tuple[Node, Node]) -> None:
    a, b = pair
    b.meet(most_mb=1)
    there = b.start()
    until(there, "listens for peers")
    a.save(1)
    here = a.start()
    until(here, "has step 1")
    a.save(2, size=MB)
    trouble = until(here, "peer: ")
    assert f"{b.kept} is full there: " in trouble
    assert "raise vault.peer.most_mb" in trouble
    assert b.newest_kept() == 1
    a.save(3)
    until(here, "has step 3")
    until(here, "peer: well again")


def test_strangers_and_garbage_end_nothing(pair: tuple[Node, Node]) -> None:
    a, b = pair
    there = b.start()
    until(there, "listens for peers")
    newer = b'{"t":"hello","v":9,"node":"x","nonce":"%s"}\n' % (b"0" * 64)
    for garbage in (b"GET / HTTP/1.1\r\n\r\n", b"\x00" * 3_000_000, b'{"t":"push"}\n', newer):
        with socket.create_connection(("127.0.0.1", b.port), LONGEST) as line:
            try:
                line.sendall(garbage)
                line.shutdown(socket.SHUT_WR)
                answer = line.makefile("rb").read(10_000)
            except ConnectionError:  # it has hung up before we were done
                answer = b""
        assert answer == b"" or b'"t":"refused"' in answer
    here = a.start()
    a.save(1)
    until(here, "has step 1")
    assert there.poll() is None


def test_a_rank_that_starts_on_the_peer_restores_from_its_folder(pair: tuple[Node, Node], monkeypatch: pytest.MonkeyPatch) -> None:
    """The client speaks to no peer, but reads the folder of its own node."""
    a, b = pair
    there = b.start()
    until(there, "listens for peers")
    here = a.start()
    a.save(7)
    until(here, "has step 7")
    monkeypatch.setenv("SUPERNODED_VAULT", f"{b.shared}:{b.kept}:{b.durable}")

    found = connect(JOB, 1, world=2, path="/nowhere/job.sock").restore()

    assert found is not None
    assert (found[0], found[1]["model.pt"]) == (7, place_part(b.kept, JOB, 7, 1) / "model.pt")
