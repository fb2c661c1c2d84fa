"""Virtual time: an event loop whose clock jumps to the next timer, with processes that can be killed between any two turns."""

from sim_hardware.loop.process import HERE, Process
from sim_hardware.loop.simloop import EPOCH, SimLoop
from sim_hardware.loop.virtual import Deadlock, Failure, Livelock

__all__ = ["EPOCH", "HERE", "Deadlock", "Failure", "Livelock", "Process", "SimLoop"]
