"""A UPS that says ALARM for something that no other rule tells of, such as an earth fault of its battery."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from supernoded.plugin import Level, Verdict, View, is_read, say_why
from supernoded_power.battery import Flagged, has_flag
from supernoded_power.mains import STATUS, Feeds
from supernoded_power.seeing import judge
from supernoded_power.settings import PowerSettings

ALARM = "ups.alarm"
TOLD = ("rb", "lb", "over", "off", "fsd", "ob", "bypass")  # with these it alarms for what they say, which is told of itself


class AlarmRule:
    """Raises a UPS that alarms for something of its own; people are told, and nothing else is done."""

    kind = "ups.alarm"
    watches: Mapping[str, float] = {STATUS: 60.0, ALARM: 60.0}

    def __init__(self, feeds: Feeds, settings: PowerSettings) -> None:
        self.scope = settings.subject
        self._feeds, self._flash_s = feeds, settings.flash_s

    def start(self) -> Flagged:
        """Nothing is known."""
        return Flagged()

    def judge(self, seen: View, memory: Flagged) -> tuple[Flagged, Sequence[Verdict]]:
        """The level of every UPS that tells its flags."""
        upses = [f"ups/{name}" for name in self._feeds.names if is_read(seen, STATUS, f"ups/{name}")]
        alarmed = [ups for ups in upses if has_flag(seen, ups, "alarm") and not any(has_flag(seen, ups, flag) for flag in TOLD)]
        since = {ups: memory.since.get(ups, seen.now) for ups in alarmed}
        return Flagged({}, since), [self._judge(seen, ups, since.get(ups)) for ups in upses]

    def _judge(self, seen: View, ups: str, since: float | None) -> Verdict:
        if since is not None:
            lasts, words = seen.now - since, (seen.text(ALARM, ups) or "").rstrip(" .!")
            level = Level.RAISED if lasts >= self._flash_s else Level.UNSURE
            return judge(self.kind, ups, seen.now, level, f"{ups} alarms for {lasts:.0f} s: {words or 'it does not say for what'}")
        if seen.flags(STATUS, ups) is None:
            why = say_why(seen, STATUS, ups)
            return judge(self.kind, ups, seen.now, Level.UNSURE, f"whether {ups} alarms cannot be seen: {why}", unseen=(why,))
        return judge(self.kind, ups, seen.now, Level.CLEAR, f"{ups} has no alarm that is not told of itself")
