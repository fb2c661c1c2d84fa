"""Variables of a UPS, from its NUT server."""

from __future__ import annotations

from sim_hardware.devices.nut.words import RefusalError as WordsError
from sim_hardware.devices.nut.words import split_words
from sim_hardware.faults.reading.problems import GarbledError, RefusedError, connected
from sim_hardware.rig import Rig


async def ask_nut(rig: Rig, ups: str, *lines: str) -> list[str]:
    """Say lines to the server of UPS `A`, one after the other; the line that answers each. Raises ReadingError."""
    async with connected(rig, f"ups/{ups}") as (reader, writer):
        answers = []
        for line in lines:
            writer.write(line.encode() + b"\n")
            answer = await reader.readuntil(b"\n")
            answers.append(answer.decode("utf-8", "replace").rstrip("\n"))
        return answers


async def read_nut(rig: Rig, ups: str, variable: str) -> str | None:
    """A variable of UPS `A`; None when the driver does not show it. Raises ReadingError."""
    name = f"ups-{ups.lower()}"
    (answer,) = await ask_nut(rig, ups, f"GET VAR {name} {variable}")
    try:
        words = split_words(answer)
    except WordsError as error:
        raise GarbledError(f"ups/{ups}: {answer!r} has an open quote") from error
    match words:
        case ["VAR", found, what, value] if (found, what) == (name, variable):
            return value
        case ["ERR", "VAR-NOT-SUPPORTED"]:
            return None
        case ["ERR", code]:
            raise RefusedError(f"ups/{ups}: {variable}: {code}")
        case _:
            raise GarbledError(f"ups/{ups}: {answer!r} is no answer to GET VAR {name} {variable}")
