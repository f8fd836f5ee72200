"""Canaries are promoted after a time, or rolled back when they fail more often than the other version."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from pyctrl.apiserver import ApiServer
from pyctrl.controller import Request
from pyctrl.errors import ManagerError
from pyctrl.manager import Sharding
from pyctrl.manager._sharding.canary import CanaryTrial, CanaryVerdict
from pyctrl.manager._sharding.member_state import MemberLoad, MemberState
from pyctrl.manager._sharding.rendezvous import Member
from tests.unit.manager.sharding._rings import ALL_SLOTS, Replica, admin, create, divided, ring

NEW = MemberState(member=Member("new", "new", "1", version="2", canary=0.1), holder="new", renewal="", lease_seconds=15)
OLD = MemberState(member=Member("old", "old", "2", version="1"), holder="old", renewal="", lease_seconds=15)


def judge(trial: CanaryTrial, new: tuple[int, int], old: tuple[int, int], now: float) -> CanaryVerdict:
    """Judge after so many reconciles and errors of both versions."""
    states = [replace(NEW, load=MemberLoad(reconciles=new[0], errors=new[1]))]
    states.append(replace(OLD, load=MemberLoad(reconciles=old[0], errors=old[1])))
    return trial.judge(states, {}, now)


def begun() -> CanaryTrial:
    """Return a trial of a hundred seconds, in which both versions have already done something."""
    trial = CanaryTrial("2", 100.0)
    assert judge(trial, (10, 10), (1000, 500), 0) is CanaryVerdict.WAIT
    return trial


def test_a_good_version_is_promoted_after_the_time() -> None:
    """What was before the trial does not count, and before the time is over nothing is decided."""
    trial = begun()
    assert judge(trial, (110, 10), (2000, 500), 99) is CanaryVerdict.WAIT
    assert judge(trial, (110, 10), (2000, 500), 100) is CanaryVerdict.PROMOTE


def test_a_bad_version_is_rolled_back_at_once() -> None:
    """Twice the error rate and a percent is the limit, and an error rate below fifty reconciles says nothing."""
    assert judge(begun(), (59, 59), (2000, 500), 5) is CanaryVerdict.WAIT
    assert judge(begun(), (110, 16), (2000, 520), 5) is CanaryVerdict.ROLL_BACK
    assert judge(begun(), (110, 15), (2000, 520), 5) is CanaryVerdict.WAIT


def test_what_a_replica_knows_of_itself_counts() -> None:
    """Its own Lease is up to a period old."""
    trial = begun()
    states = [NEW, replace(OLD, load=MemberLoad(reconciles=1000, errors=500))]
    own = {"new": MemberLoad(reconciles=110, errors=60)}
    assert trial.judge(states, own, 1) is CanaryVerdict.ROLL_BACK


def test_what_other_replicas_have_decided_holds() -> None:
    """A version that any Lease names is rolled back, and one with a replica that is no canary is promoted, at once."""
    trial = CanaryTrial("2", 100.0)
    assert trial.known([NEW, OLD]) is CanaryVerdict.WAIT
    assert trial.known([OLD, replace(OLD, rolled_back=frozenset({"1", "2"}))]) is CanaryVerdict.ROLL_BACK
    assert trial.judge([NEW, replace(OLD, rolled_back=frozenset({"2"}))], {}, 0) is CanaryVerdict.ROLL_BACK
    promoted = replace(NEW, member=replace(NEW.member, canary=1.0))
    assert trial.known([OLD, promoted]) is CanaryVerdict.PROMOTE
    assert trial.known([replace(OLD, rolled_back=frozenset({"3"}))]) is CanaryVerdict.WAIT


async def test_reconciles_of_a_canary_finish_when_it_is_promoted() -> None:
    """A promotion cancels nothing: what runs ends first, within the hand-over timeout."""
    server = ApiServer()
    ended: list[str] = []

    async def work_slowly(request: Request) -> None:
        await asyncio.sleep(5)
        ended.append(request.name)

    async with ring(server, "a", version="1") as old:
        new = Replica(server, "c", version="2", canary=0.5, promote_after=timedelta(seconds=20))
        new.recorder.work = work_slowly
        async with new.running():
            await divided([*old, new])
            await create(admin(server), [f"map-{number}" for number in range(200)])
            async with asyncio.timeout(600):
                while new.sharding.terms < 2:
                    await asyncio.sleep(0.1)
            await divided([*old, new])
            await asyncio.sleep(30)
            assert set(ended) >= set(new.recorder.seen[:-1])  # the last one may still run
            assert (new.sharding.cancelled, new.sharding.losses) == (0, 0)
            assert new.slots == pytest.approx(ALL_SLOTS / 2, rel=0.15)


async def test_a_version_that_was_rolled_back_gets_nothing_after_a_restart() -> None:
    """The replicas of the other version keep in mind what was rolled back, so a restarted canary has no new trial."""
    server = ApiServer()

    async def fail(_request: Request) -> None:
        raise OSError("a mistake of the new version")

    async with ring(server, "a", "b", version="1") as old:
        await create(admin(server), [f"map-{number}" for number in range(160)])
        for name in ("c", "d"):
            yielded = sum(each.sharding.yielded for each in old)
            new = Replica(server, name, version="2", canary=0.5, promote_after=timedelta(seconds=60))
            new.recorder.work = fail
            async with new.running():
                await divided([*old, new])
                await asyncio.sleep(40)
                await divided([*old, new])
                assert new.slots == 0
                assert bool(new.recorder.seen) == (name == "c")
                assert (sum(each.sharding.yielded for each in old) > yielded) == (name == "c")
            await divided(old)
            await asyncio.sleep(60)  # until its Lease is deleted


@pytest.mark.parametrize("is_good", [True, False], ids=["good", "bad"])
async def test_a_canary_gets_a_fair_share_or_nothing(is_good: bool) -> None:
    """A good version has a third of the slots beside two replicas of the old one, and a bad one none."""
    server = ApiServer()
    async with ring(server, "a", "b", version="1") as old:
        new = Replica(server, "c", version="2", canary=0.5, promote_after=timedelta(seconds=60))

        async def fail(_request: Request) -> None:
            raise OSError("a mistake of the new version")

        if not is_good:
            new.recorder.work = fail
        async with new.running():
            await divided([*old, new])
            assert new.slots == pytest.approx(ALL_SLOTS / 2, abs=1)
            await create(admin(server), [f"map-{number}" for number in range(160)])
            await asyncio.sleep(80)
            await divided([*old, new], within=20)
            assert new.slots == (pytest.approx(ALL_SLOTS / 3, rel=0.15) if is_good else 0)


def test_only_a_canary_can_be_promoted() -> None:
    """Without a share there is nothing to promote."""
    with pytest.raises(ManagerError, match="promote_after needs a canary"):
        Sharding(name="op", promote_after=timedelta(minutes=5))
