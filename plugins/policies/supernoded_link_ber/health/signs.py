"""What can be seen of the two ends of a cable, as signs that hold, do not hold, or cannot be seen. Pure; the thresholds are ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import msgspec

from supernoded.plugin import View
from supernoded_link_ber.health.seeing import STATE, as_number, list_numbers
from supernoded_link_ber.health.tales import Tale, hear
from supernoded_link_ber.health.traces import Trace, trace
from supernoded_link_ber.looking import find_change

RX, TX, BIAS, HEAT, SNR = "link.rx_power", "link.tx_power", "link.bias", "link.temperature", "link.snr"
PRESENT, LOS, DOWNED = "link.present", "link.los", "link.downed"
OPTICAL = (RX, TX, BIAS, HEAT, SNR)

DARK = 0.01  # mW, -20 dBm: no light
FELL, BELOW = 0.85, 0.63  # of its own past, 0.7 dB; of other ports, which differ among themselves, 2 dB
ROSE, ABOVE = 1.15, 1.3  # a laser's current, the same way round
DB = 2.0  # of signal to noise
NEAR, WARMED = 5.0, 8.0  # kelvin below its own limit; above its past, where it is within twice NEAR of it
HOT = 70.0  # C, where it gives no limit (SFF-8636, commercial)
UNSTEADY = 2  # turns
FLAPS = 2  # times down
HOUR = 3600.0  # s


class Sign(msgspec.Struct, frozen=True):
    """`holds` None = cannot be seen, and `text` says what."""

    holds: bool | None
    text: str


class End(msgspec.Struct, frozen=True):
    """A port and what is read of its module."""

    port: str
    traces: Mapping[str, Trace]
    present: bool | None = None
    lost: bool = False  # it reports loss of signal
    since: float = 0.0  # when it last began to receive less light, as far back as was read

    @property
    def at(self) -> float:
        """When its module was last read; 0 = never."""
        return max((one.at for one in self.traces.values()), default=0.0)

    @property
    def absent(self) -> bool:
        """Whether there is no module: one that is called absent and measures is there."""
        return self.present is False and not any((one := self.traces.get(name)) and one.now > 0.0 for name in (RX, BIAS))

    @property
    def dark(self) -> bool | None:
        """Whether no light arrives."""
        rx = self.traces.get(RX)
        if self.absent or self.lost:
            return True
        return None if rx is None else rx.now < DARK or (rx.low is not None and rx.now < rx.low / 2.0)


def look(seen: View, port: str) -> End:
    """One end."""
    traces = {quantity: one for quantity in OPTICAL if (one := trace(seen, quantity, port)) is not None}
    present = list_numbers(seen, PRESENT, port)
    lost = "rx-los" in (seen.flags(LOS, port) or ())
    since = _find_since(seen, port, traces.get(RX))
    return End(port, traces, any(present.values()) if present else None, lost, since)


def _find_since(seen: View, port: str, rx: Trace | None) -> float:
    bright = max(DARK, FELL * (rx.past or 0.0)) if rx is not None else DARK
    since = 0.0
    for reading in reversed(seen.window(RX, port)):
        value = as_number(reading)
        if value is None or value >= bright:
            break
        since = reading.at
    return since


def find_signs(seen: View, own: End, peer: End | None) -> Mapping[str, Sign]:
    """Every sign of a port's trouble, by the names that causes use."""
    signs = {"seat": _find_seat(own, peer), "rx": find_low(own, RX, "receives"), "laser": find_laser(own)}
    signs |= {"dark": _find_dark(own), "flaps": _find_flaps(seen, own.port), "snr": _find_noise(own), "heat": find_heat(own)}
    if peer is not None:
        signs |= {"peer seat": _find_seat(peer, own), "peer rx": find_low(peer, RX, "receives"), "peer laser": find_laser(peer)}
        signs["both dark"] = _find_both_dark(own, peer)
        if peer.at < own.since and not peer.absent:  # it was read before the trouble began
            signs |= _forget(("peer seat", "peer rx", "peer laser", "both dark"), f"{peer.port} since {own.port} receives less")
    went = _find_down(seen, own.port)
    if own.at < went and not own.absent:
        signs |= _forget(("seat", "rx", "laser", "dark", "snr", "heat"), f"the module of {own.port} since the link went down")
    if peer is not None and peer.at < went and not peer.absent:
        signs |= _forget(("peer seat", "peer rx", "peer laser", "both dark"), f"the module of {peer.port} since the link went down")
    return signs


def _forget(names: Iterable[str], text: str) -> dict[str, Sign]:
    """What was well before the trouble says nothing of it."""
    return {name: Sign(holds=None, text=text) for name in names}


def _find_down(seen: View, port: str) -> float:
    """When the link went down, where it is down; 0 = it is not, or was never seen otherwise."""
    down = [source for source, state in list_numbers(seen, STATE, port).items() if not state]
    return max((find_change(seen.window(STATE, port, source)) for source in down), default=0.0)


def _find_seat(end: End, other: End | None) -> Sign:
    """A module that is out, or not fully home."""
    if end.absent:
        return Sign(holds=True, text=f"no module is in the cage of {end.port}")
    rx, sends_less = end.traces.get(RX), find_low(end, TX, "sends")
    other_is_silent = other is not None and (other.absent or other.dark is True or _is_off(other))
    if end.dark and other is not None and not other.absent and other.at < end.since:
        return Sign(holds=None, text=f"the module of {other.port} since no light arrives at {end.port}")
    if end.dark and not other_is_silent:
        return Sign(holds=True, text=f"no light arrives at {end.port}{f', {rx.now:.3g} mW' if rx else ''}")
    if rx is not None and rx.turns >= UNSTEADY and find_low(end, RX, "receives").holds:
        return Sign(holds=True, text=f"the light at {end.port} is low and unsteady, now {rx.now:.3g} mW ({rx.say_past('mW')})")
    if sends_less.holds and find_laser(end).holds is False and not find_heat(end).holds:
        return Sign(holds=True, text=f"{sends_less.text}, and not because of its laser's current")
    if (dip := _find_dip(end)) and find_laser(end).holds is False and not find_heat(end).holds:
        return Sign(holds=True, text=dip)
    if rx is None and end.present is None:
        return Sign(holds=None, text=f"the module of {end.port}")
    return Sign(holds=False, text=f"the module of {end.port} is there and steady")


