"""Faults of the training job."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Annotated, Any

from sim_hardware.faults.kind import Kind, Nothing, Parameters, about, give, lift
from sim_hardware.faults.place import Place
from sim_hardware.faults.probing import COUNTED_S
from sim_hardware.faults.reading import ReadingError, read_log
from sim_hardware.faults.views import hca_counter, tool_number
from sim_hardware.plant.job import orders
from sim_hardware.plant.job.ranks import MOVING, MOVING_TRAFFIC
from sim_hardware.plant.job.shape import COMPLAIN_S

_ALIKE = 0.25  # of load and traffic of a save
_LINE_RATE = 200e9  # bit/s of a port (L12)
_WORD = 32  # bits, in which ports count
_IDLE = 0.6  # of a card's usual load, below which it is starved (ours)
_SAVES = 3.0  # a save that takes so many times its time hangs (ours)


class Starving(Parameters, frozen=True):
    """Of a job that waits for data."""

    times: Annotated[float, about("a step takes so many times as long as at full speed", "1", 1.5, 100.0)] = 10.0


def _rank(place: Place) -> tuple[str, int]:
    return place.owner.removeprefix("job/"), place.number


async def _find_last(place: Place, log: str, subject: str, *words: str) -> str:
    """The newest line that has one of the words and is about a subject, in a log that all nodes have; empty when there is none."""
    lines = await read_log(place.rig, place.rig.world.rack.nodes[0].name, log)
    return next((line for line in reversed(lines) if subject in line.split() and any(word in line for word in words)), "")


async def _see_silent(place: Place, _: Nothing) -> bool:
    """The last that the library's log says of the rank; its process does not outlive the communicator."""
    for line in reversed(await read_log(place.rig, place.rig.world.rack.nodes[0].name, "hccl.log")):
        words = line.split()
        if place.target in words and "heartbeat" in words:
            return "no heartbeat" in line
        if place.owner in words and ("communicator aborted" in line or "communicator destroyed" in line):
            return False
    return False


async def _see_failed(place: Place, _: Nothing) -> bool:
    """How the last save ended, by the log of the job's program."""
    return "no space left" in await _find_last(place, "train.log", place.target, "checkpoint.failed:", "checkpoint.committed:")


async def _see_timeouts(place: Place, _: Nothing) -> bool:
    """The newest line of the library's log about a time-out of the job is not older than two of them are apart."""
    line = await _find_last(place, "hccl.log", place.target, "send timeout")
    stamp = line.partition("):")[2].partition(" ")[0].rpartition(".")[0]
    if not stamp:
        return False
    told = datetime.strptime(stamp, "%Y-%m-%d-%H:%M:%S.%f").replace(tzinfo=UTC).timestamp()
    return place.rig.logs.epoch + place.rig.world.now() - told < 2.0 * COMPLAIN_S


async def _measure_traffic(card: Place) -> float:
    """The share of its line rate that a card's port has received within a second."""
    read, loop = hca_counter("counters/port_rcv_data", lambda place: f"{place.target}/port0"), asyncio.get_running_loop()
    first, begun = await read(card), loop.time()
    await asyncio.sleep(COUNTED_S)
    return (await read(card) - first) * _WORD / (loop.time() - begun) / _LINE_RATE


async def _see_starved(place: Place, _: Starving) -> bool:
    """A card of the job is far less busy than it was at first."""
    cards = place.rig.world.rack.list_cards()
    if not cards:
        raise ReadingError(f"{place.target}: has no card to look at")
    busy = await tool_number("Aicore Usage Rate(%)", "-t", "usages")(Place(place.rig, place.kind, cards[0]))
    return busy < _IDLE * place.remember("busy", busy)


async def _see_endless_save(place: Place, _: Nothing) -> bool:
    """A card of the job has been as busy as in a save, and has sent as little, for longer than three of them."""
    plan = place.rig.world.rack.sim.job
    cards = place.rig.world.rack.list_cards()
    if plan is None or not cards:
        raise ReadingError(f"{place.target}: has no card to look at")
    first = Place(place.rig, place.kind, cards[0])
    busy = await tool_number("Aicore Usage Rate(%)", "-t", "usages")(first) / 100.0
    sent = await _measure_traffic(first)
    now = place.rig.world.now()
    if not (abs(busy - MOVING) < _ALIKE * MOVING and abs(sent - MOVING_TRAFFIC) < _ALIKE * MOVING_TRAFFIC):
        place.forget("since")
        return False
    return now - place.remember("since", now) > _SAVES * plan.save_s


KINDS: tuple[Kind[Any], ...] = (
    Kind(
        kind="job.rank_silent",
        text="The process of a rank hangs, and its peers wait for it in the next collective.",
        parameters=Nothing,
        targets=("rank",),
        inject=give(lambda place, _: orders.SilenceRank(*_rank(place), silent=True)),
        lift=lift(lambda place: orders.SilenceRank(*_rank(place), silent=False)),
        probe=_see_silent,
        danger="os",
    ),
    Kind(
        kind="comm.buffer_small",
        text="The buffer of the communication library is too small: with all links up, sends time out, and steps take longer.",
        parameters=Nothing,
        targets=("job",),
        inject=give(lambda place, _: orders.ShrinkBuffer(place.short, small=True)),
        lift=lift(lambda place: orders.ShrinkBuffer(place.short, small=False)),
        probe=_see_timeouts,
        takes_out=False,
        danger="os",
        shows_within=2.0 * COMPLAIN_S,
        ends_within=3.0 * COMPLAIN_S,
    ),
    Kind(
        kind="job.save_hangs",
        text="A save does not end; it shows at the first save after it.",
        parameters=Nothing,
        targets=("job",),
        inject=give(lambda place, _: orders.HangSave(place.short, hung=True)),
        lift=lift(lambda place: orders.HangSave(place.short, hung=False)),
        probe=_see_endless_save,
        takes_out=False,
        danger="os",
        shows_within=40.0,
    ),
    Kind(
        kind="job.save_fails",
        text="The storage of a save is full: it ends without a checkpoint; it shows, and is gone, at the first save after it.",
        parameters=Nothing,
        targets=("job",),
        inject=give(lambda place, _: orders.FailSave(place.short, failed=True)),
        lift=lift(lambda place: orders.FailSave(place.short, failed=False)),
        probe=_see_failed,
        takes_out=False,
        danger="os",
        shows_within=40.0,
        ends_within=40.0,
    ),
    Kind(
        kind="job.starved",
        text="Training data come too slowly: cards wait for them, and draw little.",
        parameters=Starving,
        targets=("job",),
        inject=give(lambda place, parameters: orders.StarveJob(place.short, parameters.times)),
        lift=lift(lambda place: orders.StarveJob(place.short, 1.0)),
        probe=_see_starved,
        takes_out=False,
        danger="os",
    ),
)
