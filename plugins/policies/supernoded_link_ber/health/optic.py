"""A module whose light, current, heat or supply is outside its own limits, that sees no light, or that is not there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from supernoded.plugin import NODE, Level, Verdict, View
from supernoded_link_ber.health.bounds import LIMITS, MEASURED, Breach, find_breaches
from supernoded_link_ber.health.ports import WATCHED, Past, Ports, remember
from supernoded_link_ber.health.seeing import STATE, is_down, list_lanes, list_numbers, list_ports, name_all

LOS, PRESENT, RX = "link.los", "link.present", "link.rx_power"
MOST_TOLD = 3  # findings of one sentence, ours


class OpticMemory(msgspec.Struct, frozen=True):
    """Port -> the names of what is outside, and the past of all."""

    breaches: dict[str, tuple[str, ...]] = {}
    past: Past = Past()


class OpticRule:
    """Raises a module that breaks its own limits. A port that nobody expects to be up may be dark."""

    kind, scope = "link.optic", NODE
    watches: Mapping[str, float] = {**dict.fromkeys((*MEASURED, *LIMITS, LOS, PRESENT, STATE), 120.0), **WATCHED}

    def __init__(self, ports: Ports) -> None:
        self._ports = ports

    def start(self) -> OpticMemory:
        """No module was ever seen."""
        return OpticMemory()

    def judge(self, seen: View, memory: OpticMemory) -> tuple[OpticMemory, Sequence[Verdict]]:
        """The level of every port with a module, or with a place for one."""
        names = list_ports(seen, LOS, PRESENT, *MEASURED)
        states = {port: any(list_numbers(seen, STATE, port).values()) for port in {*names, *list_ports(seen, STATE)}}
        past = remember(memory.past, self._ports, seen, states)
        lanes = {quantity: list_lanes(seen, quantity) for quantity in (*MEASURED, LOS)}
        breaches: dict[str, tuple[str, ...]] = {}
        verdicts: list[Verdict] = []
        for port in names:
            of_port = {quantity: ports[port] for quantity, ports in lanes.items() if port in ports}
            known = memory.breaches.get(port, ())
            outside, verdict = self._judge(seen, port, of_port, known, past)
            if outside:
                breaches[port] = outside
            verdicts.append(verdict)
        return OpticMemory(breaches, past), verdicts

    def _judge(
        self, seen: View, port: str, lanes: Mapping[str, Mapping[int, str]], known: Sequence[str], past: Past
    ) -> tuple[tuple[str, ...], Verdict]:
        found = self._find(seen, port, lanes, frozenset(known))
        own = [one for one in found if not is_down(seen, port) or not _is_about_light(one.name)]
        texts, names = [one.text for one in own or found], tuple(one.name for one in own)
        unseen: tuple[str, ...] = ()
        excuse = self._ports.find_excuse(seen, port, past.worked.get(port), past.seen_up.get(port)) or self._find_rest(seen, port, past)
        excuse = excuse or ("" if own else "not judged, the link is down, and its other end may send nothing")
        if texts and excuse:
            level, text, names, unseen = Level.UNSURE, f"{texts[0]}; {excuse}", tuple(known), (excuse,)
        elif texts:
            level, text = (
                Level.RAISED,
                "; ".join((*texts[:MOST_TOLD], *([f"and {len(texts) - MOST_TOLD} more"] if texts[MOST_TOLD:] else ()))),
            )
        elif not any(seen.good(quantity, place) for quantity in (*MEASURED, LOS) for place in (port, *lanes.get(quantity, {}).values())):
            newest = next((one for quantity in (PRESENT, *MEASURED, LOS) if (one := seen.newest(quantity, port)) is not None), None)
            note = newest.note if newest is not None and newest.note else "no reading of it is fresh"
            level, text, names, unseen = Level.UNSURE, f"its module cannot be seen: {note}", tuple(known), (f"{PRESENT}: {note}",)
        else:
            level, text = Level.CLEAR, "its module is within its own limits"
        return names, Verdict(kind=self.kind, subject=port, level=level, text=f"{port}: {text}", at=seen.now, unseen=unseen)

    def _find_rest(self, seen: View, port: str, past: Past) -> str:
        """Why nobody expects light in it; empty when somebody does."""
        if self._ports.is_switched_off(seen, port):
            return "not judged, the port is switched off"
        if self._ports.is_declared(port) or port in past.seen_up or not list_numbers(seen, STATE, port):
            return ""
        return "not judged, the link was never seen up and no cable is declared to be in it"

    def _find(self, seen: View, port: str, lanes: Mapping[str, Mapping[int, str]], known: frozenset[str]) -> list[Breach]:
        present = list_numbers(seen, PRESENT, port)
        alive = any((seen.number(quantity, port) or 0.0) > 0.0 for quantity in MEASURED)
        if present and not any(present.values()) and not alive:
            return [Breach("absent", "no module is in the cage")]
        return [*find_breaches(seen, port, lanes, known), *self._find_flags(seen, port, lanes.get(LOS, {}))]

    def _find_flags(self, seen: View, port: str, lanes: Mapping[int, str]) -> list[Breach]:
        """Loss of signal or lock, by lane where it is told by lane; lanes that report the same are named together."""
        alike: dict[frozenset[str], list[int]] = {}
        for number, lane in lanes.items():
            if flags := seen.flags(LOS, lane):
                alike.setdefault(flags, []).append(number)
        if alike:
            told = ((name_all(sorted(flags)), _name_lanes(those)) for flags, those in alike.items())
            return [Breach(f"{LOS} {flags}", f"{those} {flags}") for flags, those in told]
        whole = seen.flags(LOS, port)
        return [Breach(f"{LOS} {name_all(sorted(whole))}", f"it reports {name_all(sorted(whole))}")] if whole else []


def _name_lanes(numbers: Sequence[int]) -> str:
    if len(numbers) == 1:
        return f"lane {numbers[0]} reports"
    return f"lanes {name_all(map(str, numbers), 16)} report"


def _is_about_light(name: str) -> bool:
    """Whether it is about what arrives: over a link that is down that is the link's trouble, and often the other end's."""
    return RX in name or "rx-" in name
