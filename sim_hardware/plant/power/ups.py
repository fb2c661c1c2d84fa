"""How a UPS decides where its output comes from."""

from __future__ import annotations

import math

from msgspec.structs import replace

from sim_hardware.plant.power import figures
from sim_hardware.plant.power.battery import can_discharge, find_low_mark
from sim_hardware.plant.power.mains import is_good
from sim_hardware.plant.power.spec import UpsSpec
from sim_hardware.plant.power.state import Draft, State
from sim_hardware.plant.power.testing import settle_test
from sim_hardware.plant.power.things import DEAD, FULL, Path, Shares, Ups


def settle_upses(draft: Draft) -> None:
    """Bring every UPS to what holds at this moment."""
    for index in range(len(draft.ups)):
        _watch_input(draft, index)
        _watch_inverter(draft, index)
        settle_test(draft, index)
        _choose(draft, index)
        _watch_battery(draft, index)
        _watch_output(draft, index)


def find_output(plant: Draft | State, feed: int) -> Shares:
    """The voltage behind a feed's UPS, or of the feed itself when it has none."""
    index = plant.spec.ups_of_feed[feed]
    shares = plant.feeds[feed].shares
    if index < 0:
        return shares
    ups = plant.ups[index]
    if ups.path == "direct":
        return _boost(shares) if is_boosting(plant.spec.ups[index], ups, shares) else shares
    return DEAD if ups.path == "none" else FULL


def is_boosting(spec: UpsSpec, ups: Ups, shares: Shares) -> bool:
    """A line-interactive UPS lifts a low input that is still within its tolerance."""
    lifts = spec.build.kind == "line-interactive" and ups.mode == "normal" and ups.input_ok
    return lifts and ups.path == "direct" and min(shares) < figures.BOOST_BELOW


def _boost(shares: Shares) -> Shares:
    return (shares[0] * figures.BOOST, shares[1] * figures.BOOST, shares[2] * figures.BOOST)


def _watch_input(draft: Draft, index: int) -> None:
    """The input's edges, and the contact that follows them."""
    spec, ups = draft.spec.ups[index], draft.ups[index]
    feed = draft.feeds[spec.feed]
    good = is_good(feed.shares, feed.hertz, draft.spec.hertz)
    if good != ups.input_ok:
        ups = replace(
            ups,
            input_ok=good,
            good_since=draft.at if good else math.inf,
            bad_since=math.inf if good else draft.at,
            flag_at=draft.at + figures.FLAG_S if ups.flag == good else math.inf,
        )
    if ups.flag_at <= draft.at:
        ups = replace(ups, flag=not ups.flag, flag_at=math.inf)
        kind, word = ("ups.flagged", "raises") if ups.flag else ("ups.unflagged", "drops")
        draft.tell(kind, f"ups/{spec.name}", f"UPS {spec.name} {word} its contact, {figures.FLAG_S * 1000:.0f} ms after its input changed.")
        draft.changed = True
    draft.wake(ups.flag_at)
    draft.ups[index] = ups


def _watch_inverter(draft: Draft, index: int) -> None:
    """An inverter that was overloaded for too long stops, and may start again when it has cooled down."""
    spec, ups = draft.spec.ups[index], draft.ups[index]
    if not ups.stopped and ups.strain >= 1.0:
        draft.ups[index] = replace(ups, stopped=True)
        draft.tell("ups.inverter_stopped", f"ups/{spec.name}", f"The inverter of UPS {spec.name} stops after too long an overload.")
    elif ups.stopped and ups.strain <= 0.0:
        draft.ups[index] = replace(ups, stopped=False)


def rest_path(spec: UpsSpec, ups: Ups) -> Path:
    """Where the output comes from while all is well."""
    on_line = spec.build.kind == "online" and ups.mode == "normal"
    return "double" if on_line and not ups.stopped and "inverter" not in ups.failed else "direct"


def is_bypassed(spec: UpsSpec, ups: Ups) -> bool:
    """Whether the load hangs on the input although the UPS was not built or set so."""
    broken = ups.stopped or "inverter" in ups.failed or ups.mode == "bypass"
    return ups.path == "direct" and (broken or rest_path(spec, ups) == "double")


