"""Who takes so much of the machine that ranks may wait, and is none of them (H3).

Memory and cores are told by process. Traffic is not: the kernel counts it by interface and by network namespace, and disk traffic only for
who may look into the process; so a process that only fills the network or a disk cannot be named here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from supernoded.plugin import Host, Machine, Running, WireError

CARD_DEVICES = ("/dev/davinci[0-9]*", "/dev/nvidia[0-9]*")  # whoever has one open computes, or watches, and is left out
EVERY = 100_000  # processes; Linux has 4 million at most, and a node some 2,000
ALL = 100.0  # %


@dataclass(frozen=True)
class Allowance:
    """What is too much, and who is a rank by its name."""

    memory_percent: float
    cores_percent: float
    ranks: Sequence[str] = ()


def describe_use(one: Running, machine: Machine, limits: Allowance) -> str:
    """What a process takes too much of; empty = of nothing, or the kernel does not tell how much there is."""
    said = []
    total = measure_memory(machine)
    if total and one.memory >= total * limits.memory_percent / ALL:
        said.append(f"{ALL * one.memory / total:.0f} % of memory")
    if machine.cores and one.cpu_percent >= machine.cores * limits.cores_percent:
        said.append(f"{one.cpu_percent / ALL:.0f} of {machine.cores:.0f} cores")
    return " and ".join(said)


def measure_memory(machine: Machine) -> float | None:
    """All memory, bytes: what is available is what the share that is used leaves."""
    share, left = machine.memory_percent, machine.memory_available
    return left / (1.0 - share / ALL) if share is not None and left is not None and 0.0 <= share < ALL else None


async def find_hogs(host: Host, machine: Machine, running: Sequence[Running], limits: Allowance) -> str:
    """A sentence of all who take too much; empty = nobody does. Raises WireError when it cannot be seen whether one is a rank."""
    by_pid, told = {one.pid: one for one in running}, []
    for one in running:
        use = describe_use(one, machine, limits)
        if use and not await _is_rank(host, one, by_pid, limits, use):
            told.append(f"{one.name} (pid {one.pid}) takes {use}")
    return "; ".join(told)


async def _is_rank(host: Host, one: Running, by_pid: Mapping[int, Running], limits: Allowance, use: str) -> bool:
    """A rank has a card open; what a rank has started, such as its data loaders, is part of it."""
    family = list_line(one, by_pid)
    if any(fnmatchcase(each.name, pattern) for each in family for pattern in limits.ranks):
        return True
    for each in family:
        try:
            opened = await host.devices(each.pid)
        except WireError as error:
            remedy = "give the daemon CAP_SYS_PTRACE, or name the ranks under [plugins.host]"
            raise WireError(f"{one.name} (pid {one.pid}) takes {use}, and nobody sees whether it is a rank: {error}; {remedy}") from error
        if any(fnmatchcase(name, pattern) for name in opened for pattern in CARD_DEVICES):
            return True
    return False


def list_line(one: Running, by_pid: Mapping[int, Running]) -> list[Running]:
    """A process and who has started it, up to but without the first of all."""
    line = [one]
    while (parent := by_pid.get(line[-1].parent)) is not None and parent.pid > 1 and parent not in line:
        line.append(parent)
    return line
