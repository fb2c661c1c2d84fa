from collections.abc import Callable

import msgspec
import pytest

from sim_hardware.plant import job
from sim_hardware.plant.job.orders import (
    AbortCollective,
    FailSave,
    HangSave,
    RemapRanks,
    RequestCheckpoint,
    ResumeJob,
    ShrinkBuffer,
    SilenceRank,
    StopJob,
    WithdrawCheckpoint,
)
from sim_hardware.plant.words import Happening, Order, OrderError, UnknownSensorError
from sim_hardware.rack import generate_rack
from sim_hardware.rack.shape import Sim, SimJob

RACK = generate_rack(4, 2)  # two nodes' worth of tensor groups would not fit: 6 ranks, and n3's cards are spares
RANKS = 6


def play(
    state: job.State, seconds: float, dead: tuple[int, ...] = (), slow: dict[int, float] | None = None, ring: float = 1.0
) -> job.State:
    """On to a time, keeping all that happened."""
    speeds = [0.0 if card in dead else (slow or {}).get(card, 1.0) for card in range(8)]
    inputs = job.Inputs(tuple(speeds), tuple(card not in dead for card in range(8)), ring)
    happened: list[Happening] = []
    end = state.at + seconds
    while state.at < end:
        state = job.update(state, min(end, state.next_time), inputs)
        happened += state.happened
    return msgspec.structs.replace(state, happened=tuple(happened))


def begin(seconds: float = 0.0) -> job.State:
    return play(job.start(RACK, 1), seconds)


def kinds(state: job.State) -> list[tuple[float, str]]:
    return [(round(news.at, 6), news.kind) for news in state.happened]


def ask(state: job.State, quantity: str, rank: int | None = None) -> object:
    return job.sense(state, "job/train" if rank is None else f"job/train/rank{rank}", quantity)


def test_steps_take_2_s_at_full_speed() -> None:
    state = begin(21.0)
    assert (ask(state, "job.step"), ask(state, "job.step_time"), ask(state, "job.state")) == (10.0, 2.0, "running")
    assert ask(state, "job.comm_share") == pytest.approx(0.061)
    assert ask(state, "job.world_size") == RANKS
    assert ask(state, "rank.card", 5) == "n2/card1"


def test_the_slowest_card_sets_the_pace_and_the_others_wait() -> None:
    state = play(begin(), 40.0, slow={1: 0.5})
    assert ask(state, "job.step_time") == pytest.approx(2 * (0.939 / 0.5 + 0.061))
    assert ask(state, "rank.step_time", 0) == pytest.approx(2.0)
    loads = job.list_loads(state)
    assert loads[1] > 0.9
    assert loads[0] < 0.7
    assert ask(state, "job.step") == 40.0 // (2 * (0.939 / 0.5 + 0.061))


def test_a_ring_that_fell_back_makes_the_collective_longer() -> None:
    state = play(begin(), 10.0, ring=6.0)
    assert ask(state, "job.step_time") == pytest.approx(2 * (0.939 + 0.366))
    assert job.list_traffic(state)[0] < job.list_traffic(begin())[0]


def test_a_requested_checkpoint_begins_at_the_end_of_the_step_and_counts_when_whole() -> None:
    state = job.apply(begin(3.0), RequestCheckpoint("train"))
    assert (kinds(state), ask(state, "job.requested")) == ([(3.0, "checkpoint.requested")], 1.0)
    state = play(state, 6.9)
    assert kinds(state) == [(4.0, "checkpoint.begun")]
    assert (ask(state, "job.state"), ask(state, "job.committed_step"), ask(state, "job.requested")) == ("saving", 0.0, 0.0)
    assert ask(state, "job.save_progress") == pytest.approx(98.33, abs=0.1)
    state = play(state, 0.1)
    assert kinds(state) == [(10.0, "checkpoint.committed")]
    assert (ask(state, "job.committed_step"), ask(state, "job.checkpoint_at"), ask(state, "job.step")) == (2.0, 10.0, 2.0)


def test_a_checkpoint_is_saved_every_600_s_by_itself() -> None:
    assert [at for at, kind in kinds(begin(1300.0)) if kind == "checkpoint.committed"] == [606.0, 1212.0]


def test_a_save_with_a_throttled_card_takes_longer() -> None:
    state = play(job.apply(begin(3.0), RequestCheckpoint("train")), 30.0, slow={0: 0.6})
    begun, committed = (at for at, kind in kinds(state) if kind.startswith("checkpoint."))
    assert committed - begun == pytest.approx(6.0 / 0.6)


