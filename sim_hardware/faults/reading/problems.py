"""Why a reading gave nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from sim_hardware.rig import Rig

LIMIT = 0.8  # s of one reading (ours)


class ReadingError(Exception):
    """The reading gave no value."""


class NoAnswerError(ReadingError):
    """Nothing came in time."""


class RefusedError(ReadingError):
    """The device answered that it will not."""


class ClosedError(ReadingError):
    """The device took no connection, or hung up."""


class GarbledError(ReadingError):
    """Bytes came that make no sense."""


@asynccontextmanager
async def answered(name: str) -> AsyncIterator[None]:
    """Turn what a connection can do to us into a reading's problems. Raises NoAnswerError, ClosedError."""
    try:
        async with asyncio.timeout(LIMIT):
            yield
    except TimeoutError as error:
        raise NoAnswerError(f"{name}: no answer within {LIMIT:g} s") from error
    except EOFError as error:  # of a stream that ends too early
        raise ClosedError(f"{name}: hung up") from error
    except OSError as error:
        raise ClosedError(f"{name}: {error}") from error


def find_address(rig: Rig, device: str) -> tuple[str, int]:
    """Host and port of a device that listens. Raises ReadingError."""
    url = urlsplit(rig.endpoints.get(device, ""))
    if not url.hostname or not url.port:
        raise ReadingError(f"{device}: no device of this name listens on a port")
    return url.hostname, url.port


@asynccontextmanager
async def connected(rig: Rig, device: str) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A connection to a device, for one reading. Raises as `answered` and `find_address` do."""
    host, port = find_address(rig, device)
    async with answered(device):
        reader, writer = await asyncio.open_connection(host, port)
        try:
            yield reader, writer
        finally:
            writer.close()
