"""Decisions of the DaemonSet controller over nodes and pods."""

from __future__ import annotations

from pyctrl.api import ObjectMeta
from pyctrl.cluster._controllers.daemonset.plan import DaemonSetPlan
from pyctrl.kinds.apps.v1 import (
    DaemonSetUpdateStrategy,
)
from pyctrl.kinds.core.v1 import Pod, PodCondition, PodSpec, PodStatus
from tests.unit.cluster._daemonsets import daemon_set, node, rolling

NODES = ("a", "b", "c")


def running(name: str, on: str, image_hash: str, *, is_ready: bool = True) -> Pod:
    """Make a pod on a node."""
    conditions = [PodCondition(type="Ready", status="True" if is_ready else "False")]
    return Pod(
        metadata=ObjectMeta(name=name, labels={"controller-revision-hash": image_hash}),
        spec=PodSpec(node_name=on),
        status=PodStatus(phase="Running", conditions=conditions),
    )


def plan(strategy: DaemonSetUpdateStrategy, *pods: Pod) -> DaemonSetPlan:
    """Return the plan for three nodes with these pods; the current template has the hash ``new``."""
    return DaemonSetPlan(daemon_set(strategy), [node(name) for name in NODES], pods, "new")


def names(pods: list[Pod]) -> list[str]:
    """Return the names of pods."""
    return [pod.metadata.name for pod in pods]


def test_unavailable_old_pods_go_whatever_the_limit() -> None:
    """Unavailable old pods are deleted regardless of maxUnavailable."""
    actions = plan(rolling(), running("1", "a", "old"), running("2", "b", "old", is_ready=False)).rolling_update()
    assert names(actions.delete) == ["2"]


def test_the_oldest_of_two_stays() -> None:
    """Of two pods on a node, the newer one is deleted."""
    actions = plan(rolling(), running("1", "a", "new"), running("2", "a", "new")).manage()
    assert (names(actions.delete), sorted(actions.create)) == (["2"], ["b", "c"])


def test_while_surging_one_of_each_template_may_stay() -> None:
    """The old pod is deleted when the new one is available or the old one is not ready."""
    old, new = running("1", "a", "old"), running("2", "a", "new", is_ready=False)
    strategy = rolling(surge=1, unavailable=0)
    assert plan(strategy, old, new).manage().delete == []
    assert names(plan(strategy, old, running("2", "a", "new")).manage().delete) == ["1"]
    assert names(plan(strategy, running("1", "a", "old", is_ready=False), new).manage().delete) == ["1"]


def test_pods_of_nodes_that_are_gone_go_when_they_never_got_there() -> None:
    """Unbound pods of a deleted node are deleted; the pod garbage collector deletes bound ones."""
    waiting = running("1", "", "new")
    waiting.spec = PodSpec.from_wire(
        {
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["gone"]}]}
                        ]
                    }
                }
            }
        }
    )
    assert names(plan(rolling(), waiting, running("2", "lost", "new")).manage().delete) == ["1"]