def test_a_withdrawn_request_is_void_unless_the_save_has_begun() -> None:
    state = job.apply(begin(3.0), RequestCheckpoint("train"))
    withdrawn = job.apply(state, WithdrawCheckpoint("train"))
    assert [kind for _, kind in kinds(play(withdrawn, 20.0))] == []
    with pytest.raises(OrderError, match="save of step 2 has begun"):
        job.apply(play(state, 2.0), WithdrawCheckpoint("train"))


def test_power_lost_in_mid_save_leaves_no_checkpoint() -> None:
    state = play(job.apply(begin(3.0), RequestCheckpoint("train")), 6.9)
    state = play(state, 5.0, dead=(0,))
    assert kinds(state) == [(9.9, "checkpoint.failed"), (9.9, "job.lost")]
    assert (ask(state, "job.committed_step"), ask(state, "job.lost_steps"), ask(state, "job.state")) == (0.0, 2.0, "lost")
    assert set(job.list_loads(state)) == {0.0}


def test_a_lost_job_resumes_from_its_newest_whole_checkpoint() -> None:
    state = play(job.apply(begin(3.0), RequestCheckpoint("train")), 17.0)
    state = play(state, 1.0, dead=(2,))
    assert ask(state, "job.lost_steps") == 5.0
    with pytest.raises(OrderError, match="rank2: n1/card0 is dead"):
        job.apply(state, ResumeJob("train"))
    state = job.apply(job.apply(state, RemapRanks("train", {2: "n3/card0"})), ResumeJob("train"))
    assert (ask(state, "job.state"), ask(state, "job.step")) == ("restoring", 2.0)
    state = play(state, 5.0, dead=(2,))
    assert kinds(state) == [(24.0, "job.resumed")]
    assert (ask(state, "job.step"), ask(state, "rank.card", 2)) == (3.0, "n3/card0")


def test_peers_of_a_silent_rank_hang_at_the_end_of_the_step() -> None:
    state = job.apply(begin(3.0), SilenceRank("train", 4, silent=True))
    assert (kinds(state), ask(state, "job.state")) == ([(3.0, "rank.silent")], "running")
    state = play(state, 20.0)
    assert (kinds(state), ask(state, "job.state"), ask(state, "job.step")) == ([(4.0, "job.hung")], "hung", 1.0)
    assert (ask(state, "rank.state", 4), ask(state, "rank.state", 0)) == ("silent", "waiting")
    assert (ask(state, "rank.beat_at", 4), ask(state, "rank.beat_at", 0)) == (3.0, 23.0)
    assert job.list_loads(state)[0] == 0.10


def test_a_rank_that_comes_back_finishes_what_was_left_of_its_step() -> None:
    state = play(job.apply(begin(3.0), SilenceRank("train", 4, silent=True)), 20.0)
    state = job.apply(state, SilenceRank("train", 4, silent=False))
    assert [kind for _, kind in kinds(state)] == ["rank.recovered", "job.recovered"]
    assert state.next_time == pytest.approx(24.0)
    assert ask(play(state, 1.0), "job.step") == 2.0


def test_a_rank_that_comes_back_in_time_hangs_nobody() -> None:
    state = play(job.apply(begin(2.5), SilenceRank("train", 4, silent=True)), 0.5)
    state = play(job.apply(state, SilenceRank("train", 4, silent=False)), 2.0)
    assert (kinds(state), ask(state, "job.step")) == ([], 2.0)
    assert state.next_time == pytest.approx(6.5)


def test_a_hung_job_is_lost_after_the_librarys_timeout() -> None:
    state = play(job.apply(begin(3.0), SilenceRank("train", 4, silent=True)), 2000.0)
    assert kinds(state) == [(4.0, "job.hung"), (1840.0, "job.lost")]


def test_a_card_that_computes_nothing_silences_its_rank() -> None:
    state = begin(3.0)
    inputs = job.Inputs((0.0,) + (1.0,) * 7, (True,) * 8)
    state = job.update(state, 4.0, inputs)
    assert [news.kind for news in state.happened] == ["rank.silent", "job.hung"]


