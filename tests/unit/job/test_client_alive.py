"""A thread says that the process runs, whatever its step does; and what else the client tells and is told for a job that is placed anew."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from supernoded.job import client
from supernoded.job.client import Job, Order, connect
from supernoded.job.protocol import Order as SaidOrder
from supernoded.job.protocol import Welcome
from tests.unit.job.test_client import Daemon, make_job

NAME = "supernoded: alive"


@pytest.fixture
def daemon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Daemon]:
    monkeypatch.setattr(client, "ALIVE_S", 0.01)
    monkeypatch.setattr(client, "PAUSES", (0.0, 0.0))
    daemon = Daemon(tmp_path / "job.sock")
    yield daemon
    daemon.end()


def find_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == NAME]


def wait_for_alive(daemon: Daemon) -> None:
    while {"t": "alive"} not in daemon.hear():
        pass


def test_a_process_that_hangs_in_its_step_says_that_it_runs_until_it_stops(daemon: Daemon) -> None:
    job = make_job(daemon)
    assert find_threads() == [], "a rank that has done no step may yet fork"
    job.beat(1)
    daemon.accept()
    wait_for_alive(daemon)
    (thread,) = find_threads()
    job.stopped()
    thread.join(10)
    assert not thread.is_alive()


def test_while_a_step_hangs_a_daemon_that_comes_back_is_dialled(daemon: Daemon) -> None:
    job = make_job(daemon)
    job.beat(7)
    daemon.accept()
    hello = daemon.accept()[0]  # the old line is closed; nobody beats
    assert (hello["t"], hello["step"]) == ("hello", 7)
    job.stopped()


def test_a_job_that_is_dropped_is_not_kept_by_its_thread(daemon: Daemon) -> None:
    job: Job | None = make_job(daemon)
    assert job is not None
    job.beat(1)
    (thread,) = find_threads()
    job = None
    gc.collect()
    thread.join(10)
    assert not thread.is_alive()


@pytest.mark.parametrize("follow", [True, False])
def test_a_fork_has_a_thread_of_its_own_where_it_is_the_rank_now(daemon: Daemon, *, follow: bool) -> None:
    job = make_job(daemon, follow_fork=follow)
    job.beat(1)
    daemon.accept()
    child = os.fork()
    if child == 0:
        before = len(find_threads())
        job.beat(2)
        os._exit(0 if (before, len(find_threads())) == (0, int(follow)) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    job.stopped()


@pytest.mark.parametrize(
    ("variables", "plan"),
    [
        ({"SUPERNODED_PLAN": "tp=8 dp=2", "TP_SIZE": "4"}, "tp=8 dp=2"),
        ({"TP_SIZE": "4", "PP_SIZE": "2", "DP_SIZE": "3"}, "tp=4 pp=2 dp=3"),
        ({"TP_SIZE": "4", "PP_SIZE": "2", "DP_SIZE": "3", "EP_SIZE": "2"}, "tp=4 pp=2 dp=3 ep=2"),
        ({"TP_SIZE": "4", "PP_SIZE": "2"}, ""),
        ({"SUPERNODED_PLAN": "x" * 900}, "x" * 200),
    ],
)
def test_the_plan_is_told_as_the_environment_has_it(
    daemon: Daemon, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], plan: str
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    job = make_job(daemon)
    job.beat(1)
    assert daemon.accept()[0]["plan"] == plan
    job.stopped()


def test_every_process_has_a_life_of_its_own(daemon: Daemon) -> None:
    lives = []
    for _ in range(2):
        job = make_job(daemon)
        job.beat(1)
        lives.append(daemon.accept()[0]["life"])
        job.stopped()
    assert lives[0] != lives[1]


def test_a_launcher_is_told_who_is_given_up_and_goes_by_the_plan_that_is_left(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUPERNODED_PLAN", "tp=2 dp=2")
    launcher = connect("train", path=str(daemon.path)).launcher()
    launcher.wait(0.0)
    assert daemon.accept()[0]["plan"] == "tp=2 dp=2"
    daemon.say(Welcome(node="n0"), SaidOrder(id="o1", kind="remap", drop=(0, 1), plan="tp=2 pp=1 dp=1 ep=1", incarnation=3))
    order = launcher.wait(10.0)
    assert order == Order("o1", "remap", {}, (0, 1), "tp=2 pp=1 dp=1 ep=1", 3)
    launcher.acted(order)
    daemon.hear()
    daemon._line.close()
    launcher.wait(0.0)
    launcher.wait(0.0)
    hello, acted = daemon.accept()
    assert hello["plan"] == "tp=2 pp=1 dp=1 ep=1"
    assert acted == {"t": "acted", "order": "o1", "ok": True, "why": ""}
    launcher.close()
