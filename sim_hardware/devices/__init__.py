"""Devices: bytes in, bytes out, over the plant behind a panel. Each has a plain synchronous core and a thin asyncio server around it."""
