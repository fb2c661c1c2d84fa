"""Where bytes enter and leave: a device is opened by URL, has one owner, and asks the pen before the first byte of an order."""

from supernoded.wire.node import Node, Wires
from supernoded.wire.pen import Pen
from supernoded.wire.ports import Command, Datagrams, Find, Greeting, Host, Http, Line, Machine, Opening, Running, Stream, Tree

__all__ = [
    "Command",
    "Datagrams",
    "Find",
    "Greeting",
    "Host",
    "Http",
    "Line",
    "Machine",
    "Node",
    "Opening",
    "Pen",
    "Running",
    "Stream",
    "Tree",
    "Wires",
]
