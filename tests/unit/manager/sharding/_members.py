"""Members of a ring and what their Leases say, without a server."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from pyctrl.manager._election.candidate import Moment
from pyctrl.manager._sharding.member_state import MemberState, new_lease
from pyctrl.manager._sharding.rendezvous import Member

START = datetime(2026, 1, 1, tzinfo=UTC)


def at(loop: float, *, wall: float | None = None) -> Moment:
    """A moment on both clocks; on the wall clock another one if given."""
    return Moment(loop, START + timedelta(seconds=loop if wall is None else wall))


def member(name: str, *, term: str | None = None, **options: Any) -> Member:
    """A member whose Lease and identity have one name."""
    return Member(name, name, term or f"{name}-1", **options)


def state(of: Member, *, renewal: str = "1", acknowledged: str = "", **fields: Any) -> MemberState:
    """What the Lease of a member says; terms that it has acknowledged are separated by spaces."""
    known = {"holder": of.identity, "lease_seconds": 15.0, **fields}
    return MemberState(of, renewal=renewal, acknowledged=frozenset(acknowledged.split()), **known)


def read_back(written: MemberState) -> MemberState:
    """What others read in the Lease after a replica has written its state."""
    lease = new_lease(written.member.lease, "default", {})
    written.write_to(lease, START, 0)
    read = MemberState.of(lease, 15)
    assert read is not None
    return read
