"""Where bytes enter and leave: a device is opened by URL, has one owner, and asks the pen before the first byte of an order."""

from supernoded.wire.node import Node, Wires
from supernoded.wire.pen import Pen
from supernoded.wire.ports import Command, Host, Http, Machine, Stream, Tree

__all__ = ["Command", "Host", "Http", "Machine", "Node", "Pen", "Stream", "Tree", "Wires"]
