"""The audit log as a witness of sharding: was each write sent by the replica that had its object at that time?

It knows nothing of a replica's mind, only what kube-apiserver recorded: the Leases as they were written, and the writes
of objects with their user agents and times. Only `rendezvous.wins` is shared with pyctrl.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from pyctrl.controller._sharding.shard_key import slot_of_uid
from pyctrl.kinds.coordination.v1 import Lease
from pyctrl.manager._sharding.member_state import MemberState
from pyctrl.manager._sharding.rendezvous import wins
from pyctrl.manager._sharding.shard_labels import FIELD_OWNER

__all__ = ["POLICY", "Verdicts", "judge"]

#: Records Leases with their contents, and writes of ConfigMaps with their user agents.
POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [
        {
            "level": "RequestResponse",
            "verbs": ["create", "update", "delete"],
            "resources": [{"group": "coordination.k8s.io", "resources": ["leases"]}],
        },
        {"level": "RequestResponse", "verbs": ["patch"], "resources": [{"group": "", "resources": ["configmaps"]}]},
        {"level": "None"},
    ],
}


@dataclass(slots=True)
class Verdicts:
    """What the log says."""

    writes: int = 0
    moves: int = 0
    leases: int = 0
    wrong: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Entry:
    at: datetime
    agent: str
    verb: str
    resource: str
    name: str
    answer: dict[str, Any]


def judge(log: Path, agents: Iterable[str]) -> Verdicts:
    """Return what an audit log says of the writes of replicas, by their user agents."""
    verdicts, replicas = Verdicts(), set(agents)
    states: dict[str, tuple[MemberState, datetime]] = {}  # by user agent: its Lease as it last wrote it
    writers: dict[str, str] = {}
    for entry in sorted(_entries(log), key=lambda each: each.at):
        if entry.agent not in replicas:
            continue
        if entry.resource == "leases":
            verdicts.leases += 1
            _note(entry, states)
        else:
            verdicts.writes += 1
            before = writers.get(entry.name)
            writers[entry.name] = entry.agent
            verdicts.moves += before not in (None, entry.agent)
            if problem := _problem(entry, states):
                verdicts.wrong.append(f"{entry.at:%H:%M:%S.%f} {entry.agent} wrote {entry.name}: {problem}")
    return verdicts


def _note(entry: _Entry, states: dict[str, tuple[MemberState, datetime]]) -> None:
    if entry.verb == "delete":
        return
    state = MemberState.of(Lease.from_wire(entry.answer), 15.0)
    if state is not None and (state.holder == entry.agent or state.is_released):
        states[state.member.identity] = (state, entry.at)  # another replica may release an expired one


def _problem(entry: _Entry, states: dict[str, tuple[MemberState, datetime]]) -> str:
    """Return why a replica may not have written an object, "" if it may."""
    if entry.agent not in states:
        return "it had no lease"
    mine, renewed = states[entry.agent]
    if mine.is_released:
        return "its lease was released"
    age = entry.at - renewed
    if age > timedelta(seconds=mine.lease_seconds):
        return f"its lease was {age.total_seconds():.1f} s old"
    slot = slot_of_uid(entry.answer["metadata"]["uid"])
    if mine.kept is not None and not mine.kept >> slot & 1:
        return "it was leaving, and had yielded the slot"
    for agent, (other, other_renewed) in states.items():
        is_alive = not other.is_released and entry.at - other_renewed < timedelta(seconds=other.lease_seconds)
        if agent == entry.agent or not is_alive or other.member.term not in mine.acknowledged:
            continue
        if other.kept is None and wins(other.member, mine.member) >> slot & 1:
            return f"it had acknowledged {agent}, which wins its slot"
    return ""


def _entries(log: Path) -> Iterator[_Entry]:
    with log.open() as lines:
        for line in lines:
            event = json.loads(line)
            if event["stage"] != "ResponseComplete" or event["responseStatus"]["code"] >= 300:
                continue
            if f"fieldManager={FIELD_OWNER}" in event["requestURI"]:
                continue  # a label, which any replica may write
            reference = event["objectRef"]
            yield _Entry(
                datetime.fromisoformat(event["requestReceivedTimestamp"]),
                event.get("userAgent", ""),
                event["verb"],
                reference["resource"],
                f"{reference.get('namespace', '')}/{reference.get('name', '')}",
                event.get("responseObject") or {},
            )
