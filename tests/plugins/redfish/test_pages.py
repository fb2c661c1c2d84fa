"""Pages in rounds: expanded where a service can, bounded always, and a slow page costs only itself."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from supernoded.errors import WireError
from supernoded.testing import ManualClock, MemoryWires
from supernoded_redfish.pages import MOST_PARTS, REST, ROUND, Pages
from tests.plugins.redfish.services import EXPAND, Service, link

SENSORS = "redfish/v1/Chassis/1/Sensors"


@pytest.fixture
def service(supernoded_wires: MemoryWires, supernoded_clock: ManualClock) -> Service:
    return make_service(supernoded_wires, supernoded_clock, expands=True)


def make_service(wires: MemoryWires, clock: ManualClock, *, expands: bool) -> Service:
    service = Service(wires, clock, expands=expands)
    service.collect(SENSORS, {name: {"Reading": number} for number, name in enumerate("abc")})
    return service


async def get_members(pages: Pages, *skip: str) -> dict[str, object]:
    pages.begin()
    found = await pages.get_members(f"/{SENSORS}", lambda path: path.rsplit("/", 1)[1] in skip)
    assert not isinstance(found, WireError), found
    return {path.rsplit("/", 1)[1]: page["Reading"] if isinstance(page, Mapping) else page for path, page in found.items()}


async def test_a_collection_comes_in_one_page(service: Service, supernoded_clock: ManualClock) -> None:
    pages = Pages(service, supernoded_clock)
    assert await get_members(pages) == {"a": 0, "b": 1, "c": 2}
    assert service.asked == [f"{SENSORS}{EXPAND}"]


@pytest.mark.parametrize("how", ["refused", "ignored"])
async def test_one_that_cannot_be_expanded_comes_one_by_one_and_is_not_asked_twice(
    supernoded_wires: MemoryWires, supernoded_clock: ManualClock, how: str
) -> None:
    service = make_service(supernoded_wires, supernoded_clock, expands=how == "ignored")
    if how == "ignored":
        service._show = lambda member: member  # type: ignore[method-assign]  # as services do that know no queries
    pages = Pages(service, supernoded_clock)
    assert await get_members(pages, "b") == {"a": 0, "b": None, "c": 2}
    service.asked.clear()
    assert await get_members(pages, "b") == {"a": 0, "b": None, "c": 2}
    assert service.asked == [SENSORS, f"{SENSORS}/a", f"{SENSORS}/c"]


async def test_a_service_that_is_away_is_not_taken_for_one_that_cannot_expand(service: Service, supernoded_clock: ManualClock) -> None:
    pages = Pages(service, supernoded_clock)
    shown = service.answers[SENSORS]
    service.answers[SENSORS] = WireError("connection refused")
    pages.begin()
    assert isinstance(await pages.get_members(SENSORS, lambda _: False), WireError)
    service.answers[SENSORS] = shown
    service.asked.clear()
    assert await get_members(pages) == {"a": 0, "b": 1, "c": 2}
    assert service.asked == [f"{SENSORS}{EXPAND}"]


async def test_a_slow_page_is_left_alone_for_a_while(supernoded_wires: MemoryWires, supernoded_clock: ManualClock) -> None:
    service = make_service(supernoded_wires, supernoded_clock, expands=False)
    pages = Pages(service, supernoded_clock)
    service.slow[f"{SENSORS}/b"] = 60.0
    for _ in range(2):
        found = await get_members(pages)
        assert "no whole answer" in str(found.pop("b"))
        assert found == {"a": 0, "c": 2}
    assert service.asked.count(f"{SENSORS}/b") == 1
    del service.slow[f"{SENSORS}/b"]
    await supernoded_clock.advance(REST)
    assert await get_members(pages) == {"a": 0, "b": 1, "c": 2}


async def test_a_round_ends(supernoded_wires: MemoryWires, supernoded_clock: ManualClock) -> None:
    service = make_service(supernoded_wires, supernoded_clock, expands=False)
    service.collect(SENSORS, {f"s{number}": {"Reading": number} for number in range(40)})
    service.slow.update({f"{SENSORS}/s{number}": 0.5 for number in range(40)})
    pages, begun = Pages(service, supernoded_clock), supernoded_clock.now()
    first, second = await get_members(pages), await get_members(pages)
    assert supernoded_clock.now() - begun <= 2 * ROUND
    read = [[name for name, reading in found.items() if reading is not None] for found in (first, second)]
    assert read[0] == [f"s{number}" for number in range(9)]  # until there is no time left to wait for an answer
    assert read[1] == [f"s{number}" for number in range(9, 18)]  # and what was left out comes first


async def test_a_collection_in_parts_is_joined_and_an_endless_one_ends(service: Service, supernoded_clock: ManualClock) -> None:
    more = f"{SENSORS}?$expand=.&$skip=3"
    service.answers[more] = {"Members": [{**link(f"{SENSORS}/d"), "Reading": 3}], "Members@odata.nextLink": f"/{more}"}
    first = service.answers[SENSORS]
    assert isinstance(first, dict)
    first["Members@odata.nextLink"] = f"/{more}"
    assert await get_members(Pages(service, supernoded_clock)) == {"a": 0, "b": 1, "c": 2, "d": 3}
    assert len(service.asked) == MOST_PARTS
