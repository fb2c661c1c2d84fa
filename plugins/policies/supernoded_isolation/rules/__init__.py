"""What is judged of cards where the role `spares` is held, and of their memory on each node."""

from supernoded_isolation.rules.memory import MemoryRule
from supernoded_isolation.rules.slow import SlowRule
from supernoded_isolation.rules.verdicts import FaultyRule, ProcessRule, SilentRule, SoftwareRule

__all__ = ["FaultyRule", "MemoryRule", "ProcessRule", "SilentRule", "SlowRule", "SoftwareRule"]