def _choose(draft: Draft, index: int) -> None:
    spec, ups = draft.spec.ups[index], draft.ups[index]
    path = _pick_path(draft, spec, ups)
    if path == ups.path:
        return
    draft.changed = True
    draft.ups[index] = replace(ups, path=path)
    _tell_path(draft, spec, ups, path)
    ups = draft.ups[index]
    from_input = path == "battery" and ups.test == "none"
    draft.ups[index] = replace(ups, battery_since=draft.at if from_input else math.inf)


def _pick_path(draft: Draft, spec: UpsSpec, ups: Ups) -> Path:
    if ups.mode == "off":
        return "none"
    if ups.mode == "bypass":
        return "direct"
    return _pick_good(draft, spec, ups) if ups.input_ok else _pick_bad(draft, spec, ups)


def _pick_good(draft: Draft, spec: UpsSpec, ups: Ups) -> Path:
    """With good input: back to rest, from the battery only after a while, and from nothing by way of the bypass."""
    rest, stuck = rest_path(spec, ups), "transfer" in ups.failed
    if ups.test != "none" and can_discharge(ups):
        return "battery"
    if ups.path == "double":
        return "none" if rest == "direct" and stuck else rest
    settled = ups.good_since + figures.RETRANSFER_S
    if ups.path == "none" and not stuck:
        closed = ups.good_since + figures.RECLOSE_S
        draft.wake(closed)
        return "direct" if closed <= draft.at else "none"
    if ups.path == "direct" and stuck:
        return "direct"
    if ups.path == "battery" and (not can_discharge(ups) or settled <= draft.at or math.isinf(ups.battery_since)):
        return _leave_battery(rest, ups, stuck=stuck)
    if settled <= draft.at:
        return rest if rest == "double" or not stuck else ups.path
    if ups.path != rest:
        draft.wake(settled)
    return ups.path


def _leave_battery(rest: Path, ups: Ups, *, stuck: bool) -> Path:
    if rest == "double" or not stuck:
        return rest
    return "battery" if can_discharge(ups) else "none"


def _pick_bad(draft: Draft, spec: UpsSpec, ups: Ups) -> Path:
    """With bad input: to the battery, at once from the inverter, after the transfer time from the bypass."""
    if ups.path == "none":
        return "none"
    if ups.path == "direct":
        transferred = ups.bad_since + spec.build.transfer_ms / 1000.0
        if "transfer" in ups.failed:
            return "direct"
        if draft.at < transferred:
            draft.wake(transferred)
            return "direct"
    return "battery" if can_discharge(ups) else "none"


def _tell_path(draft: Draft, spec: UpsSpec, ups: Ups, path: Path) -> None:
    subject, name = f"ups/{spec.name}", f"UPS {spec.name}"
    if path == "battery":
        if ups.test == "none":
            draft.tell("ups.on_battery", subject, f"{name} carries its load from its battery.", ups.energy)
    elif is_bypassed(spec, replace(ups, path=path)):
        draft.tell("ups.bypass", subject, f"{name} feeds its load past its converters.")
    elif path != "none" and ups.path in ("battery", "direct") and not (ups.path == "battery" and math.isinf(ups.battery_since)):
        draft.tell("ups.on_line", subject, f"{name} carries its load from its input.")


def _watch_battery(draft: Draft, index: int) -> None:
    spec, ups = draft.spec.ups[index], draft.ups[index]
    low = ups.energy <= find_low_mark(spec, ups)
    if low != ups.low:
        draft.ups[index] = replace(ups, low=low)
        if low:
            draft.tell(
                "ups.low_battery", f"ups/{spec.name}", f"The battery of UPS {spec.name} is at {figures.LOW_BATTERY:.0%}.", ups.energy
            )


def _watch_output(draft: Draft, index: int) -> None:
    """Whether loads can run on the output; the moment before a transfer does not count."""
    spec, ups = draft.spec.ups[index], draft.ups[index]
    usable = min(find_output(draft, spec.feed)) >= figures.USABLE
    waiting = ups.path == "direct" and not ups.input_ok and ups.mode != "bypass" and "transfer" not in ups.failed
    if usable == ups.output_ok or (waiting and not usable):
        return
    draft.ups[index] = replace(ups, output_ok=usable)
    if usable:
        draft.tell("ups.output_back", f"ups/{spec.name}", f"The output of UPS {spec.name} is back.")
        return
    if ups.energy <= 0.0:
        draft.tell("ups.exhausted", f"ups/{spec.name}", f"The battery of UPS {spec.name} is empty.")
    draft.tell("ups.output_lost", f"ups/{spec.name}", f"The output of UPS {spec.name} is lost.")
