from __future__ import annotations

from itertools import groupby

import pytest
from _peers import PEERS
from _plans import PLANS, Part, minutes, wanted


@pytest.mark.parametrize("name", PLANS)
def test_cases_that_share_a_server_are_neighbours(name: str) -> None:
    """No server is started twice: cases with the same objects come one after the other."""
    servers = [
        server
        for server, _ in groupby(wanted(PLANS[name], ["sync", "reads", "reconcile"], PEERS), lambda each: each.server)
    ]
    assert len(servers) == len(set(servers))


def test_a_peer_is_not_asked_for_what_it_cannot_do() -> None:
    """kopf writes to each object, so that it does the loop and no latency."""
    plan = wanted(PLANS["standard"], ["loop", "latency"], PEERS)
    assert {each.work: "kopf" in peers for each, peers in plan.items()} == {"loop": True, "latency": False}


def test_the_start_is_measured_with_one_object() -> None:
    """The line "start" takes the reconcile of one object, and "reconcile" all others."""
    counts = {
        line: {each.objects for each in wanted(PLANS["standard"], [line], PEERS)} for line in ("start", "reconcile")
    }
    assert counts == {"start": {1}, "reconcile": {10_000}}


def test_peers_of_the_same_case_in_two_parts_are_put_together() -> None:
    """Who is in either part does the case, and nobody twice."""
    parts = (Part("cache", ("limit", "pyctrl")), Part("cache", ("pyctrl", "kube-rs")))
    assert list(wanted(parts, ["sync"], PEERS).values()) == [("limit", "pyctrl", "kube-rs")]


def test_more_objects_and_runs_take_longer() -> None:
    """The estimate grows with what is asked for."""
    few, many = (wanted([Part("cache", objects=(count,))], ["sync"], PEERS) for count in (1_000, 100_000))
    assert minutes(few, 1) < minutes(few, 5) < minutes(many, 5)
