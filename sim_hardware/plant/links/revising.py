"""A state under revision: what changes at one moment, and what follows from it for links, rings and switches."""

from __future__ import annotations

import math
from collections.abc import Iterable

from msgspec.structs import replace

from sim_hardware.plant.chance import draw
from sim_hardware.plant.links.hops import rate_ring
from sim_hardware.plant.links.judging import UNSTEADY, draw_pause, find_width, is_dark, is_degraded, judge_light, judge_up, name_physical
from sim_hardware.plant.links.ports import DEGRADED, Faults, Port, find_soon, note_change
from sim_hardware.plant.links.rings import SAR_RING, RingState, trace_ring, trace_uplinks
from sim_hardware.plant.links.state import State, average_moved
from sim_hardware.plant.links.switches import Switching, rate_queue, settle_switch, share_queue
from sim_hardware.plant.links.tallying import settle
from sim_hardware.plant.words import Happening


class Revision:
    """A copy of a state at its own time that may be changed; `finish` makes a state of it again."""

    def __init__(self, state: State) -> None:
        self._before, self.site, self.at = state, state.site, state.at
        self.ports, self.peers, self.plugs = list(state.ports), list(state.peers), list(state.plugs)
        self.radii, self.slow, self.switches = list(state.radii), list(state.slow), list(state.switches)
        self.dark, self.hot, self.moved = state.dark, state.hot, state.moved
        self.busy = dict(state.busy)
        self.happened: list[Happening] = []
        self._touched: dict[str, None] = {}  # owners of what was judged anew, in their order

    def tell(self, kind: str, subject: str, text: str, value: float | None = None) -> None:
        """Note that something happened."""
        self.happened.append(Happening(self.at, kind, subject, text, value))

    def edit(self, number: int, faults: Faults) -> None:
        """Do something to a port, and see what follows."""
        self.pause((number,))
        self.ports[number] = replace(self.ports[number], faults=faults)
        self.refresh((number,))

    def pause(self, numbers: Iterable[int]) -> list[int]:
        """Count what ports and their peers have counted until now, before something changes for them."""
        both = list(dict.fromkeys(end for number in numbers for end in (number, self.peers[number]) if end >= 0))
        for number in both:
            self.ports[number] = settle(self.ports[number], self._moved(number), self.at)
        return both

    def refresh(self, numbers: Iterable[int]) -> None:
        """Judge ports and their peers anew."""
        both = self.pause(numbers)
        for number in both:
            self._see(number)
        for number in both:
            self._connect(number)
        self.touch(both)

    def darken(self, dark: frozenset[str]) -> None:
        """Power went or came: what lost it forgets its counters."""
        changed = [owner for owner in self.site.owned if (owner in dark) != (owner in self.dark)]
        numbers = [number for owner in changed for number in self.site.owned[owner]]
        self.pause(numbers)
        self.dark = dark
        self._turn_switches()
        self.refresh(numbers)
        for number in numbers:
            if is_dark(self, number):
                self.clear(number)

    def clear(self, number: int) -> None:
        """A port's counters begin again at zero."""
        port = self.ports[number]
        fresh = replace(type(port.tally)(), since=self.at, moved=self._moved(number), ups=int(port.up), epoch=port.tally.epoch + 1)
        self.ports[number] = replace(port, tally=fresh)

    def touch(self, numbers: Iterable[int]) -> None:
        """The rings of these ports may run otherwise now."""
        self._touched.update(dict.fromkeys(self.site.places[number].owners[-1] for number in numbers))

    def turn_switch(self, number: int, switch: Switching) -> None:
        """A switch's settings, load or power are others from now on."""
        before = self.switches[number]
        settled = settle_switch(before, self.at)
        self.switches[number] = replace(switch, since=self.at, expected=settled.expected)
        subject = self.site.switches[number]
        self.refresh(self.site.owned[subject])
        dropped, drops = rate_queue(before)[0], rate_queue(switch)[0]
        if drops and not dropped:
            self.tell("switch.dropping", subject, f"{subject} drops {drops:.0f} frames a second, and marks none of them", drops)
        if dropped and not drops:
            self.tell("switch.kept", subject, f"{subject} drops nothing any more")

    def finish(self) -> State:
        """The state, with the rings as the links now are."""
        touched = list(dict.fromkeys(ring for owner in self._touched for ring in self.site.rings_of.get(owner, ())))
        rings, factors = list(self._before.rings), list(self._before.factors)
        for ring in touched:
            trace = trace_ring if self.site.is_wired(ring) else trace_uplinks
            rings[ring] = trace(self.site.rings[ring].order, self._across)
            self._tell_ring(f"ring/{self.site.rings[ring].name}", self._before.rings[ring], rings[ring])
        state = replace(
            self._before,
            ports=tuple(self.ports),
            peers=tuple(self.peers),
            plugs=tuple(self.plugs),
            radii=tuple(self.radii),
            slow=tuple(self.slow),
            switches=tuple(self.switches),
            rings=tuple(rings),
            hot=self.hot,
            dark=self.dark,
            busy=self.busy,
            next_time=min(self.busy.values(), default=math.inf),
            happened=(*self._before.happened, *self.happened),
        )
        for ring in touched:
            factors[ring] = rate_ring(state, ring)
        return replace(state, factors=tuple(factors))

    def _moved(self, number: int) -> float:
        return average_moved(self.site, self.moved, number, self.peers[number])

    def _turn_switches(self) -> None:
        for number, switch in enumerate(self.switches):
            dark = self.site.switches[number] in self.dark
            if dark != switch.dark:
                self.turn_switch(number, replace(switch, dark=dark))

    def _see(self, number: int) -> None:
        """What a port receives now, how its queue is, and whether it is steady."""
        port, place, peer = self.ports[number], self.site.places[number], self.peers[number]
        crowd = port.crowd if place.switch < 0 and peer < 0 else self._crowd(number)
        port = replace(port, light=judge_light(self, number), crowd=crowd, width=find_width(self, number))
        unsteady = port.faults.loose or find_soon(port, self.at) >= UNSTEADY
        if not unsteady:
            port = replace(port, dropped=False, drop_due=math.inf)
        elif port.drop_due <= self.at or port.drop_due == math.inf:
            port = self._drop(port)
        self.ports[number] = port

    def _drop(self, port: Port) -> Port:
        """An unsteady link drops for a while, or comes back; at first it holds."""
        dropped = port.drop_due <= self.at and not port.dropped
        chance, level = draw(port.chance)
        return replace(port, dropped=dropped, drop_due=self.at + draw_pause(level, dropped=dropped), chance=chance)

    def _crowd(self, number: int) -> tuple[float, float, float, float]:
        place, peer = self.site.places[number], self.peers[number]
        if place.switch >= 0:
            drops, _, pauses = share_queue(self.switches[place.switch])
            return drops, 0.0, 0.0, pauses
        switch = self.site.places[peer].switch
        _, marks, pauses = share_queue(self.switches[switch]) if switch >= 0 else (0.0, 0.0, 0.0)
        return 0.0, marks, pauses, 0.0

    def _connect(self, number: int) -> None:
        """Whether the link is up, and what is due of it."""
        before, place = self.ports[number], self.site.places[number]
        up, trained = judge_up(self, number), before.tally.downs > 0
        tally = before.tally if up == before.up else note_change(before.tally, self.at, up=up, trained=trained)
        after = find_soon(before, self.at)
        degraded = is_degraded(before, after, up=up)
        physical = name_physical(self, number, up=up)
        self.ports[number] = replace(before, up=up, physical=physical, tally=tally, degraded=degraded)
        if up != before.up:
            self.tell("link.up" if up else "link.down", place.subject, f"the link of {place.subject} is {'up' if up else 'down'}")
        if degraded != before.degraded:
            kind = "link.degraded" if degraded else "link.restored"
            self.tell(kind, place.subject, f"{place.subject} receives with a bit error rate of {after:.2g} (limit {DEGRADED:g})", after)
        self._plan(number)

    def _plan(self, number: int) -> None:
        port = self.ports[number]
        due = port.drop_due
        if port.faults.flapping:
            due = min(due, port.faults.flapping.due)
        if port.faults.override and port.faults.override.after.end > self.at:
            ramp = port.faults.override.after
            due = min(due, ramp.end, ramp.find_crossing(DEGRADED, self.at), ramp.find_crossing(UNSTEADY, self.at))
        if due < math.inf:
            self.busy[number] = due
        else:
            self.busy.pop(number, None)

    def _across(self, subject: str) -> str:
        number = self.site.ports.get(subject, -1)
        return self.site.places[self.peers[number]].subject if number >= 0 and self.ports[number].up else ""

    def _tell_ring(self, subject: str, before: RingState, after: RingState) -> None:
        if before.mode == after.mode:
            return
        closed = after.mode == SAR_RING
        where = "" if closed else f" at {after.broken_at}"
        if closed != (before.mode == SAR_RING):
            kind = "ring.closed" if closed else "ring.broken"
            self.tell(kind, subject, f"{subject} is {'closed' if closed else 'broken'}{where}")
        self.tell("ring.mode_changed", subject, f"{subject} ran as {before.mode} and runs as {after.mode}")