def test_abort_remap_and_resume_after_a_silent_card() -> None:
    state = play(job.apply(begin(3.0), SilenceRank("train", 4, silent=True)), 5.0)
    with pytest.raises(OrderError, match="abort its collective or stop it first"):
        job.apply(state, RemapRanks("train", {4: "n3/card1"}))
    state = job.apply(state, AbortCollective("train"))
    assert (kinds(state), ask(state, "job.lost_steps")) == ([(8.0, "job.aborted")], 1.0)
    state = play(job.apply(job.apply(state, RemapRanks("train", {4: "n3/card1"})), ResumeJob("train")), 5.0)
    assert (ask(state, "job.state"), ask(state, "job.step")) == ("running", 1.0)


def test_a_save_that_hangs_ends_when_it_is_freed() -> None:
    state = job.apply(job.apply(begin(3.0), HangSave("train", hung=True)), RequestCheckpoint("train"))
    state = play(state, 600.0)
    assert (ask(state, "job.state"), ask(state, "job.save_progress")) == ("saving", 99.0)
    state = play(job.apply(state, HangSave("train", hung=False)), 0.5)
    assert kinds(state) == [(603.0, "checkpoint.committed")]


def test_a_save_without_space_leaves_no_checkpoint_and_the_job_goes_on() -> None:
    state = play(job.apply(job.apply(begin(3.0), FailSave("train", failed=True)), RequestCheckpoint("train")), 9.5)
    assert kinds(state) == [(4.0, "checkpoint.begun"), (10.0, "checkpoint.failed")]
    assert (ask(state, "job.committed_step"), ask(state, "job.step")) == (0.0, 3.0)


def test_stopping_loses_what_was_not_saved_and_power_cannot_lose_it_again() -> None:
    state = play(job.apply(begin(7.0), StopJob("train")), 5.0, dead=tuple(range(8)))
    assert (ask(state, "job.state"), ask(state, "job.lost_steps"), kinds(state)) == ("stopped", 3.0, [])
    assert {ask(state, "rank.state", rank) for rank in range(RANKS)} == {"dead"}


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: RequestCheckpoint("other"), "job 'other': no such job; there is 'train'"),
        (lambda: SilenceRank("train", 6, silent=True), "rank6: no such rank; there are 0 to 5"),
        (lambda: ResumeJob("train"), "is running and cannot resume"),
        (Order, "no such job"),
    ],
)
def test_orders_that_cannot_be_say_why(make: Callable[[], Order], words: str) -> None:
    with pytest.raises(OrderError, match=words):
        job.apply(begin(), make())


@pytest.mark.parametrize(
    ("cards", "words"),
    [({0: "n0/card1"}, "two ranks on n0/card1"), ({0: "n9/card1"}, "n9/card1 is no card"), ({9: "n3/card1"}, "rank9: no such rank")],
)
def test_ranks_and_cards_stay_one_to_one(cards: dict[int, str], words: str) -> None:
    state = job.apply(begin(3.0), StopJob("train"))
    with pytest.raises(OrderError, match=words):
        job.apply(state, RemapRanks("train", cards))


def test_tensor_and_pipeline_groups_leave_whole_replicas() -> None:
    rack = generate_rack(4, 8)
    rack = msgspec.structs.replace(rack, sim=Sim(job=SimJob(tensor=8, pipeline=2)))
    state = job.start(rack, 1)
    assert (ask(state, "job.world_size"), ask(state, "job.replicas")) == (16.0, 1.0)


def begin_replicas() -> job.State:
    """Four cards on two nodes, two to a replica."""
    rack = generate_rack(2, 4)
    return job.start(msgspec.structs.replace(rack, sim=Sim(job=SimJob(tensor=2))), 1)


def test_a_whole_replica_is_given_up_and_the_others_go_on() -> None:
    state = job.apply(job.apply(begin_replicas(), SilenceRank("train", 5, silent=True)), AbortCollective("train"))
    state = job.apply(state, RemapRanks("train", {}, (2, 3)))
    assert [news.kind for news in state.happened] == ["job.replica_dropped"]
    assert (ask(state, "job.world_size"), ask(state, "job.replicas"), ask(state, "job.tensor")) == (6.0, 3.0, 2.0)
    assert [ask(state, "rank.card", rank) for rank in range(6)] == [f"n{card // 4}/card{card % 4}" for card in (0, 1, 4, 5, 6, 7)]
    assert (ask(state, "rank.state", 7), ask(state, "rank.card", 7)) == ("dropped", None)
    assert state.silent == frozenset({3})
    assert job.apply(state, SilenceRank("train", 7, silent=False)) == msgspec.structs.replace(state, happened=())
    state = play(job.apply(state, ResumeJob("train")), 60.0)
    assert ask(state, "job.state") == "running"
    assert len([load for load in job.list_loads(state) if load > 0.5]) == 6


