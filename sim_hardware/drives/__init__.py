"""Where the simulator meets the daemon: whole daemons on simulated hosts, over simulated devices."""

from sim_hardware.drives.player import Player
from sim_hardware.drives.site import SimSite

__all__ = ["Player", "SimSite"]
