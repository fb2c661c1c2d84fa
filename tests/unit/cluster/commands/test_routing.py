from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.cluster import topics
from supernoded.cluster.commands.directory import MISSED, MOST_JOBS, Directory
from supernoded.cluster.commands.routing import Facts, find_job, find_place
from supernoded.cluster.digests import Speaker
from supernoded.cluster.link.fabric import Message
from supernoded.cluster.topics import JobHere, JobsTold, PayloadError
from supernoded.model import Action, Reading, State, Step
from tests.unit.cluster.fakes import HandClock

NODES = ["n0", "n1", "n2"]
JOBS = {"train": Facts("n0", NODES, "n1", ["n2", "n1"]), "ours": Facts("n0", NODES, "n0", ["n0", "n1"])}


def make(kind: str, target: str) -> Action:
    step = Step(name="s", kind=kind, target=target, reason="")
    return Action(id="i/s", step=step, incident="i", scope="node", epoch=0, issued=0.0, deadline=1.0)


@pytest.mark.parametrize(
    ("kind", "target", "local", "place"),
    [
        ("card.isolate", "n1/card3", False, "n1"),
        ("card.isolate", "n0/card3", True, None),
        ("card.isolate", "n0/card3", False, None),  # nobody performs it, and it is not for another to say
        ("node.drain", "n1", True, None),  # a plugin of this node drains any
        ("node.drain", "n1", False, "n1"),
        ("outlet.off", "pdu/A1/outlet7", True, None),
        ("outlet.off", "pdu/A1/outlet7", False, None),
        ("card.isolate", "n9/card3", False, None),  # no node of the topology
        ("job.abort", "job/train", True, "n1"),
        ("job.remap", "job/train/rank7", True, "n1"),
        ("job.resume", "job/ours", True, None),
        ("job.checkpoint", "job/train", True, "n2"),
        ("job.withdraw", "job/train", True, "n2"),
        ("job.stop", "job/ours", True, None),
        ("job.checkpoint", "job/unheard", True, None),
        ("job.abort", "job/unheard", True, None),
    ],
)
def test_where_it_is_performed(kind: str, target: str, local: bool, place: str | None) -> None:
    facts = JOBS.get(find_job(target), Facts("n0", NODES))
    assert find_place(make(kind, target), facts, is_local=local) == place


@given(kind=st.text(), target=st.text(), local=st.booleans())
def test_any_target(kind: str, target: str, local: bool) -> None:
    assert find_place(make(kind, target), JOBS["train"], is_local=local) in {None, "n1", "n2"}


@pytest.mark.parametrize(("target", "job"), [("job/train", "train"), ("job/train/rank7", "train"), ("n0/card3", ""), ("job", "")])
def test_which_job_a_target_is_of(target: str, job: str) -> None:
    assert find_job(target) == job


# Who has which job ----------------------------------------------------------------------------------------------------------


class Post:
    def __init__(self, node: str = "n0") -> None:
        self.said: list[JobsTold] = []
        self.clock = HandClock()
        self.directory = Directory(Speaker(node, "c0", "life1"), self.clock, ["n0", "n1", "n2"], self._say)

    def _say(self, topic: str, payload: bytes) -> None:
        assert topic == "supernode/v1/c0/node/n0/jobs"
        self.said.append(topics.decode(payload, JobsTold))

    def note(self, *readings: Reading) -> None:
        self.directory.note(readings, 3.0)

    def hear(self, node: str, *jobs: JobHere, at: float = 1.0, topic_of: str = "") -> None:
        told = JobsTold(node=node, life="life1", at=at, jobs=jobs)
        self.directory.hear(Message(topic=topics.jobs("c0", topic_of or node), payload=topics.encode(told)))

    def launcher(self, job: str) -> str | None:
        return self.directory.find_launcher(job)

    def ranks(self, job: str) -> Sequence[str]:
        return self.directory.list_nodes(job)


def read(subject: str, quantity: str, value: Any, source: str = "job@n0") -> Reading:
    return Reading(subject=subject, quantity=quantity, value=value, unit="", at=0.0, source=source)


