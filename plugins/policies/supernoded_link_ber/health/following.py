"""What follows a notice when the trouble goes on: the port is drained, and a replacement is ordered (L10). Pure."""

from __future__ import annotations

from collections.abc import Sequence

from supernoded.plugin import Case, Incident, Mode, Ring, Severity, Step, Topology, World
from supernoded_link_ber.health.causes import find_part
from supernoded_link_ber.health.family import find_places
from supernoded_link_ber.settings import LinkBerSettings
from supernoded_link_ber.wording import join

POLICY = "link_ber"
DRAIN, ORDER, NOTIFY = "drain", "order", "notify"
LASTING = frozenset({"link.ber", "link.flapping"})  # what comes back after a reseat; a link that is down needs no draining
CABLE = "cable/"
UNKNOWN = "not known"


def find_drain(case: Case, world: World, now: float, settings: LinkBerSettings) -> Step | None:
    """The port's draining; no actuator does it yet, so in `act` it is left out unless the settings ask for it.

    Never more than one port of a ring: not where a card of it is held, nor where another incident of it or of a link in it is open, nor
    where several cables are in trouble or no ring is known.
    """
    incident, port = case.incident, _find_port(case)
    lasting = incident.kind in LASTING and incident.severity is Severity.CRITICAL and now - incident.opened >= settings.drain_after_s
    withheld = world.modes.get(POLICY) is Mode.ACT and not settings.drain
    rings = _find_rings(world.topology, port)
    if DRAIN in case.done or not lasting or withheld or not port or not rings or any(_is_hurt(ring, incident, world) for ring in rings):
        return None
    names = ", ".join(ring.name for ring in rings)
    why = f"it has gone on for {now - incident.opened:.0f} s, and nothing else of {names} is held or in trouble"
    reason = join(incident.text, (why, f"to do: drain {port} before its part is replaced (L10)"))
    return Step(name=DRAIN, kind="link.drain", target=port, reason=reason)


def find_order(case: Case, world: World, now: float, settings: LinkBerSettings) -> Step | None:
    """A drafted order for the part that the best cause names, when what was told has not cured it."""
    incident, port = case.incident, _find_port(case)
    if ORDER in case.done or incident.kind not in LASTING or now - incident.opened < settings.order_after_s or not port:
        return None
    best = case.causes[0] if case.causes else None
    part = find_part(best.name) if best is not None else "cable or optic"
    place, peer = best.subject if best is not None else port, world.topology.peer(port)
    evidence = "; ".join(best.evidence) if best is not None else incident.text
    length = next((cable.length_m for cable in world.topology.cables if port in (cable.a, cable.b)), None)
    serial = world.topology.serial(port.rpartition("/")[0]) if part == "card" else ""
    details = {
        "part": part,
        "place": place,
        "ends": ", ".join(end for end in (port, peer) if end),
        "serial": serial or UNKNOWN,
        "length_m": f"{length:g}" if length is not None else UNKNOWN,
        "evidence": evidence,
        "incident": incident.id,
    }
    size = f"{length:g} m" if length is not None else UNKNOWN
    what = f"Draft of an order (L10): 1 {part} for {place}, ends {details['ends']}, length {size}, serial number {details['serial']}"
    why = f"incident {incident.id} has not been cured in {(now - incident.opened) / 60.0:.0f} min"
    reason = join(what, (why,), (evidence,))
    return Step(name=ORDER, kind=NOTIFY, target=incident.subject, reason=reason, details=details)


def _find_port(case: Case) -> str:
    """The port to work on: of a cable the end that the best cause names; empty when several cables are in trouble."""
    incident = case.incident
    if not incident.members:
        return incident.subject
    if not incident.subject.startswith(CABLE):
        return ""
    named = (cause.subject for cause in case.causes[:1] if cause.subject in incident.members)
    return next(named, incident.members[0])


def _find_rings(topology: Topology, port: str) -> Sequence[Ring]:
    """The rings that pass through a port: those of its card, and of its node when the cable leaves it."""
    card, node = port.rpartition("/")[0], port.partition("/")[0]
    member = card if topology.peer(port).startswith(f"{node}/") else node
    return [ring for ring in topology.rings if member in ring.order or card in ring.order]


def _is_hurt(ring: Ring, incident: Incident, world: World) -> bool:
    """Whether something of it is held already, or in trouble by another incident than those of this one's own cable."""
    if any(_belongs(hold.subject, ring) for hold in world.holds):
        return True
    own = find_places(incident, world.topology)
    for other in world.incidents:
        if other.kind.startswith("ring.") and (other.subject == f"ring/{ring.name}" or _is_of(other, ring)):
            return True
        if other.kind.startswith("link.") and not find_places(other, world.topology) <= own and _is_of(other, ring, world.topology):
            return True
    return False


def _is_of(incident: Incident, ring: Ring, topology: Topology | None = None) -> bool:
    places = find_places(incident, topology) if topology is not None else (incident.subject, *incident.members)
    return any(_belongs(place, ring) for place in places)


def _belongs(subject: str, ring: Ring) -> bool:
    """Whether it is a member of the ring, a part of one, or what one is a part of."""
    return any(subject == member or member.startswith(f"{subject}/") or subject.startswith(f"{member}/") for member in ring.order)
