"""Power of a node by its BMC, with what real BMCs do to those who believe an answer.

It says Off as soon as it accepts an order to switch off, while the node is still up; what is asked to switch on in that time is accepted
and dropped without a word (docs.rackn.io on power confirmation). And while it takes stock of a node that was switched on, it answers 503.
"""

from __future__ import annotations

import math
from functools import partial

from sim_hardware.devices.redfish.asking import refuse_others, take_word
from sim_hardware.devices.redfish.board import Board
from sim_hardware.devices.redfish.words import Body, Deed
from sim_hardware.plant.cards.orders import PowerNode

FORCE_S, GRACE_S = 2.0, 15.0  # from an accepted order until the node is really off (ours)
RESTART_S, CYCLE_S = 1.0, 10.0  # off in between (ours)
STOCKTAKING_S = 5.0  # of 503 after switching on (ours)
RESETS = ("On", "ForceOff", "GracefulShutdown", "ForceRestart", "PowerCycle")
_OFF_AFTER = {"ForceOff": FORCE_S, "GracefulShutdown": GRACE_S}
_AWAY_FOR = {"ForceRestart": RESTART_S, "PowerCycle": CYCLE_S}
_PROGRESS = {"on": "OSRunning", "booting": "PrimaryProcessorInitializationStarted", "off": "None"}


class Power:
    """The power of one node; `inventory` is the beginning of the paths that are busy after it was switched on."""

    def __init__(self, board: Board, node: str, inventory: str) -> None:
        self._board, self._node, self._inventory = board, node, inventory
        self._falling_until = -math.inf
        self._resets = 0

    def _is_falling(self) -> bool:
        return self._board.now() < self._falling_until

    def show(self) -> Body:
        """The power state, and how far the start has come."""
        value = self._board.read(self._node, "node.power").value
        progress = _PROGRESS.get(value) if isinstance(value, str) else None
        if self._is_falling():
            progress = "None"
        state = None if progress is None else "Off" if progress == "None" else "On"
        return {"PowerState": state, "BootProgress": {"LastState": progress}}

    def reset(self, body: Body) -> Deed:
        """The action ComputerSystem.Reset."""
        refuse_others(body, "ResetType")
        return partial(self._do, take_word(body, "ResetType", RESETS))

    def _do(self, reset: str) -> None:
        if reset == "On":
            if not self._is_falling():
                self._switch_on()
            return
        self._resets += 1
        if reset in _OFF_AFTER:
            self._fall(_OFF_AFTER[reset], self._switch_off)
        else:
            self._switch_off()
            self._fall(_AWAY_FOR[reset], self._switch_on)

    def _fall(self, seconds: float, then: Deed) -> None:
        """Say Off from now on, and do something at the end of it, unless another reset has come in between."""
        number = self._resets
        self._falling_until = self._board.now() + seconds
        self._board.later(seconds, lambda: then() if number == self._resets else None)

    def _switch_off(self) -> None:
        self._board.order(PowerNode(self._node, on=False))

    def _switch_on(self) -> None:
        self._board.order(PowerNode(self._node, on=True))
        self._board.busy[f"{self._inventory}/"] = self._board.now() + STOCKTAKING_S
