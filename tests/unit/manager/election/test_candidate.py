"""What a candidate concludes from what it saw and wrote: no clocks, no requests."""

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
    """A moment, on both clocks; on the wall's another one where that is given."""
    return Moment(loop, START + timedelta(seconds=loop if wall is None else wall))


def lease(holder: str | None, *, version: str = "1", **spec: Any) -> Lease:
    """A Lease as somebody else has written it."""
    fields = {"holderIdentity": holder, "leaseDurationSeconds": 15, "leaseTransitions": 3} | spec
    return Lease.from_wire(
        {
            "metadata": {"name": "op", "namespace": "default", "resourceVersion": version},
            "spec": {name: value for name, value in fields.items() if value is not None},
        }
    )


def candidate(**options: Any) -> Candidate:
    return Candidate(LeaderElection(name="op", **options), KEY, "me")


# --- whose it is ---


def test_a_lease_that_nobody_made_may_be_taken_at_once() -> None:
    """The first candidate ever waits for nobody, and counts no transition."""
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
    """How old a record was when it was first seen nobody knows: the holder's whole time counts from then."""
    me = candidate()
    me.observe(lease("other", renewTime="2020-01-01T00:00:00.000000Z"), 100)

    assert me.is_held_by_other
    assert not me.may_write(114.9)
    assert me.may_write(115)


def test_only_a_changed_record_counts_as_a_renewal() -> None:
    """A label that somebody puts on a Lease does not keep a dead leader alive."""
    me = candidate()
    me.observe(lease("other", version="1"), 0)
    me.observe(lease("other", version="2"), 14)
    assert me.may_write(15)

    me.observe(lease("other", version="3", renewTime="2026-01-01T00:00:00.000000Z"), 15)
    assert not me.may_write(29.9)


def test_the_holder_says_how_long_its_lease_lasts() -> None:
    """Replicas of two configurations get along: each is left what it has announced."""
    me = candidate()
    me.observe(lease("other", leaseDurationSeconds=60), 0)
    assert not me.may_write(59)
    assert me.may_write(60)


def test_a_record_without_a_duration_lasts_as_long_as_ours() -> None:
    """Some Leases are written by hand; client-go would take such a one at once."""
    me = candidate()
    me.observe(lease("other", leaseDurationSeconds=None), 0)
    assert not me.may_write(14)


def test_an_edited_duration_does_not_shorten_what_was_promised() -> None:
    """The holder does not know yet that somebody has edited its record."""
    me = candidate()
    me.observe(lease("other"), 0)
    me.observe(lease("other", leaseDurationSeconds=1), 2)
    assert not me.may_write(14)
    assert me.may_write(15)


def test_what_was_given_up_may_be_taken_at_once() -> None:
    """An empty holder ends all waiting, and the next one counts a transition."""
    me = candidate()
    me.observe(lease("other"), 0)
    me.observe(lease("", leaseDurationSeconds=1), 3)

    assert me.may_write(3)
    assert me.claim(START).spec.lease_transitions == 4


def test_a_deleted_lease_is_no_invitation() -> None:
    """Its holder may not know of the deletion; candidates that have seen the Lease wait once more."""
    me = candidate()
    me.observe(lease("other"), 0)
    me.observe(None, 14)
    me.observe(None, 16)
    assert not me.may_write(28.9)
    assert me.may_write(29)


def test_a_leader_makes_a_deleted_lease_anew() -> None:
    """It knows that nobody else leads."""
    me = candidate()
    me.renewed(lease("me", acquireTime="2026-01-01T00:00:00.000000Z"), at(0))
    me.observe(None, 2)

    assert me.may_write(2)
    claim = me.claim(START)
    assert (claim.metadata.resource_version, claim.spec.holder_identity) == ("", "me")


def test_ones_own_record_may_be_renewed_although_one_did_not_know() -> None:
    """The answer to the claim was lost, the claim was not: no transition is counted twice."""
    me = candidate()
    me.observe(lease("", leaseTransitions=3), 0)
    me.observe(lease("me", leaseTransitions=4, acquireTime="2025-12-31T23:00:00.000000Z"), 2)

    assert me.may_write(2)
    claim = me.claim(START)
    assert claim.spec.lease_transitions == 4
    assert claim.spec.acquire_time == datetime(2025, 12, 31, 23, tzinfo=UTC)
    assert claim.spec.renew_time == START


# --- what is written ---


def test_what_others_have_written_stays() -> None:
    """Labels, strategy, preferred holder and fields that nobody here knows are written back as they were."""
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
    """No holder, one second, both times of now; the transitions are kept."""
    me = candidate()
    me.renewed(lease("me"), at(0))
    assert me.release(START).to_wire()["spec"] == {
        "holderIdentity": "",
        "leaseDurationSeconds": 1,
        "acquireTime": "2026-01-01T00:00:00.000000Z",
        "renewTime": "2026-01-01T00:00:00.000000Z",
        "leaseTransitions": 3,
    }


# --- until when ---


def test_the_times_of_a_leader() -> None:
    """All count from when the last renewal that succeeded was sent: stop at 10, cancel at 12.5, write until 14."""
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
    """The loop's clock stands still while a laptop is closed; after an hour there may be another leader."""
    me = candidate()
    me.renewed(lease("me"), at(100))
    assert not me.may_act(at(101, wall=3700))


def test_a_wall_clock_that_is_set_back_prolongs_nothing() -> None:
    """The longer of both times counts."""
    me = candidate()
    me.renewed(lease("me"), at(100))
    assert not me.may_act(at(115, wall=-3600))
    assert me.may_act(at(105, wall=-3600))


# --- options ---


def test_identities_are_the_host_and_a_random_uuid() -> None:
    """As controller-runtime makes them; two replicas on one host differ."""
    random = Random(7)
    one, two = make_identity("pod-1", random), make_identity("pod-1", random)
    assert one != two
    assert one.startswith("pod-1_")
    assert len(one) == len("pod-1_") + 36
