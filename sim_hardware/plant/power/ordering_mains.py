"""Orders to the mains, the generator and the cords."""

from __future__ import annotations

from msgspec.structs import replace

from sim_hardware.plant.power.finding import check, find
from sim_hardware.plant.power.orders import FailGenerator, Sag, ShiftFrequency, SwapCords
from sim_hardware.plant.power.spec import PHASES, UTILITIES
from sim_hardware.plant.power.state import Draft
from sim_hardware.plant.words import Order, OrderError


def order_mains(draft: Draft, order: Order) -> bool:
    """Whether it was an order to one of these; then it is carried out. Raises OrderError."""
    match order:
        case Sag():
            _sag(draft, order)
        case ShiftFrequency():
            _shift(draft, order)
        case FailGenerator():
            _fail_generator(draft, order)
        case SwapCords():
            _swap(draft, order)
        case _:
            return False
    return True


def _sag(draft: Draft, order: Sag) -> None:
    index = find(draft.spec, "utility", order.utility)
    depth = check(f"the depth of the sag of utility {order.utility}", order.depth, 0.0, 1.0, "of the voltage")
    unknown = order.phases - set(PHASES)
    if unknown or not order.phases:
        raise OrderError(f"power: a sag on phases {sorted(order.phases)}; give some of {', '.join(PHASES)}")
    shares = tuple(1.0 - depth if phase in order.phases else 1.0 for phase in PHASES)
    before = draft.utilities[index]
    draft.utilities[index] = replace(before, shares=shares)
    subject, name = f"utility/{UTILITIES[index]}", f"Utility {UTILITIES[index]}"
    if depth > 0.0:
        draft.tell("utility.sag", subject, f"{name} loses {depth:.0%} of its voltage on {' '.join(sorted(order.phases))}.", depth)
    elif min(before.shares) < 1.0:
        draft.tell("utility.restored", subject, f"{name} has its full voltage again.")


def _shift(draft: Draft, order: ShiftFrequency) -> None:
    index = find(draft.spec, "utility", order.utility)
    nominal = draft.spec.hertz
    hertz = nominal if order.hertz is None else check(f"the frequency of utility {order.utility}", order.hertz, 0.0, 2 * nominal, "Hz")
    draft.utilities[index] = replace(draft.utilities[index], hertz=hertz)


def _fail_generator(draft: Draft, order: FailGenerator) -> None:
    if not draft.spec.generator:
        raise OrderError("power: there is no generator; a rack file gives one by sim.power.generator = true")
    draft.generator = replace(draft.generator, broken=order.failed)


def _swap(draft: Draft, order: SwapCords) -> None:
    """Cords on other feeds than the first go to where a cord on the first one is."""
    spec = draft.spec
    node = spec.nodes[find(spec, "node", order.node)]
    first = spec.first_feed.get(node.name, spec.pdus[spec.outlets[spec.cords[node.load][0]][0]].feed)
    cords = list(draft.cords)
    for load in (node.load, node.fans):
        on_first = tuple(outlet for outlet in spec.cords[load] if spec.pdus[spec.outlets[outlet][0]].feed == first)
        cords[load] = on_first if order.swapped and on_first else spec.cords[load]
    draft.cords = tuple(cords)
