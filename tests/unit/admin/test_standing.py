from __future__ import annotations

import pytest

from supernoded.admin.standing import list_standing, say_standing
from supernoded.messages import Deed
from supernoded.model import Action, Outcome, Result, Step


def deed(kind: str, target: str, result: Result | None = Result.DONE, amount: float | None = None) -> Deed:
    step = Step(name=f"{kind} {target}", kind=kind, target=target, reason="because", amount=amount)
    action = Action(id=step.name, step=step, incident="i1", scope="power/site", epoch=0, issued=1.0, deadline=9.0, policy="power")
    return Deed(action=action, outcome=None if result is None else Outcome(action=action.id, result=result, text="", at=2.0))


CAP = deed("power.cap", "n0", amount=350.0)
OFF = deed("power.off", "pdu/A1/outlet2")
STOP = deed("job.stop", "job/train")


@pytest.mark.parametrize(
    ("deeds", "standing"),
    [
        ([], []),
        ([CAP], ["power.cap on n0"]),
        ([CAP, deed("power.cap", "n0")], []),
        ([CAP, deed("power.cap", "n0", Result.REFUSED)], ["power.cap on n0"]),
        ([CAP, deed("power.cap", "n1")], ["power.cap on n0"]),
        ([deed("power.cap", "n0", Result.EXPIRED, 350.0)], []),
        ([deed("power.cap", "n0", Result.UNCONFIRMED, 350.0)], ["power.cap on n0"]),
        ([deed("power.cap", "n0", None, 350.0)], ["power.cap on n0"]),
        ([STOP, OFF], ["job.stop on job/train", "power.off on pdu/A1/outlet2"]),
        ([STOP, OFF, deed("power.on", "pdu/A1/outlet2"), deed("job.resume", "job/train")], []),
        ([STOP, OFF, deed("power.on", "pdu/A1/outlet2"), OFF], ["job.stop on job/train", "power.off on pdu/A1/outlet2"]),
        ([deed("power.shed", "pdu/A1"), deed("job.checkpoint", "job/train"), deed("notify", "power/site")], []),
    ],
)
def test_what_was_done_and_not_undone(deeds: list[Deed], standing: list[str]) -> None:
    assert list_standing(deeds) == standing


def test_it_is_said_in_one_sentence_or_not_at_all() -> None:
    assert say_standing([], "power") == ""
    assert say_standing([CAP, OFF], "power").endswith("or till you undo it: power.cap on n0, power.off on pdu/A1/outlet2")
