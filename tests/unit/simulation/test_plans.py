"""Systematic plans, and the points and objects that they are made from."""

from __future__ import annotations

import pytest

from pyctrl.simulation._history import Called, Delivered, ObjectId, ReconcileStarted
from pyctrl.simulation._meddling import meddlings, stable_id
from pyctrl.simulation._plans import FAMILIES, systematic
from pyctrl.simulation._run import Run
from pyctrl.simulation._schedule import FaultKind, Point
from pyctrl.simulation._sites import HANDLES, REPETITIONS, sites
from tests.unit.simulation._runs import created, obj_of, run_of, sent

CREATE = "create configmaps default/web-*#1"
UPDATE = "update websites/status default/web#1"


def texts(run: Run, *families: str, replicas: int = 1) -> list[str]:
    """Return the plans of families as text."""
    plans = systematic(run, families=families or FAMILIES, replicas=replicas)
    return [str(plan.schedule) for plan in plans]


def test_crashes_at_writes() -> None:
    """The operator crashes before, during and after every write."""
    found = texts(run_of([CREATE, UPDATE]), "crash")
    assert sorted(found) == sorted(
        f"crash-{when} {at}" for at in (CREATE, UPDATE) for when in ("before", "during", "after")
    )


def test_crash_without_effect() -> None:
    """Around a write without effect there is one crash, and its answer is not lost but times out."""
    run = run_of([UPDATE], sent(UPDATE, has_effect=False))
    assert texts(run, "crash") == [f"crash-after {UPDATE}"]
    assert f"answer-lost {UPDATE}" not in texts(run, "error")
    assert f"timeout {UPDATE}" in texts(run, "error")


@pytest.mark.parametrize(
    ("verb", "body", "expected"),
    [
        ("create", {"metadata": {"resourceVersion": "1"}}, False),
        ("update", {"metadata": {"resourceVersion": "1"}}, True),
        ("update", {"metadata": {"name": "web"}}, False),
        ("patch", {"metadata": {"resourceVersion": "1"}}, True),
        ("patch", {"spec": {}}, False),
        ("patch", [{"op": "test", "path": "/metadata/resourceVersion", "value": "1"}], False),
        ("patch", [{"op": "replace", "path": "/metadata/resourceVersion", "value": "1"}], True),
        ("apply", {"metadata": {"resourceVersion": "1"}}, True),
        ("delete", {"preconditions": {"uid": "u"}}, True),
        ("delete", None, False),
    ],
)
def test_conflicts(verb: str, body: object, expected: bool) -> None:
    """A Conflict is planned only for a write that the server could refuse so."""
    point = f"{verb} configmaps default/web#1"
    assert (f"conflict {point}" in texts(run_of([point], sent(point, body=body)), "error")) is expected


def test_events() -> None:
    """An event is delayed and hidden; it is coalesced if another event of its object follows."""
    first, second = "event pods default/a ADDED#1", "event pods default/a MODIFIED#1"
    target = ObjectId.parse("pods default/a")
    entries = [Delivered(point=Point.parse(each), type="", target=target) for each in (first, second)]
    found = texts(run_of([first, second], *entries), "event")
    assert {f"delay {first} by 60", f"delay {first} by 5", f"hide {second}", f"coalesce {first}"} <= set(found)
    assert f"coalesce {second}" not in found


def test_leadership_needs_replicas() -> None:
    """Leadership is lost at every write if there is another replica to take it."""
    assert texts(run_of([UPDATE]), "leadership") == []
    assert texts(run_of([UPDATE]), "leadership", replicas=2) == [f"lose-leadership {UPDATE}", f"freeze {UPDATE} by 30"]


def test_external_calls() -> None:
    """A call of an external system fails, loses its answer, is slow or repeated; the operator crashes around it."""
    point = "call Buckets.create#1"
    run = run_of([point], Called(point=Point.parse(point), call="Buckets.create('a')"))
    assert {text.split()[0] for text in texts(run, "external")} == {
        "call-fails",
        "answer-lost",
        "call-slow",
        "call-twice",
    }
    assert {text.split()[0] for text in texts(run, "crash")} == {"crash-before", "crash-during", "crash-after"}


def test_every_kind_is_planned() -> None:
    """Each kind of fault is in a plan of a run that has all occasions."""
    points = [
        CREATE,
        UPDATE,
        "list pods#1",
        "event pods default/a ADDED#1",
        "reconcile web default/web#1",
        "call B.c#1",
    ]
    points += ["webhook default websites#1", "handle#1", "step#1"]
    steps = [{"websites default/web": obj_of("p"), "configmaps default/web-1": obj_of("c", "p")}]
    made = created("websites default/web", "p", by="user"), created("configmaps default/web-1", "c", by="operator-1")
    plans = systematic(run_of(points, *made, steps=steps), replicas=2)
    assert {fault.kind for plan in plans for fault in plan.schedule} == set(FaultKind)
    assert {plan.family for plan in plans} == set(FAMILIES)


