"""The way back of every card that a case keeps out: a test, probation, and only then the hold is lifted, by its owner. Pure.

A hold of ours does not end by itself: one that ran out would put a card in service that nobody has tested. Its exit is the test.
"""

from __future__ import annotations

from collections.abc import Sequence

from supernoded.plugin import CardFacts, CardState, Deed, World, find_card_state, may_be_released
from supernoded_isolation.evidence.card_views import is_well, look_at_card
from supernoded_isolation.saga.cause import find_elsewhere, has_recovered
from supernoded_isolation.saga.node_back import bring_node_back
from supernoded_isolation.saga.place import find_rank_on, find_serial, list_holds, list_others, list_ours, read_place
from supernoded_isolation.saga.stage import DIGITS, TRIES, Order, Scene, Steps, find_deeds, is_resting, make_step, name_try, notify
from supernoded_isolation.saga.waiting import tell_hindered

TESTS = 2  # of one serial number that may come to nothing; then a person decides (ours)
MARK = "="  # between card and serial number in a step's name


def list_out(deeds: Sequence[Deed]) -> list[str]:
    """The cards that this case has taken out, of all rounds, and not seen let go since."""
    out: dict[str, None] = {}
    for deed in deeds:
        card = read_place(deed.target).card
        if deed.verb.rstrip(DIGITS) in {"hold", "keep"} and deed.sent:
            out[card] = None
        elif deed.verb.startswith("unhold") and deed.done:
            out.pop(card, None)
    return list(out)


def list_held(scene_deeds: Sequence[Deed], world: World) -> list[str]:
    """Those of them that a hold of ours still keeps out: a person may have lifted it."""
    return [card for card in list_out(scene_deeds) if list_ours(world, card)]


def bring_back(scene: Scene) -> Steps:
    """The next steps for each card that is out."""
    return tuple(step for card in find_unfinished(scene.record.deeds, scene.world) for step in _bring(scene, card))


def find_unfinished(deeds: Sequence[Deed], world: World) -> list[str]:
    """Cards that are held by us, and those that were let go and are still to be given back to whoever uses them."""
    fenced = {deed.target for deed in deeds if deed.verb in ("fence", "fence2") and deed.sent}
    ended = {deed.target for deed in deeds if deed.verb in ("release", "release2") and deed.done}
    told = {
        deed.target.removeprefix("release-") for deed in deeds if deed.verb == "tell" and deed.target.startswith("release-") and deed.done
    }
    let_go = [deed.target for deed in deeds if deed.verb in ("unhold", "unhold2") and deed.done and deed.target in fenced]
    open_ = [card for card in dict.fromkeys(let_go) if card not in ended | told and not list_holds(world, card)]
    return [*list_held(deeds, world), *(card for card in open_ if card not in list_held(deeds, world))]


def _bring(scene: Scene, card: str) -> Steps:
    if "/" not in card:
        return bring_node_back(scene, card)
    if not list_ours(scene.world, card):
        return _release(scene, card)
    serial = find_serial(scene.seen, scene.world, card)
    facts = read_facts(scene, card, serial)
    state = find_card_state(facts)
    if facts.passed and _is_ill(scene, card, serial):
        return _tell_lapse(scene, card, serial)
    if may_be_released(facts):
        return _let_go(scene, card)
    if state is CardState.ISOLATED and not facts.suspect and not facts.works and facts.ours:
        return _test(scene, card, serial)
    return _remind(scene, card, state)


def read_facts(scene: Scene, card: str, serial: str) -> CardFacts:
    """Of a card that is out."""
    seen, tests = scene.seen, _find_tests(scene, card, serial)
    well = is_well(seen, card, scene.table, 0.0)
    answers = any(seen.number("card.present", card, source) == 1.0 for source in seen.sources("card.present", card))
    passed = next((deed.outcome for deed in reversed(tests) if deed.done and not _lapsed(scene, deed)), None)
    elsewhere = find_elsewhere(scene, card)
    withdrawn = bool(elsewhere) or (card == scene.place.card and has_recovered(scene))
    return CardFacts(
        present=answers,
        suspect=not well or (scene.case.still_raised and card == scene.place.card and not elsewhere),
        held=True,
        ours=not list_others(scene.world, card),
        fenced=card != scene.place.card or bool(find_deeds(scene.record, "fence")) or (_has_ended(scene) and not withdrawn),
        withdrawn=withdrawn,
        testing=any(deed.outcome is None for deed in tests),
        passed=passed is not None,
        served=passed is not None and (bool(elsewhere) or scene.now - passed.at >= scene.settings.probation_s),
        works=answers and bool(find_rank_on(seen, card)),  # a look at every rank, which a card that is absent need not cost
    )


def _has_ended(scene: Scene) -> bool:
    """Whether people were told how it ended: nothing will be fenced any more."""
    return any(scene.record.name("tell", how) in scene.case.done for how in ("done", "stopped"))


