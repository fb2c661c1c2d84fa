"""The job's processes over the real plant, on a clock that is moved by hand; the test is the daemon."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from sim_hardware.devices.job import Crew, Peer
from sim_hardware.plant.job.orders import FailSave, SilenceRank
from sim_hardware.rack import Rack, generate_rack
from sim_hardware.rack.shape import Sim, SimJob
from sim_hardware.world import World
from supernoded.job import protocol

LOOK = 0.25


class Stage:
    """A rack, as a rule of two nodes with two cards each, and what its processes have said."""

    def __init__(self, rack: Rack | None = None) -> None:
        self.time = 0.0
        self.world = World(rack or generate_rack(2, 2), 1, lambda: self.time)
        self.crew = Crew(self.world, lambda _: 1_000.0 + self.time)
        self.crew.present = {node.name for node in self.world.rack.nodes}
        self.said: dict[str, list[dict[str, Any]]] = {peer.name: [] for peer in self.crew.peers}
        for peer in self.crew.peers:
            self.tell(peer, {"t": "welcome", "node": peer.node})

    def tell(self, peer: Peer, message: dict[str, Any]) -> None:
        self.crew.hear(peer, json.dumps(message).encode() + b"\n")

    def find(self, name: str) -> Peer:
        return next(peer for peer in self.crew.peers if peer.name == name)

    def go(self, seconds: float) -> None:
        end = self.time + seconds
        while self.time < end:
            self.time += LOOK
            self.crew.look()
            for peer in self.crew.peers:
                self.said[peer.name] += [json.loads(line) for line in peer.take().splitlines()]

    def kinds(self, name: str) -> list[str]:
        return [message["t"] for message in self.said[name]]

    def last(self, name: str, kind: str) -> dict[str, Any]:
        return next(message for message in reversed(self.said[name]) if message["t"] == kind)


@pytest.fixture
def stage() -> Stage:
    return Stage()


def test_every_rank_stands_on_its_card_and_every_node_has_a_vault(stage: Stage) -> None:
    ranks = {peer.name: (peer.node, peer.local_rank, peer.card, peer.world) for peer in stage.crew.peers if peer.kind == "rank"}
    assert ranks["rank0"] == ("n0", 0, "n0/card0", 4)
    assert ranks["rank3"] == ("n1", 1, "n1/card1", 4)
    assert {peer.name for peer in stage.crew.peers if peer.kind != "rank"} == {"launcher", "vault-n0", "vault-n1"}


def test_what_is_said_is_what_the_daemon_understands(stage: Stage) -> None:
    stage.tell(stage.find("rank0"), {"t": "request", "id": "r1", "kind": "stop", "deadline_s": 60, "hard_s": 90})
    stage.go(60.0)
    for peer in stage.crew.peers:
        assert isinstance(protocol.decode_peer(peer.greet().strip()), protocol.Hello)
        for message in stage.said[peer.name]:
            protocol.decode_peer(json.dumps(message).encode())
    assert set(stage.kinds("rank3")) == {"beat", "alive", "agreed", "saving", "saved", "bye"}


def test_ranks_beat_with_every_step(stage: Stage) -> None:
    stage.go(20.0)
    steps = [message["step"] for message in stage.said["rank2"] if message["t"] == "beat"]
    assert len(steps) > 3
    assert steps == sorted(set(steps))


def test_one_rank_that_is_asked_is_enough_for_all_to_save_the_same_step_and_go_on(stage: Stage) -> None:
    stage.go(1.0)
    stage.tell(stage.find("rank1"), {"t": "request", "id": "r1", "kind": "checkpoint", "deadline_s": 60, "hard_s": 90})
    stage.go(60.0)
    agreed = {stage.last(f"rank{rank}", "agreed")["step"] for rank in range(4)}
    assert len(agreed) == 1
    durable = stage.last("vault-n1", "durable")
    assert (durable["step"], stage.last("rank3", "saved")["step"]) == (agreed.pop(),) * 2
    assert durable["taken"] == pytest.approx(1_000.0 + stage.time, abs=60.0)
    assert stage.world.truth("job/train", "job.state") == "running"


def test_a_request_that_is_withdrawn_before_the_ranks_agree_saves_nothing(stage: Stage) -> None:
    stage.go(1.0)
    for message in ({"t": "request", "id": "r1", "kind": "checkpoint", "deadline_s": 60, "hard_s": 90}, {"t": "withdraw", "id": "r1"}):
        stage.tell(stage.find("rank1"), message)
    stage.go(60.0)
    assert "agreed" not in stage.kinds("rank1")
    assert stage.world.truth("job/train", "job.committed_step") == 0.0


def test_a_request_that_is_withdrawn_too_late_is_performed(stage: Stage) -> None:
    stage.tell(stage.find("rank0"), {"t": "request", "id": "r1", "kind": "checkpoint", "deadline_s": 60, "hard_s": 90})
    while "agreed" not in stage.kinds("rank0"):
        stage.go(LOOK)
    stage.tell(stage.find("rank0"), {"t": "withdraw", "id": "r1"})
    stage.go(60.0)
    assert "saved" in stage.kinds("rank0")


def test_a_stop_saves_first_says_goodbye_and_a_launcher_brings_the_ranks_back(stage: Stage) -> None:
    stage.go(1.0)
    stage.tell(stage.find("rank0"), {"t": "request", "id": "r1", "kind": "stop", "deadline_s": 60, "hard_s": 90})
    stage.go(60.0)
    assert stage.world.truth("job/train", "job.state") == "stopped"
    assert stage.last("rank0", "bye")["step"] == stage.last("rank0", "saved")["step"]
    assert not stage.find("rank0").alive
    stage.tell(stage.find("launcher"), {"t": "order", "id": "o1", "kind": "resume"})
    stage.go(60.0)
    assert stage.said["launcher"] == [{"t": "acted", "order": "o1", "ok": True, "why": ""}]
    assert stage.find("rank0").alive
    assert stage.last("rank0", "beat")["step"] > stage.last("rank0", "bye")["step"]


def test_what_a_process_had_still_to_say_when_its_daemon_was_dead_is_not_said_by_the_one_in_its_place(stage: Stage) -> None:
    rank = stage.find("rank0")
    stage.tell(rank, {"t": "request", "id": "r1", "kind": "stop", "deadline_s": 60, "hard_s": 90})
    stage.go(4.0)
    rank.welcome = False  # the daemon dies before it has heard of the stop
    stage.go(60.0)
    assert not rank.alive
    stage.tell(stage.find("launcher"), {"t": "order", "id": "o1", "kind": "resume"})
    stage.go(30.0)
    stage.tell(rank, {"t": "welcome", "node": "n0"})
    stage.go(LOOK)
    assert "bye" not in stage.kinds("rank0")
    assert stage.kinds("rank0")[-1] == "beat"


def test_a_request_that_comes_while_an_older_one_is_under_way_has_its_turn_after_it(stage: Stage) -> None:
    def ask(name: str, kind: str) -> None:
        for rank in ("rank0", "rank1"):
            stage.tell(stage.find(rank), {"t": "request", "id": name, "kind": kind, "deadline_s": 60, "hard_s": 90})

    ask("r1", "checkpoint")
    while "agreed" not in stage.kinds("rank0"):
        stage.go(LOOK)
    ask("r1", "checkpoint")  # again, by a daemon that has started anew
    ask("r2", "stop")
    ask("r3", "checkpoint")
    stage.go(60.0)
    assert [message["request"] for message in stage.said["rank0"] if message["t"] == "agreed"] == ["r1", "r2"]
    assert stage.kinds("rank0")[-1] == "bye"
    assert stage.world.truth("job/train", "job.lost_steps") == 0.0


def test_a_request_that_waits_for_its_turn_can_be_withdrawn(stage: Stage) -> None:
    for name in ("r1", "r2"):
        stage.tell(stage.find("rank0"), {"t": "request", "id": name, "kind": "checkpoint", "deadline_s": 60, "hard_s": 90})
        while "agreed" not in stage.kinds("rank0"):
            stage.go(LOOK)
    stage.tell(stage.find("rank0"), {"t": "withdraw", "id": "r2"})
    stage.go(60.0)
    assert [message["request"] for message in stage.said["rank0"] if message["t"] == "agreed"] == ["r1"]


def test_a_launcher_says_why_it_could_not(stage: Stage) -> None:
    stage.tell(stage.find("launcher"), {"t": "order", "id": "o1", "kind": "resume"})
    stage.tell(stage.find("launcher"), {"t": "order", "id": "o2", "kind": "dance"})
    stage.go(LOOK)
    first, second = stage.said["launcher"]
    assert (first["ok"], "cannot resume" in first["why"]) == (False, True)
    assert (second["ok"], second["why"]) == (False, "the launcher knows no such order")


def test_a_rank_that_hangs_says_nothing_while_its_peers_wait(stage: Stage) -> None:
    stage.go(5.0)
    stage.world.order(SilenceRank("train", 2, silent=True))
    stage.go(5.0)
    told = len(stage.said["rank2"])
    stage.go(20.0)
    assert len(stage.said["rank2"]) == told
    assert stage.find("rank2").alive


def test_peers_that_wait_say_every_second_that_they_live(stage: Stage) -> None:
    stage.go(5.0)
    stage.world.order(SilenceRank("train", 2, silent=True))
    stage.go(10.0)
    told = len(stage.said["rank1"])
    stage.go(20.0)
    assert [message["t"] for message in stage.said["rank1"][told:]] == ["alive"] * 20


def test_an_order_is_obeyed_once_and_answered_on_every_connection(stage: Stage) -> None:
    stage.world.order(SilenceRank("train", 2, silent=True))
    stage.go(20.0)
    launcher = stage.find("launcher")
    for _ in range(2):
        stage.tell(launcher, {"t": "order", "id": "o1", "kind": "abort"})
        stage.go(LOOK)
    assert [message["ok"] for message in stage.said["launcher"]] == [True, True]
    hello, acted = map(protocol.decode_peer, launcher.greet().splitlines())
    assert isinstance(hello, protocol.Hello)
    assert acted == protocol.Acted(order="o1")


def test_an_abort_ends_all_processes_and_a_start_makes_others_on_their_new_cards() -> None:
    stage = Stage(generate_rack(4, 2))
    silent = stage.find("rank4")
    life = silent.life
    stage.world.order(SilenceRank("train", 4, silent=True))
    stage.go(20.0)
    launcher = stage.find("launcher")
    stage.tell(launcher, {"t": "order", "id": "o1", "kind": "abort"})
    stage.go(LOOK)
    assert not any(peer.alive for peer in stage.crew.peers if peer.kind == "rank")
    stage.tell(launcher, {"t": "order", "id": "o2", "kind": "remap", "cards": {"4": "n3/card1"}})
    stage.tell(launcher, {"t": "order", "id": "o3", "kind": "resume"})
    stage.go(LOOK)
    assert (silent.alive, silent.node, silent.card, silent.silent) == (True, "n3", "n3/card1", False)
    assert silent.life > life


def test_a_replica_is_given_up_and_the_ranks_that_are_left_come_by_their_new_numbers() -> None:
    rack = generate_rack(2, 4)
    stage = Stage(msgspec.structs.replace(rack, sim=Sim(job=SimJob(tensor=2))))
    assert stage.find("rank0").plan == stage.find("launcher").plan == "tp=2 pp=1 dp=4 ep=1"
    stage.go(5.0)
    launcher = stage.find("launcher")
    stage.tell(launcher, {"t": "order", "id": "o1", "kind": "abort"})
    stage.tell(launcher, {"t": "order", "id": "o2", "kind": "remap", "drop": [2, 3]})
    stage.tell(launcher, {"t": "order", "id": "o3", "kind": "remap", "drop": [1]})
    ranks = [peer for peer in stage.crew.peers if peer.kind == "rank"]
    assert not any(rank.alive for rank in ranks)
    stage.tell(launcher, {"t": "order", "id": "o4", "kind": "resume"})
    stage.said |= {rank.name: [] for rank in ranks}
    for rank in ranks:
        stage.tell(rank, {"t": "welcome", "node": rank.node})
    stage.go(60.0)
    assert [(message["order"], message["ok"]) for message in stage.said["launcher"]] == [
        ("o1", True),
        ("o2", True),
        ("o3", False),
        ("o4", True),
    ]
    assert [(rank.rank, rank.world, rank.card, rank.plan) for rank in ranks] == [
        (number, 6, f"n{card // 4}/card{card % 4}", "tp=2 pp=1 dp=3 ep=1") for number, card in enumerate((0, 1, 4, 5, 6, 7))
    ]
    assert all(rank.alive and "beat" in stage.kinds(rank.name) for rank in ranks)


def test_a_save_that_fails_is_told_and_the_request_is_over(stage: Stage) -> None:
    stage.world.order(FailSave("train", failed=True))
    stage.tell(stage.find("rank0"), {"t": "request", "id": "r1", "kind": "checkpoint", "deadline_s": 60, "hard_s": 90})
    stage.go(60.0)
    assert "save_failed" in stage.kinds("rank3")
    assert "durable" not in stage.kinds("vault-n0")


def test_garbage_from_a_daemon_is_dropped_and_halves_are_joined(stage: Stage) -> None:
    rank = stage.find("rank0")
    assert rank.hear(b"no json\n[1]\n\xff\n") == []
    assert rank.hear(b'{"t":"wel') == []
    assert [message["t"] for message in rank.hear(b'come"}\n')] == ["welcome"]


def test_nothing_is_sent_before_the_daemon_has_let_it_in(stage: Stage) -> None:
    rank = stage.find("rank0")
    rank.greet()
    stage.go(10.0)
    before = len(stage.said["rank0"])
    stage.tell(rank, {"t": "welcome", "node": "n0"})
    stage.go(LOOK)
    assert len(stage.said["rank0"]) > before