def test_order_covers_all() -> None:
    """The first plans have something of each family, with what finds most bugs first."""
    points = [f"update websites/status default/web#{n}" for n in range(1, 9)]
    points += [f"event pods default/{name} ADDED#1" for name in "abcdefgh"] + ["step#1", "reconcile web default/web#1"]
    plans = systematic(run_of(points))
    assert [fault.kind for fault in plans[0].schedule] == [FaultKind.CRASH_DURING]
    assert {plan.family for plan in plans[:20]} >= {"crash", "error", "event", "stale"}
    assert plans == systematic(run_of(points))
    assert len(plans) == len(set(plans))


def test_other_steps_come_first() -> None:
    """Of writes that are alike, the first of each step of the scenario is tried before its repetitions."""
    points = [f"create pods default/{name}#1" for name in "abc"] + ["step#1", "create pods default/d#1"]
    assert [site.rank for site in sites(run_of(points))] == [0, 1, 2, 0, 1]
    assert texts(run_of(points), "error").index("answer-lost create pods default/d#1") < texts(
        run_of(points), "error"
    ).index("answer-lost create pods default/c#1")


def test_repetitions() -> None:
    """Of many points of one name in a step, the first and the last are kept; of the loop's steps a spread sample."""
    run = run_of([*(f"{UPDATE[:-1]}{n}" for n in range(1, 31)), *(f"handle#{n}" for n in range(1, 1001)), "step#1"])
    kept = [site.point for site in sites(run)]
    writes = [point.nth for point in kept if str(point).startswith("update")]
    handles = [point.nth for point in kept if str(point).startswith("handle")]
    assert writes == [*range(1, REPETITIONS + 1), 30]
    assert len(handles) <= HANDLES
    assert handles[-1] > 950


def test_idle_rests() -> None:
    """A rest at which nothing has happened since the rest before is no site, unless the state has changed."""
    points = ["step#1", "step#2", "step#3"]
    run = run_of(points, steps=[{"pods default/a": obj_of("1")}, {"pods default/a": obj_of("1")}, {}])
    assert [str(site.point) for site in sites(run)] == ["step#1", "step#3"]


def test_lease_is_left_out() -> None:
    """Writes of the Lease of leader election are no sites."""
    run = run_of(["update leases.coordination.k8s.io default/web#1", "list leases.coordination.k8s.io#1", UPDATE])
    assert [str(site.point) for site in sites(run)] == [UPDATE]


def test_a_child_of_the_past_is_left_alone() -> None:
    """A child is meddled with in the steps in which the operator writes it, not in later ones."""
    state = {"websites default/web": obj_of("p"), "jobs.batch default/web-1": obj_of("c", "p")}
    made = created("websites default/web", "p", by="user"), created("jobs.batch default/web-1", "c", by="operator-1")
    faults = [str(each.fault) for each in meddlings(run_of(["step#1", "step#2"], *made, steps=[state, state]))]
    assert [each for each in faults if "jobs" in each and "step#1" in each]
    assert not [each for each in faults if "jobs" in each and "step#2" in each]


def test_meddling() -> None:
    """Children are meddled with, descendants deleted, and parents recreated, in the steps in which they are written."""
    steps = [
        {
            "websites default/web": obj_of("parent"),
            "deployments.apps default/web": obj_of("child", "parent"),
            "pods default/web-x1": obj_of("pod", "child", generated="web-"),
            "pods default/web-x2": obj_of("pod2", "child", generated="web-"),
            "secrets default/own": obj_of("secret"),
            "configmaps default/foreign": obj_of("foreign"),
        },
        {},
    ]
    run = run_of(
        ["step#1", "step#2"],
        created("websites default/web", "parent", by="user"),
        created("secrets default/own", "secret", by="user"),
        created("deployments.apps default/web", "child", by="operator-1"),
        created("pods default/web-x1", "pod", by=""),
        steps=steps,
    )
    assert {str(each.fault) for each in meddlings(run)} == {
        "delete-child step#1 by deployments.apps default/web",
        "change-child step#1 by deployments.apps default/web",
        "replace-child step#1 by deployments.apps default/web",
        "delete-child step#1 by pods default/web-*",
        "recreate-parent step#1 by websites default/web",
    }


def test_parent_without_children() -> None:
    """A user's object that is reconciled is recreated also if it owns nothing, and if it is cluster-wide."""
    run = run_of(
        ["step#1"],
        created("buckets default/a", "1", by="user"),
        created("nodes b", "2", by="user"),
        ReconcileStarted(point=Point.parse("reconcile bucket default/a#1"), controller="bucket", request="default/a"),
        ReconcileStarted(point=Point.parse("reconcile node b#1"), controller="node", request="b"),
        steps=[{"buckets default/a": obj_of("1"), "nodes b": obj_of("2")}],
    )
    assert [each.fault.argument for each in meddlings(run)] == ["buckets default/a", "nodes b"]


def test_stable_id() -> None:
    """An object is known by the prefix of its name if the server generated it."""
    target = ObjectId("pods", "default", "web-x1")
    assert str(stable_id(target, obj_of("1", generated="web-"))) == "pods default/web-*"
    assert stable_id(target, obj_of("1")) == target


def test_unknown_family() -> None:
    """A family that does not exist is refused, with the known ones."""
    with pytest.raises(ValueError, match="expected families among crash, .*; got crashes"):
        systematic(run_of([]), families=["crashes"])