def test_two_replicas_are_given_up_at_once() -> None:
    state = job.apply(job.apply(begin_replicas(), AbortCollective("train")), RemapRanks("train", {}, (0, 1, 4, 5)))
    assert (ask(state, "job.world_size"), ask(state, "job.replicas"), ask(state, "job.tensor")) == (4.0, 2.0, 2.0)
    assert [ask(state, "rank.card", rank) for rank in range(4)] == ["n0/card2", "n0/card3", "n1/card2", "n1/card3"]


@pytest.mark.parametrize(
    ("drop", "cards", "words"),
    [
        ((1,), {}, "no whole replica; with rank 1 go 0 to 1"),
        ((1, 2), {}, "no whole replica"),
        ((0, 1, 2), {}, "no whole replica"),
        (tuple(range(8)), {}, "its only replica"),
        ((9,), {}, "rank9: no such rank"),
        ((0, 1), {1: "n1/card3"}, "rank1: is to be given up and to be moved"),
        ((0, 1), {2: "n1/card3"}, "two ranks on n1/card3"),
    ],
)
def test_a_job_shrinks_by_whole_replicas_only(drop: tuple[int, ...], cards: dict[int, str], words: str) -> None:
    state = job.apply(begin_replicas(), AbortCollective("train"))
    with pytest.raises(OrderError, match=words):
        job.apply(state, RemapRanks("train", cards, drop))


def test_the_last_replica_stays_and_a_rank_may_take_the_card_of_one_that_goes() -> None:
    state = job.apply(begin_replicas(), AbortCollective("train"))
    for _ in range(3):
        state = job.apply(state, RemapRanks("train", {2: str(ask(state, "rank.card", 0))}, (0, 1)))
    assert (ask(state, "job.world_size"), ask(state, "rank.card", 0)) == (2.0, "n0/card0")
    with pytest.raises(OrderError, match="its only replica"):
        job.apply(state, RemapRanks("train", {}, (0, 1)))


def test_a_rack_without_a_job_has_no_sensors_and_takes_no_orders() -> None:
    rack = msgspec.structs.replace(RACK, sim=msgspec.structs.replace(RACK.sim, job=None))
    state = job.update(job.start(rack, 1), 5.0, job.start(rack, 1).inputs)
    assert (list(job.sensors(state)), set(job.list_loads(state))) == ([], {0.0})
    with pytest.raises(OrderError, match="this rack has no job"):
        job.apply(state, RequestCheckpoint("train"))
    with pytest.raises(UnknownSensorError):
        job.sense(state, "job/train", "job.state")


def test_every_sensor_answers() -> None:
    state = begin(3.0)
    assert all(job.sense(state, sensor.subject, sensor.quantity) is not None for sensor in job.sensors(state))
    assert len(list(job.sensors(state))) == 14 + 5 * RANKS


def test_with_a_small_buffer_sends_time_out_every_3_s_and_steps_take_longer() -> None:
    state = play(job.apply(begin(4.0), ShrinkBuffer("train", small=True)), 10.0)
    assert [at for at, kind in kinds(state) if kind == "comm.timeout"] == [7.0, 10.0, 13.0]
    assert ask(state, "job.step_time") == pytest.approx(2.0 * (1.0 - 0.061) + 8.0 * 0.122)
    assert ask(state, "job.state") == "running"
    state = play(job.apply(state, ShrinkBuffer("train", small=False)), 20.0)
    assert (ask(state, "job.step_time"), kinds(state)) == (2.0, [])


def test_what_was_said_twice_changes_nothing_and_a_job_that_hangs_does_not_complain() -> None:
    state = job.apply(begin(4.0), ShrinkBuffer("train", small=True))
    assert job.apply(state, ShrinkBuffer("train", small=True)) == state
    state = play(job.apply(state, SilenceRank("train", 0, silent=True)), 60.0)
    assert [kind for _, kind in kinds(state)].count("comm.timeout") == 0
    assert ask(state, "job.state") == "hung"


def test_a_job_that_is_resumed_with_its_small_buffer_complains_again() -> None:
    state = play(job.apply(job.apply(begin(4.0), ShrinkBuffer("train", small=True)), StopJob("train")), 50.0)
    assert kinds(state) == []
    state = play(job.apply(state, ResumeJob("train")), 20.0)
    assert [kind for _, kind in kinds(state)].count("comm.timeout") >= 3
