"""What can be wrong with a link, how likely each sign is where it is, and what to do about it.

Weights are prior times likelihoods, each sign taken by itself (naive Bayes), and add up to one. The prior of an unseated optic is L6;
how the rest is shared out, and every likelihood, is ours: coarse numbers, so that one clear sign outweighs the prior and a vague one
does not.
A congested link has no bit errors, so congestion is no cause here.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

ELSEWHERE = 0.05  # likelihood of a sign that a cause does not make, ours
CAREFUL = "with the port off at both ends, never looking into a fibre (Q26)"


class Kind(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of cause, seen from the port that is in trouble."""

    name: str
    place: str  # what to touch: own, peer or cable
    prior: float  # of what the optics leave over, or of the share of L6
    signs: Mapping[str, float]  # likelihood of each sign; of those not named, `ELSEWHERE`
    advice: str  # one sentence, with {place}, {other}, {cable}, {radius}
    part: str = "optic"  # what a replacement order asks for


UNSEATED = "unseated optic"
_ONE_WAY = {"rx": 0.95, "dark": 0.2, "snr": 0.6, "flaps": 0.3}

SEATS = (  # share the prior of L6; the document names the port that is reported
    Kind(
        name=UNSEATED,
        place="own",
        prior=17 / 18,
        signs={"seat": 0.97, "rx": 0.9, "peer rx": 0.5, "flaps": 0.6, "snr": 0.5, "dark": 0.5, "both dark": 0.1},
        advice="Reseat the optic of {place}.",
    ),
    Kind(
        name=UNSEATED,
        place="peer",
        prior=1 / 18,
        signs={"peer seat": 0.97, "rx": 0.6, "peer rx": 0.9, "flaps": 0.6, "snr": 0.5, "dark": 0.5, "both dark": 0.1},
        advice="Reseat the optic of {place}.",
    ),
)
OTHERS = (  # share what is left
    Kind(
        name="bent fibre",
        place="cable",
        prior=0.30,
        signs={"rx": 0.9, "peer rx": 0.9, "flaps": 0.9, "snr": 0.5},
        advice=(f"Look along {{cable}} for a bend below {{radius:g}} mm (L7), with a visual fault locator (L8), {CAREFUL}."),
        part="cable",
    ),
    Kind(
        name="dirty end",
        place="own",
        prior=0.20,
        signs={"rx": 0.95, "snr": 0.8, "flaps": 0.1, "dark": 0.01},
        advice=f"Clean the connector at {{place}} and look at it with a fibre microscope, {CAREFUL}.",
    ),
    Kind(
        name="dying laser",
        place="own",
        prior=0.12,
        signs={"laser": 0.95, "peer rx": 0.9, "flaps": 0.3, "snr": 0.1, "heat": 0.1},
        advice="Replace the optic of {place}.",
    ),
    Kind(
        name="peer's transmitter",
        place="peer",
        prior=0.12,
        signs={**_ONE_WAY, "peer laser": 0.95},
        advice="Replace the optic of {place}, which sends too little, not that of {other}.",
    ),
    Kind(
        name="heat",
        place="own",
        prior=0.10,
        signs={"heat": 0.95, "rx": 0.2, "peer rx": 0.2, "laser": 0.2, "snr": 0.3, "flaps": 0.2},
        advice="Cool the module of {place} before anything is replaced, by fans, blanking plates and the air path.",
    ),
    Kind(
        name="broken or unplugged cable",
        place="cable",
        prior=0.10,
        signs={"both dark": 0.95, "dark": 0.9, "rx": 0.95, "peer rx": 0.95, "snr": 0.5, "flaps": 0.3},
        advice=f"See that {{cable}} is plugged in at both ends, then replace it, {CAREFUL}.",
        part="cable",
    ),
    Kind(
        name="port or card electronics",
        place="own",
        prior=0.06,
        signs={"rx": 0.03, "peer rx": 0.03, "laser": 0.03, "seat": 0.03, "dark": 0.03, "flaps": 0.3},
        advice="Put the optic of {place} into another port, and replace the card if the trouble stays at {place}.",
        part="card",
    ),
)


def find_likelihood(kind: Kind, sign: str) -> float:
    """How likely a sign is where this is the cause."""
    return kind.signs.get(sign, ELSEWHERE)


def find_part(name: str) -> str:
    """What a replacement order asks for."""
    return next((kind.part for kind in OTHERS if kind.name == name), "optic")
