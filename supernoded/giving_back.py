"""A device goes back to its own control: with a look, again and again until it has, and also what an earlier life has left engaged."""

from __future__ import annotations

from supernoded.errors import NotHeldError, WireError
from supernoded.model import Effect, Sight
from supernoded.parts import Handle
from supernoded.supervisor import bounded

HAND_BACK_TIMEOUT = 4.0  # seconds; a clean stop has 5


class GivingBack:
    """What is owed of one handle, and how the last try ended."""

    def __init__(self, handle: Handle, scope: str) -> None:
        self._handle, self._scope = handle, scope
        self.owed: bool | None = None  # it is to be handed back yet; None = what an earlier life has left is not known
        self.last_word = ""  # how the last try ended

    async def look(self) -> bool:
        """Whether it is owed. Nothing is written; what cannot be read now is looked at the next time."""
        if self.owed is None:
            try:
                self.owed = await bounded(_is_left(self._handle), HAND_BACK_TIMEOUT, f"what stands of {self._handle.target}")
            except WireError:
                return False
        return self.owed

    async def give(self) -> None:
        """Hand it back. One that does not show it, or could not be told, is owed yet; where the pen is not ours any more, nothing is."""
        try:
            sight = await bounded(_hand_back(self._handle, self._scope), HAND_BACK_TIMEOUT, f"handing back {self._handle.target}")
        except NotHeldError as error:
            self.owed, self.last_word = False, f"not handed back, and its next holder takes it: {error}"
        except WireError as error:
            self.owed, self.last_word = True, f"not handed back, and tried again until it is: {error}"
        else:
            self.owed, self.last_word = sight.effect is Effect.ABSENT, _tell(sight)


def _tell(sight: Sight) -> str:
    if sight.effect is Effect.PRESENT:
        return f"handed back, and the device shows it: {sight.text}".removesuffix(": ")
    return f"handed back, but the device does not show it ({sight.effect.value}): {sight.text}"


async def _hand_back(handle: Handle, scope: str) -> Sight:
    return await handle.hand_back(scope)


async def _is_left(handle: Handle) -> bool:
    ask = getattr(handle, "is_left", None)
    return ask is not None and bool(await ask())
