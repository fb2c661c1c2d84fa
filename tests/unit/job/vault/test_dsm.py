from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from supernoded.errors import VaultError
from supernoded.job.vault.dsm import Told, name_snapshot, publish, run_tool, take_snapshot
from supernoded.job.vault.files import SystemFiles
from supernoded.job.vault.flushing import Pen
from supernoded.job.vault.names import MARKER
from supernoded.settings.vault import Dsm

PEN = Pen(node="n0", pid=1, level=None, headroom=0)


class Tools:
    """Answers in turn, and remembers what was asked."""

    def __init__(self, *answers: Told | VaultError) -> None:
        self.answers, self.asked = list(answers), list[tuple[str, ...]]()

    def __call__(self, argv: Sequence[str], seconds: float) -> Told:
        self.asked.append(tuple(argv))
        answer = self.answers.pop(0)
        if isinstance(answer, VaultError):
            raise answer
        return answer


SYNC, TAKE, VERIFY = Told(0, "8 cards synchronised"), Told(0, "Snapshot done"), Told(0, "checksum OK\n")


def test_sync_take_verify_publish_in_this_order(tmp_path: Path) -> None:
    tools = Tools(SYNC, TAKE, VERIFY)
    (tmp_path / MARKER).touch()

    snapshot = take_snapshot(tools, Dsm(), "ckpt_a", 7, 5.0)
    path = publish(SystemFiles(), tmp_path, snapshot, PEN)

    assert tools.asked == [
        ("dsm_sync_all",),
        ("dsm_snapshot", "--name", "ckpt_a", "--atomic", "--compress", "zstd"),
        ("dsm_snapshot", "--verify", "ckpt_a"),
    ]
    assert json.loads(path.read_text()) == {"v": 1, "name": "ckpt_a", "step": 7, "taken": 5.0, "verified": "checksum OK"}


@pytest.mark.parametrize(
    "words",
    [
        "dsm_snapshot: warning: dsm_snapshot_atomic is 0, --atomic has no effect",
        "Snapshot a done (non-atomic)",
        "dsm_snapshot_atomic=off",
        "warning: snapshot is NOT ATOMIC",
    ],
)
def test_a_snapshot_that_is_not_atomic_is_refused_though_the_tool_goes_on(words: str) -> None:
    tools = Tools(SYNC, Told(0, f"Snapshot a done\n{words}\n"))

    with pytest.raises(VaultError, match=r"is refused, it is not atomic: .*switch the kernel parameter dsm_snapshot_atomic on"):
        take_snapshot(tools, Dsm(), "a", 7, 5.0)
    assert len(tools.asked) == 2  # it is not verified, and so never published


@pytest.mark.parametrize("words", ["dsm_snapshot_atomic is 1", "Snapshot a done, atomic", "dsm_snapshot_atomic = 10"])
def test_an_atomic_one_is_taken(words: str) -> None:
    assert take_snapshot(Tools(SYNC, Told(0, words), VERIFY), Dsm(), "a", 7, 5.0).name == "a"


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ([Told(1, "pool is busy")], "the sync of the cards' memory failed: dsm_sync_all ended with 1 and said pool is busy"),
        ([SYNC, Told(1, "")], "the snapshot failed: dsm_snapshot ended with 1 and said nothing"),
        ([SYNC, TAKE, Told(1, "checksum mismatch")], "the verification failed: dsm_snapshot ended with 1 and said checksum mismatch"),
        ([VaultError("x did not end within 5 s")], "the sync of the cards' memory failed: x did not end within 5 s"),
    ],
)
def test_the_step_that_failed_is_named_and_the_rest_is_not_tried(answers: list[Told | VaultError], words: str) -> None:
    tools = Tools(*answers)

    with pytest.raises(VaultError, match=words):
        take_snapshot(tools, Dsm(), "a", 7, 5.0)
    assert tools.answers == []


def test_nothing_is_published_into_a_folder_that_is_not_mounted(tmp_path: Path) -> None:
    snapshot = take_snapshot(Tools(SYNC, TAKE, VERIFY), Dsm(), "a", 7, 5.0)

    with pytest.raises(VaultError, match="whole and not published"):
        publish(SystemFiles(), tmp_path, snapshot, PEN)
    assert list(tmp_path.iterdir()) == []


def test_names_differ_within_a_day() -> None:
    assert name_snapshot(1200, 0.0) == "ckpt_19700101T000000_step1200"
    assert name_snapshot(1200, 1.0) != name_snapshot(1200, 0.0)


def test_real_tools_end_or_are_ended() -> None:
    assert run_tool([sys.executable, "-c", "import sys; print('a'); print('b', file=sys.stderr); sys.exit(3)"], 30.0).code == 3
    with pytest.raises(VaultError, match=r"did not end within 0\.2 s"):
        run_tool([sys.executable, "-c", "import signal; signal.pause()"], 0.2)
    with pytest.raises(VaultError, match="cannot be run: No such file"):
        run_tool(["/no/such/tool"], 1.0)
