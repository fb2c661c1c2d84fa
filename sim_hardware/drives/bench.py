"""The drive `bench`: the same plant and devices in real time, over real ports and files, with daemons as processes of their own."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import tempfile
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from sim_hardware.drives.commissioning import commission
from sim_hardware.drives.daemons import run_daemons
from sim_hardware.drives.folder import ServeError
from sim_hardware.drives.known import load_known_rack
from sim_hardware.drives.observer import Observer
from sim_hardware.drives.playing import CLUSTER, Repertoire, list_off
from sim_hardware.drives.serving import Served, serve_rack
from sim_hardware.drives.stage import RigStage, let_act
from sim_hardware.plant.words import Happening
from sim_hardware.stand_ins import STAND_INS
from supernoded.chaos.drive import Played, Setup, Stage
from supernoded.cluster.link.mqtt import AiomqttFabric
from supernoded.errors import ChaosError

T = TypeVar("T")

_LOG = logging.getLogger(__name__)


class Bench(Repertoire):
    """See `supernoded.chaos.drive.Drive`.

    The trace hash is over kinds and subjects of what happened; in real time no two plays need give the same.
    """

    name = "bench"

    def play(self, setup: Setup, direct: Callable[[Stage], Coroutine[Any, Any, T]]) -> Played[T]:
        """See `Drive.play`. Failures are daemons, stand-ins and trees that ended by themselves."""
        with tempfile.TemporaryDirectory(prefix="supernoded-bench-") as folder:
            return asyncio.run(_play(setup, Path(folder), direct))


async def _play(setup: Setup, folder: Path, direct: Callable[[Stage], Coroutine[Any, Any, T]]) -> Played[T]:
    rack, off = load_known_rack(setup.rack), list_off(setup)
    failures: list[str] = []
    limit = asyncio.timeout(setup.max_wall)
    try:
        async with limit, serve_rack(rack, folder, setup.seed, more=setup.settings, off=off) as served, AsyncExitStack() as stack:
            stage = await _set_up(stack, served, setup, failures)
            result = await direct(stage)
            if served.keeping.done():
                failures.append(f"the trees are kept no longer: {served.keeping.exception()!r}")
            return Played(result, _digest(served.rig.world.happened), failures)
    except ServeError as error:
        raise ChaosError(str(error)) from error
    except TimeoutError as error:
        if not limit.expired():
            raise
        raise ChaosError(f"the play took more than {setup.max_wall:g} s on the wall") from error


async def _set_up(stack: AsyncExitStack, served: Served, setup: Setup, failures: list[str]) -> RigStage:
    """The rack on stage, with somebody who listens, and daemons that are READY."""
    commission(served.rig)
    stage = RigStage(served.rig, physics=setup.physics)
    stage.observer = Observer(AiomqttFabric(*served.broker, _LOG), CLUSTER, stage.now, stage.wake)
    await stack.enter_async_context(_aside("the observer", stage.observer.run(), failures))
    if setup.stand_in:
        acting = let_act(STAND_INS[setup.stand_in](), served.rig)
        await stack.enter_async_context(_aside(f"the stand-in {setup.stand_in}", acting, failures))
    await stage.observer.listening.wait()
    if setup.plugins is None or setup.plugins:
        homes = [served.folder / node.name for node in served.rig.world.rack.nodes]
        await stack.enter_async_context(run_daemons(homes, failures))
    return stage


@asynccontextmanager
async def _aside(name: str, work: Coroutine[Any, Any, None], failures: list[str]) -> AsyncIterator[None]:
    """Let something run beside until the context is left; what it fails with is a failure of the play."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        (error,) = await asyncio.gather(task, return_exceptions=True)
        if not isinstance(error, asyncio.CancelledError):
            failures.append(f"{name} ended by itself: {error!r}")


def _digest(happened: Iterable[Happening]) -> str:
    lines = "".join(f"{news.kind} {news.subject}\n" for news in happened)
    return hashlib.sha256(lines.encode()).hexdigest()
