"""Why a ring is in trouble, and which cable or port to touch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from supernoded.plugin import Cause, Node, View
from supernoded_ring.lookout import Lookout
from supernoded_ring.naming import Finding
from supernoded_ring.picture import WATCHES, Picture, list_dark_hops
from supernoded_ring.rules import tell_moves
from supernoded_ring.verify import Report

MOST_MOVES = 20  # in one piece of advice
SEEN_WRONG = 0.95  # weight of a cable that is seen in a wrong place (ours: only the telling of neighbours can be wrong)


class RingDiagnosis:
    """Explains one ring by its links."""

    watches: Mapping[str, float] = WATCHES

    def __init__(self, lookout: Lookout, node: Node) -> None:
        self._lookout, self._node = lookout, node
        self.name = self.scope = lookout.subject

    def diagnose(self, seen: View, subject: str) -> Sequence[Cause]:
        """A cause for each thing that is wrong with the ring, the worst wiring first."""
        if subject != self.scope:
            return ()
        picture, report = self._lookout.look(seen, self.name)
        return sorted((self._explain(finding, picture, report) for finding in report.findings), key=lambda cause: -cause.weight)

    def _explain(self, finding: Finding, picture: Picture, report: Report) -> Cause:
        name = finding.kind.replace("_", " ")
        if finding.kind != "missing_hop":
            advice = tell_moves(report, MOST_MOVES)
            return Cause(name=name, subject=finding.subject, weight=SEEN_WRONG, evidence=(finding.sentence,), advice=advice, at=picture.at)
        share = self._node.limits.link.unseated_percent
        dark = [(hop, why) for hop, why in list_dark_hops(picture) if finding.subject in (hop.a, hop.sender, hop.receiver)]
        touch = f"{dark[0][0].a}, then of {dark[0][0].b}" if dark else finding.subject
        return Cause(
            name=name,
            subject=finding.subject,
            weight=share / 100.0,
            evidence=(finding.sentence, *(why for _, why in dark)),
            advice=f"Reseat the optic of {touch}: {share:g} % of ring breaks are an optic not fully seated. Then replace the cable.",
            at=picture.at,
        )
