"""The resources of a service by their paths, each a function that shows it as it is now."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial

from sim_hardware.devices.redfish.words import Body, Deed, RefusalError, link

Show = Callable[[], Body]
Take = Callable[[Body], Deed]  # judges an order, and gives back what does it. Raises RefusalError


@dataclass(frozen=True)
class Resource:
    """What can be asked of one path: to show itself, and by method what it takes."""

    show: Show | None = None
    takes: Mapping[str, Take] = field(default_factory=dict)

    def list_methods(self) -> tuple[str, ...]:
        """What goes into `Allow`."""
        return (*(("GET", "HEAD") if self.show is not None else ()), *self.takes)


class Tree(dict[str, Resource]):
    """A routing table; paths have no slash at the end."""

    def add(self, path: str, kind: str, show: Show, patch: Take | None = None, name: str = "") -> None:
        """Add a resource of a schema, such as `Outlet.v1_4_0.Outlet`; its identity is put before what `show` gives."""
        identity = path.rsplit("/", 1)[1]
        head = {"@odata.id": path, "@odata.type": f"#{kind}", "Id": identity, "Name": name or identity}
        self[path] = Resource(lambda: {**head, **show()}, {} if patch is None else {"PATCH": patch})

    def collect(self, path: str, kind: str, members: Iterable[str]) -> None:
        """Add a collection of the schema's resources, by their ids."""
        links = [link(f"{path}/{member}") for member in members]
        head = {"@odata.id": path, "@odata.type": f"#{kind}Collection.{kind}Collection", "Name": path.rsplit("/", 1)[1]}
        self[path] = Resource(lambda: {**head, "Members@odata.count": len(links), "Members": links})

    def act(self, target: str, post: Take) -> None:
        """Add the target of an action."""
        self[target] = Resource(takes={"POST": partial(_take_parameters, post)})


def _take_parameters(post: Take, body: Body) -> Deed:
    """The registry has messages of their own for the parameters of an action."""
    try:
        return post(body)
    except RefusalError as error:
        raise RefusalError(error.status, error.key.replace("Property", "ActionParameter"), error.message, error.headers) from error
