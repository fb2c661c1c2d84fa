"""Why a link is in trouble: causes ranked by what is seen at both ends of its cable."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from supernoded.plugin import NODE, Cause, View
from supernoded_link_ber.health.bounds import LIMITS
from supernoded_link_ber.health.causes import OTHERS, SEATS, UNSEATED, Kind, find_likelihood
from supernoded_link_ber.health.ports import Ports
from supernoded_link_ber.health.seeing import STATE, find_port, name_all
from supernoded_link_ber.health.signs import DOWNED, LOS, OPTICAL, PRESENT, Sign, find_signs, look

NEIGHBOUR = "link.neighbour"
CABLE = "cable/"
KNOWING = (STATE, DOWNED, PRESENT, LOS, *OPTICAL)
TELLING, UNLIKELY = 0.5, 0.1  # a sign speaks for a cause that makes it as often as that, and against one that makes it as seldom


class LinkDiagnosis:
    """Explains a port, a lane by its port, and a cable by both of its ends."""

    name, scope = "link", NODE
    watches: Mapping[str, float] = {
        **dict.fromkeys(OPTICAL, 3600.0),
        **dict.fromkeys((STATE, DOWNED), 900.0),
        **dict.fromkeys((*LIMITS, PRESENT, LOS, NEIGHBOUR), 120.0),
    }

    def __init__(self, ports: Ports, unseated_percent: float, bend_radius_mm: float) -> None:
        self._ports, self._seated, self._radius = ports, unseated_percent / 100.0, bend_radius_mm

    def diagnose(self, seen: View, subject: str) -> Sequence[Cause]:
        """The causes, the most likely first; none for what is no link."""
        if subject.startswith(CABLE):
            ends = subject.removeprefix(CABLE).split("--")
            views = [causes for end in ends if (causes := self._explain(seen, end))] if len(ends) == 2 else []
            return _merge(views)
        return self._explain(seen, find_port(subject))

    def _explain(self, seen: View, port: str) -> Sequence[Cause]:
        if not self._ports.is_declared(port) and not any(seen.sources(quantity, port) for quantity in KNOWING):
            return ()
        far = self._find_peer(seen, port)
        own, peer = look(seen, port), look(seen, far) if far else None
        signs = find_signs(seen, own, peer)
        at = min((end.at for end in (own, peer) if end is not None and end.at > 0.0), default=0.0)  # both ends are at least that new
        weights = weigh(self._seated, signs, has_peer=peer is not None)
        causes = [self._tell(kind, weight, signs, port, far, at) for kind, weight in weights]
        return sorted(causes, key=lambda cause: -cause.weight)

    def _find_peer(self, seen: View, port: str) -> str:
        """The other end of its cable, else who it says is there."""
        return self._ports.peer(port) or seen.text(NEIGHBOUR, port) or ""

    def _tell(self, kind: Kind, weight: float, signs: Mapping[str, Sign], port: str, peer: str, at: float) -> Cause:
        cable = self._ports.cable(port)
        place = {"own": port, "peer": peer, "cable": cable or port}[kind.place]
        evidence, against = _sort_signs(kind, signs)
        if kind.name == UNSEATED and kind.place == "own":
            evidence.append(f"{self._seated * 100.0:g} % of ring breaks are an optic not fully seated (L6)")
        unseen = dict.fromkeys(sign.text for name, sign in signs.items() if sign.holds is None and find_likelihood(kind, name) >= TELLING)
        if unseen:
            evidence.append(f"not seen: {name_all(unseen)}")
        other = peer if place == port else port
        advice = kind.advice.format(place=place, other=other, cable=cable or f"the cable of {port}", radius=self._radius)
        seats = {signs[name].holds for name in ("seat", "peer seat") if name in signs}
        if kind.name == UNSEATED and peer and None in seats and True not in seats:
            advice = f"Reseat the optic of {port} and of {peer}, as it cannot be seen which of them it is."
        return Cause(name=kind.name, subject=place, weight=weight, evidence=tuple(evidence), against=tuple(against), advice=advice, at=at)


def weigh(seated: float, signs: Mapping[str, Sign], *, has_peer: bool) -> list[tuple[Kind, float]]:
    """Each kind of cause and its weight, together one. `seated` = share of the prior that unseated optics have (L6)."""
    shares = [(kind, kind.prior * seated) for kind in SEATS] + [(kind, kind.prior * (1.0 - seated)) for kind in OTHERS]
    if not has_peer:
        shares = [(kind, share) for kind, share in shares if kind.place != "peer"]
    weights = [(kind, share * _multiply(kind, signs)) for kind, share in shares]
    total = sum(weight for _, weight in weights)
    return [(kind, weight / total) for kind, weight in weights]


def _multiply(kind: Kind, signs: Mapping[str, Sign]) -> float:
    product = 1.0
    for name, sign in signs.items():
        if sign.holds is not None:
            likelihood = find_likelihood(kind, name)
            product *= likelihood if sign.holds else 1.0 - likelihood
    return product


def _sort_signs(kind: Kind, signs: Mapping[str, Sign]) -> tuple[list[str], list[str]]:
    """What speaks for a cause and what against it. For one that leaves no sign in the optics, it is that there is none."""
    evidence, against = list[str](), list[str]()
    silent = not any(find_likelihood(kind, name) >= TELLING for name in signs)
    for name, sign in signs.items():
        likelihood = find_likelihood(kind, name)
        if sign.holds is None:
            continue
        if sign.holds is (likelihood >= TELLING) and (sign.holds or silent):
            evidence.append(sign.text)
        elif (sign.holds and likelihood <= UNLIKELY) or (not sign.holds and likelihood >= TELLING):
            against.append(sign.text)
    return evidence, against


def _merge(views: Iterable[Sequence[Cause]]) -> list[Cause]:
    """Both ends' explanations as one: the mean of their weights, and the words of the one that is surer."""
    several = list(views)
    found: dict[tuple[str, str], Cause] = {}
    weights: dict[tuple[str, str], float] = {}
    for cause in (cause for causes in several for cause in causes):
        key = cause.name, cause.subject
        weights[key] = weights.get(key, 0.0) + cause.weight / len(several)
        if key not in found or found[key].weight < cause.weight:
            found[key] = cause
    merged = (msgspec.structs.replace(cause, weight=weights[key]) for key, cause in found.items())
    return sorted(merged, key=lambda cause: -cause.weight)
