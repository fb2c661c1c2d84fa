"""Actions on other nodes: asked for by their role's holder, performed by the daemon of the node that they are about."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from supernoded.clock import Clock
from supernoded.cluster.commands.commander import Commander
from supernoded.cluster.commands.words import Command, Reply, answer_to
from supernoded.errors import NotHeldError, RefusedError, UnansweredError, WireError
from supernoded.guards import Guard
from supernoded.model import NODE, Action, Effect, Sight
from supernoded.parts import Actuator
from supernoded.vetting import vet_sight

APPLY, OBSERVE = "apply", "observe"
WITHIN = 2.5  # seconds for an answer: less than the 3 s that an action gives its actuator, so that the error says what was missing


class RemoteActuator:
    """Asks the daemon of a node. `find_node` is asked each time: a job's launcher may have moved; `missed` is told who is silent."""

    kinds: frozenset[str] = frozenset()  # it is found by its route, not by these
    targets: Sequence[str] = ()

    def __init__(self, commander: Commander, find_node: Callable[[Action], str], missed: Callable[[str], None]) -> None:
        self._commander, self._find_node, self._missed = commander, find_node, missed

    async def apply(self, action: Action) -> None:
        """Have it done there. Raises RefusedError when its guards say no, another WireError when it may have been done."""
        await self._ask(APPLY, action)

    async def observe(self, action: Action) -> Sight:
        """What is seen there. Raises WireError."""
        reply = await self._ask(OBSERVE, action)
        return reply.sight or Sight(effect=Effect.UNKNOWN, text=f"{reply.node} says nothing of it")

    async def _ask(self, verb: str, action: Action) -> Reply:
        node = self._find_node(action)
        try:
            return await self._commander.ask(node, verb, action=action, scope=action.scope, epoch=action.epoch, within=WITHIN)
        except UnansweredError:
            self._missed(node)
            raise


class ActionDesk:
    """Performs here what other nodes ask for, by our own actuators and under our own guards.

    It is done in the name of this node: the pen knows nothing of the role, which has been judged when its command was taken.
    """

    def __init__(self, node: str, route: Callable[[Action], Actuator | None], guards: Sequence[Guard], clock: Clock) -> None:
        self._node, self._route, self._guards, self._clock = node, route, guards, clock
        self._under_way: set[str] = set()

    def join(self, commander: Commander) -> None:
        """Serve both verbs."""
        commander.serve(APPLY, self.apply)
        commander.serve(OBSERVE, self.observe, changes=False)

    async def apply(self, command: Command) -> Reply:
        """Do it once. Raises RefusedError, WireError."""
        action, actuator = self._take(command)
        if action.id in self._under_way:
            raise WireError(f"{action.id} is under way here already")
        now = self._clock.now()
        if refusal := next((found for guard in self._guards if (found := guard(action, now))), ""):
            raise RefusedError(refusal)
        self._under_way.add(action.id)
        try:
            await actuator.apply(action)
        except NotHeldError as error:
            raise RefusedError(str(error)) from error
        finally:
            self._under_way.discard(action.id)
        return answer_to(command)

    async def observe(self, command: Command) -> Reply:
        """Look. Raises RefusedError, WireError."""
        action, actuator = self._take(command)
        return answer_to(command, sight=vet_sight(await actuator.observe(action)))

    def _take(self, command: Command) -> tuple[Action, Actuator]:
        if command.action is None:
            raise RefusedError(f"`{command.verb}` without an action")
        action = msgspec.structs.replace(command.action, scope=NODE, epoch=0)
        actuator = self._route(action)
        if actuator is None:
            raise RefusedError(f"no actuator performs {action.step.kind} on {action.step.target} on {self._node}")
        return action, actuator