def _find_dip(end: End) -> str:
    """A laser sends steadily, so light that dips and comes back is a contact that moves; empty when it does not."""
    sent = end.traces.get(TX)
    if sent is None or sent.past is None or sent.least >= FELL * sent.past:
        return ""
    return f"the light that {end.port} sends dipped to {sent.least:.3g} mW ({sent.say_past('mW')})"


def _is_off(end: End) -> bool:
    sent = end.traces.get(TX)
    return sent is not None and sent.now < DARK


def find_low(end: End, quantity: str, verb: str) -> Sign:
    """Less light than the module allows, than it had, or than others have."""
    one = end.traces.get(quantity)
    if one is None:
        return Sign(holds=end.absent or None, text=f"no light is read at {end.port}" if end.absent else f"the light that {end.port} {verb}")
    text = f"{end.port} {verb} {one.now:.3g} mW"
    if one.low is not None and one.now < one.low:
        return Sign(holds=True, text=f"{text}, below its module's limit of {one.low:.3g} mW")
    low = _is_beyond(one, lambda value, past: value < FELL * past, lambda value, usual: value < BELOW * usual)
    return _say(low, f"{text} ({one.say_past('mW')})")


def find_laser(end: End) -> Sign:
    """A laser that draws more current for its light, as ageing ones do."""
    bias, low = end.traces.get(BIAS), find_low(end, TX, "sends")
    if bias is None:
        return Sign(holds=low.holds if not end.absent else None, text=low.text if low.holds is not None else f"the laser of {end.port}")
    text = f"the laser of {end.port} draws {bias.now:.3g} mA ({bias.say_past('mA')})"
    if bias.high is not None and bias.now > bias.high:
        return Sign(holds=True, text=f"the laser of {end.port} draws {bias.now:.3g} mA, above its module's limit of {bias.high:.3g} mA")
    high = _is_beyond(bias, lambda value, past: value > ROSE * past, lambda value, usual: value > ABOVE * usual)
    return _say(high, f"{text}; {low.text}" if high and low.holds else text)


def find_heat(end: End) -> Sign:
    """A module near its limit, or much warmer than it was."""
    one = end.traces.get(HEAT)
    if one is None:
        return Sign(holds=None, text=f"the temperature of the module of {end.port}")
    ceiling = one.high if one.high is not None else HOT + NEAR
    hot = one.now >= ceiling - NEAR or (one.past is not None and one.now >= max(one.past + WARMED, ceiling - 2.0 * NEAR))
    limit = f", its limit is {one.high:.3g} C" if one.high is not None else ""
    return Sign(holds=hot, text=f"the module of {end.port} is at {one.now:.3g} C ({one.say_past('C')}){limit}")


def _find_noise(end: End) -> Sign:
    one = end.traces.get(SNR)
    if one is None:
        return Sign(holds=None, text=f"the signal-to-noise ratio at {end.port}")
    low = _is_beyond(one, lambda value, past: value < past - DB, lambda value, usual: value < usual - DB)
    return _say(low, f"the signal-to-noise ratio at {end.port} is {one.now:.3g} dB ({one.say_past('dB')})")


def _say(holds: bool | None, text: str) -> Sign:
    return Sign(holds=holds, text=text if holds is not None else f"whether it is as usual that {text}")


def _is_beyond(one: Trace, of_past: Callable[[float, float], bool], of_usual: Callable[[float, float], bool]) -> bool | None:
    """Its own past first; a trouble older than the window is seen by the company. With neither, and no limit, nothing can be said."""
    if one.past is None and one.usual is None:
        return None if one.low is None and one.high is None else False
    beyond = one.past is not None and of_past(one.now, one.past * one.drift)
    return beyond or (one.usual is not None and of_usual(one.now, one.usual))


def _find_dark(end: End) -> Sign:
    if end.dark is None:
        return Sign(holds=None, text=f"whether light arrives at {end.port}")
    return Sign(holds=end.dark, text=f"{'no light' if end.dark else 'light'} arrives at {end.port}")


def _find_both_dark(own: End, peer: End) -> Sign:
    if own.dark is None or peer.dark is None:
        return Sign(holds=None, text=f"whether light arrives at {own.port} and at {peer.port}")
    both = own.dark and peer.dark and not own.absent and not peer.absent
    return Sign(holds=both, text=f"{'no light' if both else 'light'} arrives at {'both ends' if both else 'one end at least'}")


def _find_flaps(seen: View, port: str) -> Sign:
    """Downs in the window, by whoever saw most."""
    told = [(quantity, source) for quantity in (DOWNED, STATE) for source in seen.sources(quantity, port)]
    tales = [hear(Tale(), seen.window(quantity, port, source), HOUR, falls=quantity == STATE) for quantity, source in told]
    heard = [tale for tale in tales if tale.value is not None]
    if not heard:
        return Sign(holds=None, text=f"how often {port} went down")
    downs = max(tale.count(-1.0) for tale in heard)
    return Sign(holds=downs >= FLAPS, text=f"{port} went down {downs:.0f} times lately" if downs else f"{port} did not go down lately")
