"""The mains by several views: the words of UPSes, voltages at their inputs, voltages behind them."""

from supernoded_power.mains.following import SOURCE, WATCHES, Feeds, Tracks, find_rows
from supernoded_power.mains.volts import STATUS
from supernoded_power.mains.words import AWAY, Feed, Mains, Track

__all__ = ["AWAY", "SOURCE", "STATUS", "WATCHES", "Feed", "Feeds", "Mains", "Track", "Tracks", "find_rows"]
