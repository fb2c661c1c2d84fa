"""What virtual time cannot wait for is refused, instead of hanging until a deadlock."""

from __future__ import annotations

from typing import NoReturn

from sim_hardware.loop.virtual import VirtualTimeLoop


class RefusingLoop(VirtualTimeLoop):
    """No real files and no real programs: each of these raises RuntimeError."""

    def add_reader(self, fd: object, *_: object) -> NoReturn:
        """Refuse a real file."""
        raise RuntimeError(f"virtual time cannot wait for the real file {fd}; open the device through the simulated network")

    def add_writer(self, fd: object, *_: object) -> NoReturn:
        """Refuse a real file."""
        raise RuntimeError(f"virtual time cannot wait for the real file {fd}; open the device through the simulated network")

    async def subprocess_exec(self, *command: object, **_: object) -> NoReturn:
        """Refuse a real program."""
        raise RuntimeError(f"virtual time cannot wait for the real program {command[1]}; give the daemon a simulated tool")

    async def subprocess_shell(self, *command: object, **_: object) -> NoReturn:
        """Refuse a real command."""
        raise RuntimeError(f"virtual time cannot wait for the real command {command[1]}; give the daemon a simulated tool")
