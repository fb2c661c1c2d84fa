"""Reading a rig as somebody outside does: by the bytes of its devices. Each reading takes at most `LIMIT` seconds of the loop's time."""

from sim_hardware.faults.reading.exchanges import Ear, exchange, listen
from sim_hardware.faults.reading.log import read_log
from sim_hardware.faults.reading.nut import ask_nut, read_nut
from sim_hardware.faults.reading.oid import read_oid
from sim_hardware.faults.reading.page import pick, read_json, read_page, send_page
from sim_hardware.faults.reading.problems import LIMIT, ClosedError, GarbledError, NoAnswerError, ReadingError, RefusedError
from sim_hardware.faults.reading.registers import find_register, read_register
from sim_hardware.faults.reading.tool import TOOL_LIMIT, run_tool
from sim_hardware.faults.reading.tree import read_tree

__all__ = [
    "LIMIT",
    "TOOL_LIMIT",
    "ClosedError",
    "Ear",
    "GarbledError",
    "NoAnswerError",
    "ReadingError",
    "RefusedError",
    "ask_nut",
    "exchange",
    "find_register",
    "listen",
    "pick",
    "read_json",
    "read_log",
    "read_nut",
    "read_oid",
    "read_page",
    "read_register",
    "read_tree",
    "run_tool",
    "send_page",
]
