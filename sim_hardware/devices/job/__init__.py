"""The processes of the training job as the daemons see them: ranks, their launcher and the vault, over the plant's job."""

from sim_hardware.devices.job.crew import Crew
from sim_hardware.devices.job.peer import Peer

__all__ = ["Crew", "Peer"]
