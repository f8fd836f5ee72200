"""The decisions of a candidate from observed and written records, without clocks or requests."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from pyctrl.api import Key
from pyctrl.kinds.coordination.v1 import Lease
from pyctrl.manager import LeaderElection
from pyctrl.manager._election.candidate import Candidate, Moment
from pyctrl.manager._election.leader_elector import make_identity

START = datetime(2026, 1, 1, tzinfo=UTC)
KEY = Key("default", "op")


def at(loop: float, *, wall: float | None = None) -> Moment:
    """A moment on both clocks; on the wall clock another one if given."""
    return Moment(loop, START + timedelta(seconds=loop if wall is None else wall))


def lease(holder: str | None, *, version: str = "1", **spec: Any) -> Lease:
    """A Lease as another replica writes it."""
    fields = {"holderIdentity": holder, "leaseDurationSeconds": 15, "leaseTransitions": 3} | spec
    return Lease.from_wire(
        {
            "metadata": {"name": "op", "namespace": "default", "resourceVersion": version},
            "spec": {name: value for name, value in fields.items() if value is not None},
        }
    )


def candidate(**options: Any) -> Candidate:
    return Candidate(LeaderElection(name="op", **options), KEY, "me")


# --- the holder ---


def test_a_lease_that_nobody_made_may_be_taken_at_once() -> None:
    """A candidate takes a missing Lease without waiting, and counts no transition."""
    me = candidate()
    me.observe(None, 0)

    assert me.may_write(0)
    assert me.claim(START).to_wire()["spec"] == {
        "holderIdentity": "me",
        "leaseDurationSeconds": 15,
        "acquireTime": "2026-01-01T00:00:00.000000Z",
        "renewTime": "2026-01-01T00:00:00.000000Z",
        "leaseTransitions": 0,
    }


def test_another_is_left_its_time_from_when_its_record_was_seen() -> None:
    """The holder's full lease duration counts from the first observation: the age of the record is unknown."""
    me = candidate()
    me.observe(lease("other", renewTime="2020-01-01T00:00:00.000000Z"), 100)

    assert me.is_held_by_other
    assert not me.may_write(114.9)
    assert me.may_write(115)


def test_only_a_changed_record_counts_as_a_renewal() -> None:
    """Only a changed record renews the lease: a new label on the Lease does not."""
    me = candidate()
    me.observe(lease("other", version="1"), 0)
    me.observe(lease("other", version="2"), 14)
    assert me.may_write(15)

    me.observe(lease("other", version="3", renewTime="2026-01-01T00:00:00.000000Z"), 15)
    assert not me.may_write(29.9)


def test_the_holder_says_how_long_its_lease_lasts() -> None:
    """A candidate waits for the duration in the holder's record, not for its own."""
    me = candidate()
    me.observe(lease("other", leaseDurationSeconds=60), 0)
    assert not me.may_write(59)
    assert me.may_write(60)


def test_a_record_without_a_duration_lasts_as_long_as_ours() -> None:
    """A record without a duration uses our own duration, where client-go would take the Lease at once."""
    me = candidate()
    me.observe(lease("other", leaseDurationSeconds=None), 0)
    assert not me.may_write(14)


def test_an_edited_duration_does_not_shorten_what_was_promised() -> None:
    """An edited, shorter duration does not shorten the wait: the holder may not have read the edit."""
    me = candidate()
    me.observe(lease("other"), 0)
    me.observe(lease("other", leaseDurationSeconds=1), 2)
    assert not me.may_write(14)
    assert me.may_write(15)


def test_what_was_given_up_may_be_taken_at_once() -> None:
    """A Lease with an empty holder may be taken at once, with a transition."""
    me = candidate()
    me.observe(lease("other"), 0)
    me.observe(lease("", leaseDurationSeconds=1), 3)

    assert me.may_write(3)
    assert me.claim(START).spec.lease_transitions == 4


def test_a_deleted_lease_is_no_invitation() -> None:
    """Candidates that have seen a Lease wait after its deletion: the holder may not know of the deletion."""
    me = candidate()
    me.observe(lease("other"), 0)
    me.observe(None, 14)
    me.observe(None, 16)
    assert not me.may_write(28.9)
    assert me.may_write(29)


