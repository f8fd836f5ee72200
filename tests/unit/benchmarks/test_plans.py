from __future__ import annotations

from itertools import groupby

import pytest
from _canned_objects import KINDS, objects
from _options import SMALLEST, options, parts
from _peers import PEERS
from _plans import PLANS, Part, minutes, wanted


@pytest.mark.parametrize("name", PLANS)
def test_cases_that_share_a_server_are_neighbours(name: str) -> None:
    """Cases with the same objects run one after the other, so that no server is started twice."""
    servers = [
        server
        for server, _ in groupby(wanted(PLANS[name], ["sync", "reads", "reconcile"], PEERS), lambda each: each.server)
    ]
    assert len(servers) == len(set(servers))


def test_a_peer_is_not_asked_for_what_it_cannot_do() -> None:
    """kopf runs the loop but not the latency, because it writes to each object."""
    plan = wanted(PLANS["standard"], ["loop", "latency"], PEERS)
    assert {each.work: "kopf" in peers for each, peers in plan.items()} == {"loop": True, "latency": False}


def test_the_start_is_measured_with_one_object() -> None:
    """The line "start" takes the reconcile of one object, and "reconcile" takes all others."""
    counts = {
        line: {each.objects for each in wanted(PLANS["standard"], [line], PEERS)} for line in ("start", "reconcile")
    }
    assert counts == {"start": {1}, "reconcile": {10_000}}


def test_peers_of_the_same_case_in_two_parts_are_put_together() -> None:
    """A case in two parts runs each peer of either part once."""
    parts = (Part("cache", ("limit", "pyctrl")), Part("cache", ("pyctrl", "kube-rs")))
    assert list(wanted(parts, ["sync"], PEERS).values()) == [("limit", "pyctrl", "kube-rs")]


@pytest.mark.parametrize(("words", "kind"), [("--size 512", "widgets"), ("--kinds pods --size 1024", "pods")])
def test_no_table_says_a_size_that_objects_do_not_have(
    words: str, kind: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A size below the smallest possible object is rejected: an empty pod already has more than a kilobyte."""
    monkeypatch.setattr("sys.argv", ["run.py", *words.split()])
    with pytest.raises(SystemExit):
        options(None)
    assert f"{kind} have at least {SMALLEST[kind]:,} bytes" in capsys.readouterr().err
    assert len(objects(KINDS[kind], 1, SMALLEST[kind], 1)[0]) == pytest.approx(SMALLEST[kind], rel=0.02)


def test_flags_take_the_place_of_the_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    """The flags replace the plan with every combination of number and size; operators keep their PodSets."""
    monkeypatch.setattr(
        "sys.argv",
        ["run.py", "--only", "sync", "--objects", "1000", "50000", "--size", "1024", "4096", "--peers", "pyctrl"],
    )
    told = options(None)
    plan = wanted(parts(told), told.only, told.peers)
    found = [(each.objects, each.size) for each in plan]
    assert found == [(1_000, 1024), (1_000, 4096), (50_000, 1024), (50_000, 4096)]


def test_more_objects_and_runs_take_longer() -> None:
    """The estimate grows with the number of objects and runs."""
    few, many = (wanted([Part("cache", objects=(count,))], ["sync"], PEERS) for count in (1_000, 100_000))
    assert minutes(few, 1) < minutes(few, 5) < minutes(many, 5)
