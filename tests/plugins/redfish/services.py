"""Services in memory: pages by path, which may also be slow, refuse to be expanded, or follow what they are told."""

from __future__ import annotations

from collections.abc import Mapping

from supernoded.errors import WireError
from supernoded.testing import ManualClock, MemoryHttp, MemoryWires

URL = "https://bmc"
EXPAND = "?$expand=."


def link(path: str) -> dict[str, str]:
    return {"@odata.id": f"/{path}"}


class Service(MemoryHttp):
    """`slow` are seconds by path, for which the clock goes on; `asked` is every path that was asked for, in order."""

    def __init__(self, wires: MemoryWires, clock: ManualClock | None = None, *, expands: bool = True) -> None:
        super().__init__(URL, wires._pen)
        wires._services[URL] = self
        self.slow: dict[str, float] = {}
        self.asked: list[str] = []
        self._expands, self._clock = expands, clock

    async def get(self, path: str, within: float = 5.0) -> Mapping[str, object]:
        self.asked.append(path)
        bare = path.removesuffix(EXPAND)
        spent = min(self.slow.get(path, self.slow.get(bare, 0.0)), within)
        if spent and self._clock is not None:
            await self._clock.advance(spent)
            if spent == within:
                raise WireError(f"{URL}/{path}: no whole answer to GET within {within:g} s")
        if path == bare:
            return await super().get(path, within)
        if not self._expands:
            raise WireError(f"{URL}/{path}: 501 Not Implemented")
        page = await super().get(bare, within)
        members = page.get("Members")
        return {**page, "Members": [self._show(member) for member in members]} if isinstance(members, list) else page

    def _show(self, member: object) -> object:
        path = member.get("@odata.id") if isinstance(member, dict) else None
        page = self.answers.get(path.strip("/")) if isinstance(path, str) else None
        return {**page, "@odata.id": path} if isinstance(page, Mapping) else member

    async def order(
        self, scope: str, method: str, path: str, body: Mapping[str, object], within: float = 5.0, match: str = ""
    ) -> Mapping[str, object]:
        """Properties, and those of an excerpt, become what was told."""
        await super().order(scope, method, path, body, within, match)
        page = self.answers[path]
        assert isinstance(page, dict)
        for key, value in body.items():
            page[key] = {**page[key], **value} if isinstance(value, dict) else value
        return {}

    def put(self, path: str, **properties: object) -> str:
        """A page."""
        self.answers[path] = {"@odata.id": f"/{path}", "Id": path.rsplit("/", 1)[-1], **properties}
        return path

    def collect(self, path: str, members: Mapping[str, Mapping[str, object]]) -> dict[str, str]:
        """A collection, and the link to it."""
        self.put(path, Members=[link(f"{path}/{name}") for name in members])
        for name, properties in members.items():
            self.put(f"{path}/{name}", **properties)
        return link(path)


def sensor(kind: str, reading: object, units: str = "", at: str = "", **more: object) -> dict[str, object]:
    shown: dict[str, object] = {"ReadingType": kind, "Reading": reading, "Status": {"State": "Enabled", "Health": "OK"}, **more}
    return {**shown, **({"ReadingUnits": units} if units else {}), **({"ReadingTime": at} if at else {})}
