"""Where the simulator meets the daemon by import. So far the drive `sim`: whole daemons in virtual time."""

from sim_hardware.drives.player import Player
from sim_hardware.drives.site import SimSite

__all__ = ["Player", "SimSite"]
