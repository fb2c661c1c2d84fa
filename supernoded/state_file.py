"""What a device plugin must know again after a restart, such as what it has taken and what stood before: one file of the state folder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

import msgspec

from supernoded.errors import WireError
from supernoded.wire import Tree

R = TypeVar("R", bound=msgspec.Struct)


@dataclass(frozen=True)
class StateFile(Generic[R]):
    """A record of `kind`, whole or not there. `is_of` and `advice` say of a damaged one what it should be, and what to do about it."""

    state: Tree
    file: str  # below the state folder
    kind: type[R]
    is_of: str  # `a firing`
    advice: str  # `look at the outlets and remove it`

    async def read(self) -> R:
        """What is written; an empty record when nothing is. Raises WireError for a file that cannot be read, and for what is no record."""
        found = (await self.state.read_all([self.file])).get(self.file)
        if found is None:
            return self.kind()
        if isinstance(found, WireError):
            raise found
        try:
            return msgspec.json.decode(found.encode("utf-8", "surrogatepass"), type=self.kind)
        except (msgspec.DecodeError, UnicodeError) as error:
            raise WireError(f"{self.file} in the state folder is no record of {self.is_of} ({error}); {self.advice}") from error

    async def write(self, scope: str, record: R) -> None:
        """Asks the pen. Raises WireError, NotHeldError."""
        await self.state.order(scope, self.file, msgspec.json.encode(record).decode())