def test_a_leader_makes_a_deleted_lease_anew() -> None:
    """A leader creates a deleted Lease again without waiting."""
    me = candidate()
    me.renewed(lease("me", acquireTime="2026-01-01T00:00:00.000000Z"), at(0))
    me.observe(None, 2)

    assert me.may_write(2)
    claim = me.claim(START)
    assert (claim.metadata.resource_version, claim.spec.holder_identity) == ("", "me")


def test_ones_own_record_may_be_renewed_although_one_did_not_know() -> None:
    """After a lost response to a claim, the candidate renews its own record without counting a transition."""
    me = candidate()
    me.observe(lease("", leaseTransitions=3), 0)
    me.observe(lease("me", leaseTransitions=4, acquireTime="2025-12-31T23:00:00.000000Z"), 2)

    assert me.may_write(2)
    claim = me.claim(START)
    assert claim.spec.lease_transitions == 4
    assert claim.spec.acquire_time == datetime(2025, 12, 31, 23, tzinfo=UTC)
    assert claim.spec.renew_time == START


# --- the written record ---


def test_what_others_have_written_stays() -> None:
    """Labels, strategy, preferred holder and unknown fields are written back unchanged."""
    me = candidate(labels={"app": "op"})
    found = lease("", strategy="OldestEmulationVersion", preferredHolder="you", shiny="new").to_wire()
    found["metadata"]["labels"] = {"team": "a"}
    me.observe(Lease.from_wire(found), 0)
    claim = me.claim(START).to_wire()

    assert claim["metadata"]["labels"] == {"team": "a", "app": "op"}
    assert claim["metadata"]["resourceVersion"] == "1"
    spec = claim["spec"]
    assert (spec["strategy"], spec["preferredHolder"], spec["shiny"]) == ("OldestEmulationVersion", "you", "new")


def test_a_released_lease_reads_as_client_go_leaves_it() -> None:
    """A released Lease has no holder, one second, both times of now, and its transitions, as in client-go."""
    me = candidate()
    me.renewed(lease("me"), at(0))
    assert me.release(START).to_wire()["spec"] == {
        "holderIdentity": "",
        "leaseDurationSeconds": 1,
        "acquireTime": "2026-01-01T00:00:00.000000Z",
        "renewTime": "2026-01-01T00:00:00.000000Z",
        "leaseTransitions": 3,
    }


# --- deadlines ---


def test_the_times_of_a_leader() -> None:
    """From the sending of the last successful renewal: stop after 10 s, cancel after 12.5 s, write for 14 s."""
    me = candidate()
    me.renewed(lease("me"), at(100))

    assert (me.renew_until, me.cancel_at) == (110, 112.5)
    assert me.may_act(at(113.9))
    assert not me.may_act(at(114))
    me.renewed(lease("me"), at(109))
    assert me.may_act(at(122.9))
    me.stop_leading()
    assert not me.may_act(at(109))
    assert (me.is_leading, me.renew_until) == (False, float("-inf"))


def test_a_machine_that_slept_notices_by_the_wall_clock() -> None:
    """The wall clock ends leadership after a suspend, during which the loop's clock stops."""
    me = candidate()
    me.renewed(lease("me"), at(100))
    assert not me.may_act(at(101, wall=3700))


def test_a_wall_clock_that_is_set_back_prolongs_nothing() -> None:
    """Setting the wall clock back does not prolong leadership: the longer of both times counts."""
    me = candidate()
    me.renewed(lease("me"), at(100))
    assert not me.may_act(at(115, wall=-3600))
    assert me.may_act(at(105, wall=-3600))


# --- options ---


def test_identities_are_the_host_and_a_random_uuid() -> None:
    """An identity is the host name and a UUID, as in controller-runtime; two replicas on one host differ."""
    random = Random(7)
    one, two = make_identity("pod-1", random), make_identity("pod-1", random)
    assert one != two
    assert one.startswith("pod-1_")
    assert len(one) == len("pod-1_") + 36
