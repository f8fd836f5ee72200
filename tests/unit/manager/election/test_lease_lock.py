"""Requests for the Lease that fail, conflict or get no answer."""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta
from random import Random

import pytest

from pyctrl.apiserver import ApiServer
from pyctrl.client import Client, InProcessTransport
from pyctrl.errors import LeadershipLost
from pyctrl.kinds.coordination.v1 import Lease
from pyctrl.testing import Answered, AnswerLost, Delayed, Rule, Silent
from tests.unit.manager.election._election import KEY, Replica, now, running, spec


@pytest.fixture
def server() -> ApiServer:
    return ApiServer(random=Random(1))


@pytest.fixture
def admin(server: ApiServer) -> Client:
    return Client(InProcessTransport(server))


LEASES = "*/leases*"


async def test_an_answer_that_was_lost(server: ApiServer, admin: Client) -> None:
    """After a lost response to a renewal, the leader reads its own record and continues without a transition."""
    one = Replica(server, "one")
    async with running(one):
        await one.leads_at()
        one.network.add(Rule(AnswerLost(), method="PUT"))
        await asyncio.sleep(5)
        assert one.requests[2:6] == ["PUT op", "PUT op", "GET op", "PUT op"]
        assert one.elector.statistics().slow_paths == 1
        held = await spec(admin)
        assert (held.holder_identity, held.lease_transitions) == ("one", 0)


async def test_an_answer_to_the_first_claim_that_was_lost(server: ApiServer, admin: Client) -> None:
    """After a lost response to the first claim, the next try finds the Lease held by the candidate."""
    one = Replica(server, "one")
    one.network.add(Rule(AnswerLost(), method="POST"))
    async with running(one):
        assert 2 <= await one.leads_at() < 4.4
        assert (await spec(admin)).lease_transitions == 0


async def test_a_claim_whose_answer_was_lost_is_given_up_too(server: ApiServer, admin: Client) -> None:
    """A candidate that stops before the response to its claim still releases the Lease."""
    one = Replica(server, "one")
    one.network.add(Rule(AnswerLost(), method="POST"))
    async with running(one):
        await asyncio.sleep(1)
    assert (await spec(admin)).holder_identity == ""


async def test_a_server_that_does_not_answer(server: ApiServer) -> None:
    """A request waits five seconds at most, and never beyond the renew deadline."""
    one = Replica(server, "one")
    async with running(one):
        await one.leads_at()
        one.network.add(Rule(Silent(), path=LEASES, times=None))
        with pytest.raises(LeadershipLost, match="the server did not answer in time"):
            await one.end()
        assert one.work.journal[-1] == (10.0, "ends")
        assert len([r for r in one.requests if r == "PUT op"]) == 2  # at 2 and at 9


async def test_a_slow_server_is_no_reason(server: ApiServer) -> None:
    """Responses that take four seconds do not lose the Lease."""
    one = Replica(server, "one")
    one.network.add(Rule(Delayed(timedelta(seconds=4)), path=LEASES, times=None))
    async with running(one):
        assert await one.leads_at() == 8
        await asyncio.sleep(120)
        assert one.leads()


async def test_a_release_that_meets_a_conflict_is_tried_again(server: ApiServer, admin: Client) -> None:
    """A release that conflicts with another write is retried."""
    one = Replica(server, "one")
    async with running(one):
        await one.leads_at()
        one.network.add(Rule(Answered.conflict(), method="PUT"))
        one.stop()
        await one.end()
    assert (await spec(admin)).holder_identity == ""


async def test_a_release_takes_three_seconds_at_most(server: ApiServer, caplog: pytest.LogCaptureFixture) -> None:
    """A release takes three seconds at most when the server does not respond."""
    one = Replica(server, "one")
    async with running(one):
        await one.leads_at()
        one.network.add(Rule(Silent(), times=None))
        one.stop()
        await one.end()
        assert now() == 3
    assert "Failed to release lease" in caplog.messages


async def test_what_goes_wrong_is_said_once(server: ApiServer, caplog: pytest.LogCaptureFixture) -> None:
    """A repeated failure is logged once; a standby logs the leader."""
    one, two = Replica(server, "one"), Replica(server, "two")
    caplog.set_level(logging.INFO, logger="pyctrl.manager")
    async with running(one):
        await one.leads_at()
        async with running(two):
            await asyncio.sleep(20)
            two.network.add(Rule(Answered(status=403, reason="Forbidden", message="no leases for you"), times=None))
            await asyncio.sleep(60)
    said = [record.getMessage() for record in caplog.records]
    assert said.count("Attempting to acquire leader lease...") == 2
    assert said.count("Successfully acquired lease") == 1
    assert said.count("Lease is held by another replica") == 1
    assert said.count("Failed to update lease") == 1
    assert two.elector.statistics().failures > 10


async def test_the_lease_of_another_holder_is_not_released(server: ApiServer, admin: Client) -> None:
    """A candidate whose claim was answered with an error, and that stops, leaves the Lease to the one that has it."""
    one = Replica(server, "one")
    one.network.add(Rule(AnswerLost(), method="POST"))
    async with running(one):
        await asyncio.sleep(1)
        lease = await admin.get(Lease, KEY)
        lease.spec.holder_identity = "two"
        await admin.update(lease)
    assert (await spec(admin)).holder_identity == "two"


async def test_candidates_do_not_try_together(server: ApiServer) -> None:
    """Candidates wait between one and 2.2 retry periods, each for another time."""
    seconds = [Replica(server, name).elector._next_try() - now() for name in ("two", "three")]
    assert seconds[0] != seconds[1]
    assert all(2 <= each <= 4.4 for each in seconds)
