"""libmodbus (libmodbus.so.5) as the units of a serial line, called through ctypes; each in a thread of its own."""

from __future__ import annotations

import asyncio
import ctypes
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

LIBRARY = "libmodbus.so.5"
LONGEST = 260  # bytes, MODBUS_MAX_ADU_LENGTH
TURN_US = 50_000  # for which it listens before it looks whether it is to end


class _Mapping(ctypes.Structure):
    """modbus_mapping_t of libmodbus 3.1."""

    _fields_ = (
        *((name, ctypes.c_int) for name in ("nb_bits", "start_bits", "nb_input_bits", "start_input_bits")),
        *((name, ctypes.c_int) for name in ("nb_input_registers", "start_input_registers", "nb_registers", "start_registers")),
        ("tab_bits", ctypes.POINTER(ctypes.c_uint8)),
        ("tab_input_bits", ctypes.POINTER(ctypes.c_uint8)),
        ("tab_input_registers", ctypes.POINTER(ctypes.c_uint16)),
        ("tab_registers", ctypes.POINTER(ctypes.c_uint16)),
    )


def _load() -> ctypes.CDLL:
    library = ctypes.CDLL(LIBRARY)
    library.modbus_new_rtu.restype = ctypes.c_void_p
    library.modbus_mapping_new.restype = ctypes.POINTER(_Mapping)
    return library


class Station:
    """One unit; its registers and coils are libmodbus's own memory."""

    def __init__(self, path: str, baud: int, unit: int, words: Sequence[int]) -> None:
        self.unit, self._ended = unit, False
        self._library = _load()
        self._context = ctypes.c_void_p(self._library.modbus_new_rtu(path.encode(), baud, ctypes.c_char(b"N"), 8, 1))
        self._mapping = self._library.modbus_mapping_new(16, 16, len(words), 16)
        for place, word in enumerate(words):
            self._mapping.contents.tab_registers[place] = word

    async def see_words(self, address: int, count: int) -> Sequence[int]:
        return [self._mapping.contents.tab_registers[place] for place in range(address, address + count)]

    async def see_coil(self, address: int) -> bool:
        return bool(self._mapping.contents.tab_bits[address])

    def serve(self) -> None:
        """Answer until it is ended. Raises OSError when the line cannot be opened."""
        library, context, query = self._library, self._context, ctypes.create_string_buffer(LONGEST)
        library.modbus_set_slave(context, self.unit)
        library.modbus_set_indication_timeout(context, 0, TURN_US)
        library.modbus_set_byte_timeout(context, 0, 20_000)
        if library.modbus_connect(context):
            raise OSError(f"unit {self.unit}: libmodbus cannot open its line")
        while not self._ended:
            length = library.modbus_receive(context, query)
            if length > 0:
                library.modbus_reply(context, query, length, self._mapping)
        library.modbus_close(context)
        library.modbus_mapping_free(self._mapping)
        library.modbus_free(context)

    def end(self) -> None:
        self._ended = True


@asynccontextmanager
async def serve_station(station: Station) -> AsyncIterator[Station]:
    serving = asyncio.create_task(asyncio.to_thread(station.serve))
    try:
        yield station
    finally:
        station.end()
        await serving
