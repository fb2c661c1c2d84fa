"""The daemon's clock in virtual time."""

from sim_hardware.loop import EPOCH, SimLoop
from sim_hardware.loop.clock import SimClock
from sim_hardware.loop.play import play
from supernoded.clock import Clock


def test_the_clock_fits_the_daemons_port_and_moves_with_virtual_time() -> None:
    loop = SimLoop(1)
    clock = SimClock(loop, "n0", skew=0.5)

    async def main(clock: Clock) -> list[float]:
        await clock.sleep(10)
        await clock.sleep(-1)
        return [clock.now(), clock.wall()]

    clock.jump = -3600
    assert play(loop, main(clock)) == [EPOCH + 10.5, EPOCH + 10.5 - 3600]


def test_two_nodes_have_streams_of_their_own() -> None:
    def draws(seed: int) -> list[float]:
        loop = SimLoop(seed)
        try:
            return [SimClock(loop, name).stream("backoff").random() for name in ("n0", "n1")]
        finally:
            loop.close()

    assert len({*draws(1), *draws(2)}) == 4
    assert draws(1) == draws(1)
