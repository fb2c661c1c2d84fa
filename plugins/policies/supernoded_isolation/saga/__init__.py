"""What is done about a card or a node: how its ranks get another place, the way back, and what a process gets in its place."""

from supernoded_isolation.saga.process import ProcessRemedy
from supernoded_isolation.saga.relocating import RelocateRemedy
from supernoded_isolation.saga.replacing import ReplaceRemedy

__all__ = ["ProcessRemedy", "RelocateRemedy", "ReplaceRemedy"]
