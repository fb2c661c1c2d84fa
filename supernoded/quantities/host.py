"""The machine itself."""

from __future__ import annotations

from supernoded.quantities.shape import Quantity, celsius, counter, share, text

HOST = (
    Quantity("host.load", "1", 0.0, 1e5),  # run-queue length averaged over one minute
    share("host.cpu_used"),
    Quantity("host.memory_available", "B", 0.0, 1e15),
    share("host.memory_used"),
    share("disk.used"),
    Quantity("disk.free", "B", 0.0, 1e18),
    celsius("host.temperature", -40.0, 130.0, 50.0),
    Quantity("host.temperature.high", "C", -40.0, 200.0),  # the part's own limit
    text("host.top_process"),
    text("host.hog"),  # who takes so much of memory, cores or network that ranks wait, and is none: `backup (pid 4711): ...`; empty = none
    counter("host.kernel_errors"),
    Quantity("host.uptime", "s", 0.0, 1e10),
    Quantity("host.clock_step", "s", -1e10, 1e10),  # how far the wall clock was set since the daemon started
)
