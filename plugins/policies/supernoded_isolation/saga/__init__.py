"""What is done about a card: the two orders in which one is replaced, the way back, and what a process gets in its place."""

from supernoded_isolation.saga.process import ProcessRemedy
from supernoded_isolation.saga.replacing import ReplaceRemedy

__all__ = ["ProcessRemedy", "ReplaceRemedy"]
