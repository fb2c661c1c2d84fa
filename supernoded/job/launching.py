"""What the launcher of a job is told and tells: orders, each about one start of the job (see `orders`), and the plan of its ranks."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from supernoded.errors import WireError
from supernoded.job import orders, starts
from supernoded.job.orders import Given
from supernoded.job.protocol import Acted, Order
from supernoded.job.training import Training
from supernoded.topology import format_plan, lint_plan, parse_plan

Say = Callable[[Order], bool]  # to the launcher; False when none is connected
SAME = "set SUPERNODED_PLAN for all ranks alike"


class Launching:
    """The launcher of one job."""

    def __init__(self, job: Training, cards: int = 0) -> None:
        self._job, self._cards = job, cards  # of this node; 0 = not known
        self._open: dict[str, Order] = {}  # without an answer in this life: said again to a launcher that comes back

    def stamp(self, order: str, incarnation: int = 0) -> Given:
        """The order as it was given, else as one about the start that it names, else about the present one."""
        kept = self._job.kept
        now = kept.starts.incarnation
        return orders.find(kept.orders, order) or Given(id=order, incarnation=min(incarnation, now) or now)

    def is_void(self, given: Given) -> bool:
        """Whether the job was started anew since that order."""
        return 0 < given.incarnation < self._job.kept.starts.incarnation

    def give(self, order: Order, say: Say) -> None:
        """Tell the launcher, unless it has done it or the job was started anew since. Raises WireError when it cannot be told."""
        job, given = self._job, self.stamp(order.id, order.incarnation)
        if given.ok or self._is_needless(order, given):
            return
        order = msgspec.structs.replace(order, incarnation=given.incarnation)
        if not say(order):
            raise WireError(f"job {job.name}: no launcher is connected that could {order.kind}; see docs/job.md")
        self._open[order.id] = order
        for old in list(self._open)[: -orders.MOST]:
            del self._open[old]
        told = Given(id=order.id, kind=order.kind, incarnation=given.incarnation, plan=order.plan)
        job.keep(orders=orders.give(job.kept.orders, told))

    def _is_needless(self, order: Order, given: Given) -> bool:
        if not self.is_void(given):
            return False
        if order.kind == "remap":
            raise WireError(
                f"job {self._job.name}: the order is about start {given.incarnation} of it, and start {self._job.kept.starts.incarnation} "
                "runs on the cards that it has; give a new order"
            )
        return True

    def answer(self, acted: Acted) -> None:
        """What the launcher says: it may have started the job, or placed ranks by another plan."""
        self._open.pop(acted.order, None)
        job, known = self._job, orders.find(self._job.kept.orders, acted.order)
        fields: dict[str, object] = {"orders": orders.answer(job.kept.orders, acted)}
        if acted.ok and known is not None and not known.ok:
            if known.kind == "resume":
                fields["starts"] = starts.resume(job.kept.starts, known.incarnation)
            if known.plan:
                fields |= {"plan": known.plan, "world": parse_plan(known.plan).world}
                job.ranks = {number: rank for number, rank in job.ranks.items() if rank.here}  # the others are numbered anew
        job.keep(**fields)

    def list_open(self) -> list[Order]:
        """Without an answer, the oldest first, but for those that a later start has made void."""
        now = self._job.kept.starts.incarnation
        return [order for order in self._open.values() if order.incarnation == now]

    def tell_plan(self, text: str) -> None:
        """How the ranks are grouped, as they or the launcher say. What is wrong with it is a trouble; one of another world is not taken."""
        job = self._job
        try:
            plan = parse_plan(text)
        except ValueError as error:
            job.plan_trouble = f"{error}; {SAME}"
            return
        faults = lint_plan(plan, self._cards, job.kept.world)
        job.plan_trouble = f"{' '.join(faults)} S{SAME[1:]}." if faults else ""
        if job.kept.world in {0, plan.world} and job.kept.plan != format_plan(plan):
            job.keep(plan=format_plan(plan))