def _find_tests(scene: Scene, card: str, serial: str) -> list[Deed]:
    return [deed for deed in find_deeds(scene.record, "back") if deed.target == _name(card, serial)]


def _lapsed(scene: Scene, test: Deed) -> bool:
    """Whether it came into trouble again after that test."""
    return any(deed.target == test.target and deed.verb == f"lapse{test.verb}" for deed in find_deeds(scene.record, "lapseback"))


def _is_ill(scene: Scene, card: str, serial: str) -> bool:
    """Whether something speaks against it that was seen after its test; that nothing is seen at all is nobody's lapse."""
    passed = [deed.outcome.at for deed in _find_tests(scene, card, serial) if deed.done and deed.outcome is not None]
    found = look_at_card(scene.seen, card, scene.world.topology, scene.table, settled=True)
    return any(one.at > max(passed, default=0.0) for one in found)


def _tell_lapse(scene: Scene, card: str, serial: str) -> Steps:
    """What is said is what a later life reads it from."""
    test = next(deed for deed in reversed(_find_tests(scene, card, serial)) if deed.done and not _lapsed(scene, deed))
    reason = f"{card} passed its test and came into trouble again on probation: it stays out, and has to pass another."
    order = Order(f"lapse{test.verb}", "notify", card, reason, 10.0, key=test.target)
    return (make_step(scene, order, order.verb),)


def _test(scene: Scene, card: str, serial: str) -> Steps:
    """Of the card that is in the slot now: another serial number has its own tries."""
    tests = _find_tests(scene, card, serial)
    if tests and tests[-1].hindered and is_resting(tests, scene.now):
        return tell_hindered(scene, tests[-1:], f"{card} stays out, as it cannot be tested")
    if _is_too_soon(scene, card, serial):
        return ()
    tried = sum(not deed.hindered for deed in tests)
    if tried >= TESTS:
        name = f"{card} (serial {serial})" if serial else card
        reason = f"{name} has not passed {tried} tests: it stays out until a person releases or replaces it."
        return notify(scene, f"untested-{_name(card, serial)}", reason)
    order = Order(
        name_try("back", len(tests) + 1),
        "card.test",
        card,
        "it answers and nothing speaks against it: before it is a spare it has to pass a test",
        scene.settings.test_s,
        key=_name(card, serial),
        details={"serial": serial},
    )
    return (make_step(scene, order, order.verb),)


def _is_too_soon(scene: Scene, card: str, serial: str) -> bool:
    """Whether this very card has failed a test lately: nothing shows that anybody has repaired it since."""
    is_other = any(hold.serial and serial and hold.serial != serial for hold in list_ours(scene.world, card))
    as_spare = [] if is_other else [deed for deed in find_deeds(scene.record, "test") if deed.target == card]
    failed = [
        deed.outcome.at
        for deed in (*as_spare, *_find_tests(scene, card, serial))
        if deed.outcome is not None and not (deed.done or deed.hindered)
    ]
    return bool(failed) and scene.now - max(failed) < scene.settings.retest_s


def _let_go(scene: Scene, card: str) -> Steps:
    """One at a time of each card; what comes to nothing is a person's."""
    order = Order("unhold", "card.unhold", card, "it has passed its test and its probation", scene.settings.hold_s)
    deeds = [deed for deed in find_deeds(scene.record, "unhold") if deed.target == card]
    return _ask(scene, order, deeds)


def _release(scene: Scene, card: str) -> Steps:
    order = Order("release", "card.release", card, "no hold stands any more: give it back", scene.settings.order_s)
    return _ask(scene, order, [deed for deed in find_deeds(scene.record, "release") if deed.target == card])


def _ask(scene: Scene, order: Order, deeds: Sequence[Deed]) -> Steps:
    if any(deed.outcome is None or deed.done for deed in deeds):
        return ()
    if len(deeds) < TRIES:
        return (make_step(scene, order, name_try(order.verb, len(deeds) + 1)),)
    outcome = deeds[-1].outcome
    return notify(
        scene,
        f"{order.verb}-{order.target}",
        f"{order.kind} on {order.target} came to nothing: {outcome.text if outcome else ''}. Do it by hand.",
    )


def _remind(scene: Scene, card: str, state: CardState) -> Steps:
    """People are told again of a card that has been out for long."""
    placed = min((hold.placed for hold in list_ours(scene.world, card)), default=scene.now)
    weeks = int((scene.now - placed) // scene.settings.remind_s)
    if weeks < 1 or state is CardState.PROBATION:
        return ()
    days = (scene.now - placed) / 86_400
    text = f"{card} has been out of service for {days:.0f} days and is {state.value}: repair or replace it, or release it by hand."
    return notify(scene, f"out{weeks}-{card}", text)


def _name(card: str, serial: str) -> str:
    return f"{card}{MARK}{serial[:64]}"
