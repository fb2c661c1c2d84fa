from __future__ import annotations

import grp
import pwd
import threading

import pytest

from supernoded.admin.access import MOST_LOOKUPS, Access, Gate, Membership, Right, look_up
from supernoded.admin.desk import Caller
from supernoded.errors import AdminError
from tests.unit.admin.fake_desk import until

ACCESS = Access(reading_group="readers", operator_group="operators")
STRANGER = Caller(pid=1, uid=4242, gid=4242)


def member_of(*owned: str) -> Gate:
    return Gate(ACCESS, own_uid=900, lookup=lambda _, groups: Membership("alice", any(group in owned for group in groups)))


@pytest.mark.parametrize("uid", [0, 900])
@pytest.mark.parametrize("right", Right)
async def test_root_and_the_daemon_itself_need_no_group(uid: int, right: Right) -> None:
    def never(caller: Caller, groups: tuple[str, ...]) -> Membership:
        raise AssertionError(groups)

    assert await Gate(ACCESS, 900, never).find_refusal(Caller(1, uid, uid), right) is None


async def test_readers_read_and_operators_do_both() -> None:
    readers, operators = member_of("readers"), member_of("operators")
    assert await readers.find_refusal(STRANGER, Right.READ) is None
    assert await operators.find_refusal(STRANGER, Right.READ) is None
    assert await operators.find_refusal(STRANGER, Right.CHANGE) is None


async def test_a_refusal_names_the_group_to_join() -> None:
    assert "usermod -aG operators alice" in (await member_of("readers").find_refusal(STRANGER, Right.CHANGE) or "")
    assert "usermod -aG readers alice" in (await member_of().find_refusal(STRANGER, Right.READ) or "")


async def test_without_groups_everybody_else_is_refused() -> None:
    refusal = await Gate(Access(), 900).find_refusal(STRANGER, Right.READ)
    assert refusal is not None
    assert "only root and uid 900" in refusal


def test_the_user_database_is_asked() -> None:
    user = pwd.getpwnam("nobody")
    caller = Caller(1, user.pw_uid, user.pw_gid)
    own = grp.getgrgid(user.pw_gid).gr_name
    assert look_up(caller, (own,)) == Membership("nobody", True)
    assert look_up(caller, ("root", "no-such-group")) == Membership("nobody", False)


def test_a_user_without_a_name_has_its_own_group_only() -> None:
    assert look_up(Caller(1, 4_000_000, 0), ("root",)) == Membership("uid 4000000", True)
    assert look_up(Caller(1, 4_000_000, 4_000_000), ("root",)) == Membership("uid 4000000", False)


async def test_a_user_database_that_hangs_is_given_up_and_holds_few_threads() -> None:
    release, calls = threading.Event(), list[int]()

    def hang(caller: Caller, groups: tuple[str, ...]) -> Membership:
        calls.append(caller.uid)
        release.wait(30)
        return Membership("alice", True)

    gate = Gate(ACCESS, 900, hang, patience=0.01)
    for _ in range(MOST_LOOKUPS + 2):
        with pytest.raises(AdminError, match="could not be looked up"):
            await gate.find_refusal(STRANGER, Right.READ)
    assert len(calls) == MOST_LOOKUPS
    release.set()
    await until(lambda: not gate._looking)
    assert await Gate(ACCESS, 900, hang).find_refusal(STRANGER, Right.READ) is None
