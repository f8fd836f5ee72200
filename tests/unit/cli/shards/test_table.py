"""Rings as text and as JSON."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from pyctrl.api import ShardRange
from pyctrl.cli._shards.table import lines_of, to_wire
from pyctrl.manager import Ring, RingMember

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
LOW, HIGH = ShardRange.split(2)

WORKING = RingMember(
    lease="podset-a",
    identity="host-a",
    version="1.2",
    weight=2,
    phase="working",
    slots=512,
    ranges=(LOW,),
    requests=12,
    moves=1024,
    canary=0.5,
    fair_slots=1024,
    reconciles=340,
    errors=12,
    renewed=NOW - timedelta(seconds=2),
)
JOINING = RingMember(
    lease="podset-longer", identity="host-b", version="", weight=1, phase="joining", awaited=("podset-a",)
)
RING = Ring(name="podset", namespace="web", members=(WORKING, JOINING), slots=1024, unassigned=512)


def test_a_ring_is_a_table() -> None:
    """Each member is a row below aligned columns, and the ranges, the imbalance and what nobody works on follow."""
    assert "\n".join(lines_of([RING], NOW, is_wide=False)) == (
        "web/podset\n"
        "\n"
        "MEMBER          STATE                SLOTS         REQUESTS   MOVES   VERSION   WEIGHT   RENEWED\n"
        "podset-a        working              512 (50.0%)   12         1024    1.2       2        2s\n"
        "podset-longer   joining (podset-a)   0 (0.0%)      0          0       <none>    1        <unknown>\n"
        "\n"
        "Ranges:      1, of 1024 slots\n"
        "Imbalance:   0.50 (podset-a has the most for its share; 1 is fair)\n"
        "Unassigned:  512 (50.0%), until members have joined, left or expired"
    )


def test_without_a_time_there_are_no_ages() -> None:
    """A table that is printed again only when something has changed has no column that always changes."""
    lines = list(lines_of([RING], None, is_wide=True))
    assert lines[2].split()[-5:] == ["WEIGHT", "CANARY", "RECONCILES", "ERRORS", "REPLICA"]
    assert lines[3].split()[-5:] == ["2", "50%", "340", "12", "host-a"]
    assert lines[4].split()[-5:] == ["1", "<none>", "0", "0", "host-b"]


def test_wide_output_has_replicas_and_their_ranges() -> None:
    """``-o wide`` names the replica of each Lease, and lists the hashes that it works on."""
    lines = list(lines_of([RING], NOW, is_wide=True))
    assert [line.split()[-1] for line in lines[2:5]] == ["REPLICA", "host-a", "host-b"]
    assert lines[-6:] == [
        "",
        "Ranges of podset-a:",
        "  0x0000000000000000-0x8000000000000000",
        "",
        "Ranges of podset-longer:",
        "  <none>",
    ]


def test_a_member_that_waits_for_many_names_two() -> None:
    """A replica that joins a large ring names two of those for which it waits, and the number of the others."""
    many = RingMember(lease="x", identity="x", version="", weight=1, phase="joining", awaited=tuple("abcd"))
    ring = Ring(name="r", namespace="n", members=(many,), slots=1024, unassigned=1024)
    text = "\n".join(lines_of([ring], NOW, is_wide=False))
    assert "joining (a, b and 2 more)" in text
    assert "Imbalance" not in text  # none works


def test_json_has_the_same_facts() -> None:
    """``-o json`` has each member with its state, slots, ranges and load, and null for what is unknown."""
    (ring,) = to_wire([RING])["rings"]
    members = ring.pop("members")
    assert ring == {"name": "podset", "namespace": "web", "slots": 1024, "unassigned": 512, "imbalance": 0.5}
    assert members[0] == {
        "name": "podset-a",
        "replica": "host-a",
        "state": "working",
        "awaited": [],
        "slots": 512,
        "ranges": ["0x0000000000000000-0x8000000000000000"],
        "requests": 12,
        "moves": 1024,
        "version": "1.2",
        "weight": 2,
        "canary": 0.5,
        "reconciles": 340,
        "errors": 12,
        "renewed": "2026-01-01T11:59:58Z",
    }
    assert (members[1]["awaited"], members[1]["renewed"]) == (["podset-a"], None)
