"""Waiting for what tells nothing by itself."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

PATIENCE = 20.0  # seconds


async def until(fits: Callable[[], object]) -> None:
    """Look until it is so."""
    async with asyncio.timeout(PATIENCE):
        while True:
            if fits():
                return
            await asyncio.sleep(0.01)