def test_what_is_here_is_told_when_it_changes() -> None:
    post = Post()
    for _ in range(2):
        post.note(
            read("job/train", "job.launcher", 1.0),
            read("job/train/rank8", "rank.state", "running"),
            read("job/train/rank10", "rank.state", "running"),
            read("job/train", "job.step", 7.0),
        )
    (told,) = post.said
    assert told.jobs == (JobHere(name="train", lowest=8, launcher=True),)
    assert (post.launcher("train"), post.ranks("train")) == ("n0", ["n0"])
    post.note(read("job/train", "job.launcher", 0.0))
    post.note(read("job/train", "job.ranks", 0.0))
    assert [told.jobs for told in post.said[1:]] == [(JobHere(name="train", lowest=8),), ()]


def test_what_others_tell_of_a_job_is_not_ours() -> None:
    post = Post()
    post.note(read("job/train", "job.launcher", 1.0, source="job@n1"))
    post.note(msgspec.structs.replace(read("job/train", "job.launcher", 1.0), state=State.STALE))
    post.note(read("job/train/rank3", "rank.state", "gone"), read("job/train/rankx", "rank.state", "running"))
    assert post.said == []
    assert post.launcher("train") is None


def test_what_the_others_tell() -> None:
    post = Post()
    post.hear("n1", JobHere(name="train", lowest=8))
    post.hear("n2", JobHere(name="train", lowest=0, launcher=True), JobHere(name="other", launcher=True))
    assert (post.launcher("train"), post.launcher("other")) == ("n2", "n2")
    assert list(post.ranks("train")) == ["n2", "n1"]
    assert list(post.ranks("other")) == []
    post.hear("n2")
    assert (post.launcher("train"), list(post.ranks("train"))) == (None, ["n1"])


def test_of_two_launchers_the_later_counts_and_ours_before_all() -> None:
    post = Post()
    post.hear("n2", JobHere(name="train", launcher=True), at=1.0)  # a retained copy of a node that is gone
    post.hear("n1", JobHere(name="train", launcher=True), at=2.0)
    assert post.launcher("train") == "n1"
    post.note(read("job/train", "job.launcher", 1.0))
    assert post.launcher("train") == "n0"


async def test_who_has_not_answered_comes_last_for_a_while() -> None:
    post = Post()
    post.hear("n1", JobHere(name="train", lowest=0))
    post.hear("n2", JobHere(name="train", lowest=8))
    post.directory.miss("n1")
    assert list(post.ranks("train")) == ["n2", "n1"]
    await post.clock.advance(MISSED + 1.0)
    assert list(post.ranks("train")) == ["n1", "n2"]


def test_our_own_ranks_come_first() -> None:
    post = Post()
    post.hear("n1", JobHere(name="train", lowest=0))
    post.note(read("job/train/rank8", "rank.state", "running"))
    assert list(post.ranks("train")) == ["n0", "n1"]


def test_nobody_speaks_for_another() -> None:
    post = Post()
    for node, topic_of in (("n1", "n2"), ("n9", "n9")):
        with pytest.raises(PayloadError, match=f"the jobs of {node}"):
            post.hear(node, JobHere(name="train", launcher=True), topic_of=topic_of)
    post.hear("n0", JobHere(name="train", launcher=True))  # our own, retained from an earlier life
    assert post.launcher("train") is None


@given(st.binary(max_size=200))
def test_garbage_is_no_news(data: bytes) -> None:
    post = Post()
    with pytest.raises(PayloadError):
        post.directory.hear(Message(topic=topics.jobs("c0", "n1"), payload=data))
    assert post.launcher("") is None


def test_however_many_jobs_a_node_has_its_message_is_bounded() -> None:
    post = Post()
    post.note(*(read(f"job/{'x' * 60}{i}", "job.launcher", 1.0) for i in range(3 * MOST_JOBS)))
    assert len(post.said[-1].jobs) == MOST_JOBS
    post.hear("n1", *(JobHere(name=f"job{i}", lowest=0) for i in range(3 * MOST_JOBS)))
    assert sum(list(post.ranks(f"job{i}")) == ["n1"] for i in range(3 * MOST_JOBS)) == MOST_JOBS
