"""Who takes so much that ranks wait is named; a rank, and what belongs to one, never is."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

import supernoded_host
from supernoded.plugin import Machine, Node, Reading, State, WireError
from supernoded.quantities import find_fault
from supernoded.testing import ManualClock, MemoryHost, Running
from supernoded.wire.host import SystemHost
from supernoded_host.hogs import Allowance, describe_use, list_line, measure_memory
from supernoded_host.sensors import ProcessSensor
from supernoded_host.settings import HostSettings

GB = 2.0**30
INIT, RANK, BACKUP = Running(1, "init", 0.0, 1e7), Running(40, "python3", 6400.0, 120 * GB, 1), Running(4711, "backup", 5.0, 62 * GB, 1)
LIMITS = Allowance(20.0, 50.0)


@pytest.fixture
def host() -> MemoryHost:
    """100 GB and 64 cores."""
    host = MemoryHost()
    host.machine = Machine(load=1.0, cpu_percent=1.0, memory_available=40 * GB, memory_percent=60.0, cores=64.0)
    host.processes = [INIT]
    return host


async def look(host: MemoryHost, limits: Allowance = LIMITS) -> Reading:
    (_, hog) = await ProcessSensor("n0", host, ManualClock(), 20.0, 5, limits).read()
    assert (hog.subject, hog.quantity) == ("n0", "host.hog")
    assert find_fault(hog) == (None if hog.value is not None else "no value")
    return hog


async def test_who_takes_memory_or_cores_is_named_with_pid_and_share(host: MemoryHost) -> None:
    assert (await look(host)).value == ""
    host.processes = [INIT, BACKUP, Running(9, "ffmpeg", 3300.0, GB, 1), Running(8, "cp", 3100.0, 19 * GB, 1)]
    assert (await look(host)).value == "backup (pid 4711) takes 62 % of memory; ffmpeg (pid 9) takes 33 of 64 cores"
    host.processes = [Running(9, "stress", 6400.0, 30 * GB)]
    assert (await look(host)).value == "stress (pid 9) takes 30 % of memory and 64 of 64 cores"


async def test_who_has_a_card_open_and_what_it_has_started_is_no_hog(host: MemoryHost) -> None:
    loader = Running(41, "python3", 3300.0, 30 * GB, 40)
    host.processes = [INIT, RANK, loader, Running(42, "python3", 0.0, 25 * GB, 41)]
    host.opened = {40: ("/dev/davinci3", "/dev/davinci_manager", "/dev/null")}
    assert (await look(host)).value == ""
    host.opened = {40: ("/dev/davinci_manager",)}  # a monitor opens that too
    assert str((await look(host)).value).startswith("python3 (pid 40) takes 120 % of memory")


async def test_a_rank_may_be_known_by_its_name(host: MemoryHost) -> None:
    host.processes = [INIT, RANK]
    assert (await look(host, Allowance(20.0, 50.0, ("torch*", "python?")))).value == ""


async def test_where_nobody_sees_who_is_a_rank_nobody_is_blamed(host: MemoryHost) -> None:
    host.processes, host.opened = [INIT, BACKUP], {4711: WireError("/proc/4711/fd: Permission denied")}
    hog = await look(host)
    assert (hog.value, hog.state) == (None, State.UNKNOWN)
    assert hog.note == (
        "backup (pid 4711) takes 62 % of memory, and nobody sees whether it is a rank: /proc/4711/fd: Permission denied; "
        "give the daemon CAP_SYS_PTRACE, or name the ranks under [plugins.host]"
    )
    host.processes = []
    assert (await look(host)).note == "no process is seen"


@given(
    st.builds(Machine, st.none(), st.none(), st.none() | st.floats(), st.none() | st.floats(), st.none(), st.none() | st.floats()),
    st.builds(Running, st.integers(), st.text(), st.floats(), st.floats(), st.integers()),
)
def test_no_number_is_too_odd(machine: Machine, one: Running) -> None:
    assert isinstance(describe_use(one, machine, LIMITS), str)


@pytest.mark.parametrize("share", [None, 100.0, 130.0, -1.0])
def test_memory_that_cannot_be_told_is_nobodys(share: float | None) -> None:
    assert measure_memory(Machine(load=1.0, cpu_percent=1.0, memory_available=GB, memory_percent=share)) is None


def test_a_circle_of_parents_ends() -> None:
    one, other = Running(5, "a", 0.0, 0.0, 6), Running(6, "b", 0.0, 0.0, 5)
    assert list_line(one, {5: one, 6: other, 1: INIT}) == [one, other]


async def test_this_machine_shows_what_a_process_has_open() -> None:
    host = SystemHost()
    with os.fdopen(os.open(os.devnull, os.O_RDONLY)):
        assert "/dev/null" in await host.devices(os.getpid())
    with pytest.raises(WireError, match=r"/proc/\d+/fd: No such file"):
        await host.devices(2**22 + 1)  # above the greatest pid
    me = next(one for one in await host.top(100_000) if one.pid == os.getpid())
    assert me.parent == os.getppid()
    assert ((await host.look()).cores or 0) >= 1


def test_the_limits_come_from_the_settings(supernoded_node: Node) -> None:
    settings = HostSettings(hog_memory_percent=30.0, hog_cores_percent=70.0, ranks=("t*",))
    sensors = [one for one in supernoded_host.supernoded_sensors(settings, supernoded_node) if isinstance(one, ProcessSensor)]
    assert [one.limits for one in sensors] == [Allowance(30.0, 70.0, ("t*",))]
