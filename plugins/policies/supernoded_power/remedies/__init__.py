"""What is done about it."""

from supernoded_power.remedies.outage import OutageRemedy
from supernoded_power.remedies.stopping import ReserveRemedy
from supernoded_power.remedies.telling import ADVICE, TellRemedy

__all__ = ["ADVICE", "OutageRemedy", "ReserveRemedy", "TellRemedy"]
