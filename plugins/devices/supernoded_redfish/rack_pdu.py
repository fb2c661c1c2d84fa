"""A rack PDU that speaks Redfish: where it is in its service, its outlets by their numbers, and how each is switched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from supernoded.plugin import Http, OutletSight, WireError
from supernoded_redfish.outlet_words import PARAMETER, Command, is_locked, look_at, read_command, read_states
from supernoded_redfish.paths import ROOT, find_number, list_members, name_last, place, read_link

WITHIN = 2.0  # seconds for one answer (ours)
COLLECTION = f"{ROOT}/PowerEquipment/RackPDUs"
Body = Mapping[str, object]
NOTHING: Body = {}


class RackPdu:
    """See `supernoded.plugin.Outlets`. Where things are is looked for once, and again after something was not there."""

    def __init__(self, pdu: str, http: Http, path: str, names: Mapping[str, int]) -> None:
        self.pdu, self._http, self._path, self._names = pdu, http, place(path), names
        self._found: str = ""
        self._outlets: dict[int, str] = {}

    async def read_outlets(self, numbers: Sequence[int] = ()) -> Mapping[int, Body]:
        """These outlets, none named = all, as they show themselves. Raises WireError."""
        try:
            known = await self._list_outlets()
            return {number: await self._get(known[number]) for number in numbers or sorted(known) if number in known}
        except WireError:
            self.forget()
            raise

    async def read_whole(self) -> tuple[Body, Body, Body]:
        """The PDU, its metrics, and its first mains circuit; of the latter two nothing where it has none. Raises WireError."""
        try:
            pdu = await self._get(await self._find())
            metrics = await self._follow(read_link(pdu.get("Metrics")))
            circuits = list_members(await self._follow(read_link(pdu.get("Mains"))))
            return pdu, metrics, await self._follow(circuits[0] if circuits else "")
        except WireError:
            self.forget()
            raise

    async def look(self, numbers: Sequence[int]) -> Mapping[int, OutletSight]:
        """See `Outlets.look`."""
        return {number: look_at(body) for number, body in (await self.read_outlets(numbers)).items()}

    async def switch(self, scope: str, number: int, *, on: bool) -> None:
        """See `Outlets.switch`: by the target and with a value that the outlet itself names; refused where it is locked (safety rule 8)."""
        outlet = (await self.read_outlets((number,))).get(number)
        if outlet is None:
            raise WireError(f"{self.pdu}: no outlet {number}; its outlets are {', '.join(map(str, sorted(self._outlets))) or 'none'}")
        if is_locked(outlet):
            raise WireError(f"{self.pdu}: outlet {number} is locked and stays as it is; nothing was sent, unlock it at the PDU")
        command, wanted = read_command(outlet), "On" if on else "Off"
        if command is None:
            raise WireError(f"{self.pdu}: outlet {number} names no target of #Outlet.PowerControl and cannot be switched")
        states = await self._list_states(command)
        if states and wanted not in states:
            raise WireError(f"{self.pdu}: outlet {number} takes {', '.join(states)}, and not {wanted}; nothing was sent")
        await self._http.order(scope, "POST", place(command.target), {PARAMETER: wanted}, WITHIN)

    def forget(self) -> None:
        """Look for everything anew."""
        self._found, self._outlets = "", {}

    async def _list_states(self, command: Command) -> tuple[str, ...]:
        return command.states or (read_states(await self._get(command.info)) if command.info else ())

    async def _find(self) -> str:
        """The path of the PDU: as it was given, else the only one of its service. Raises WireError."""
        if not self._found:
            self._found = self._path or await self._find_only()
        return self._found

    async def _find_only(self) -> str:
        members = list_members(await self._get(COLLECTION))
        if len(members) != 1:
            raise WireError(
                f"{self.pdu}: {COLLECTION} has {', '.join(members) or 'no PDU'}; write the path of the one that is meant behind its host"
            )
        return members[0]

    async def _list_outlets(self) -> Mapping[int, str]:
        """Paths by number. Raises WireError when two have the same one."""
        if not self._outlets:
            link = read_link((await self._get(await self._find())).get("Outlets"))
            found: dict[int, str] = {}
            for path in list_members(await self._follow(link)):
                identity = name_last(path)
                number = self._names.get(identity, find_number(identity))
                if number in found:
                    raise WireError(
                        f"{self.pdu}: {name_last(found[number])} and {identity} are both outlet {number}; name them under `outlets`"
                    )
                if number is not None:
                    found[number] = path
            self._outlets = found
        return self._outlets

    async def _follow(self, link: str) -> Body:
        return await self._get(link) if link else NOTHING

    async def _get(self, path: str) -> Body:
        return await self._http.get(place(path), WITHIN)
