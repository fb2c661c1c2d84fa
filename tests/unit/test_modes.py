from __future__ import annotations

from supernoded.model import Mode, Said
from supernoded.modes import Modes


def said(policy: str, mode: Mode) -> Said:
    return Said(policy=policy, mode=mode, by="alice", at=1.0)


def test_an_operators_word_counts_before_the_settings_and_those_before_the_default() -> None:
    modes = Modes(Mode.OBSERVE, {"power": Mode.ACT, "thermal": Mode.ACT}, [said("thermal", Mode.ADVISE)])
    assert (modes.of("thermal"), modes.of("power"), modes.of("isolation")) == (Mode.ADVISE, Mode.ACT, Mode.OBSERVE)


def test_the_newest_word_stands() -> None:
    modes = Modes(Mode.ACT, {})
    modes.say(said("power", Mode.OBSERVE))
    modes.say(said("power", Mode.ACT))
    assert modes.of("power") is Mode.ACT
    assert modes.said["power"].by == "alice"
