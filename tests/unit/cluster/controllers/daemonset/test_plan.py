"""Decisions of the DaemonSet controller over nodes and pods."""

from __future__ import annotations

from typing import Any

from pyctrl.api import ObjectMeta
from pyctrl.cluster._controllers.daemonset.plan import DaemonSetPlan
from pyctrl.kinds.apps.v1 import (
    DaemonSet,
    DaemonSetSpec,
    DaemonSetUpdateStrategy,
    RollingUpdateDaemonSet,
)
from pyctrl.kinds.core.v1 import Node, NodeSpec, Pod, PodCondition, PodSpec, PodStatus, Taint
from pyctrl.kinds.meta.v1 import LabelSelector
from tests.unit.cluster._workloads import (
    LABELS,
    NAMESPACE,
    key,
    template,
)

NODES = ("a", "b", "c")


AGENT = key("agent")


def node(name: str, *taints: Taint, **labels: str) -> Node:
    """Make a node."""
    return Node(metadata=ObjectMeta(name=name, labels=labels), spec=NodeSpec(taints=list(taints)))


def daemon_set(strategy: DaemonSetUpdateStrategy | None = None, **spec: Any) -> DaemonSet:
    """Make a DaemonSet; ``spec`` is that of its pods."""
    made = DaemonSetSpec(
        selector=LabelSelector(match_labels=LABELS),
        template=template(**spec),
        update_strategy=strategy or DaemonSetUpdateStrategy(),
    )
    return DaemonSet(metadata=ObjectMeta(name=AGENT.name, namespace=NAMESPACE), spec=made)


def rolling(*, surge: int | str = 0, unavailable: int | str = 1) -> DaemonSetUpdateStrategy:
    """Make an update strategy."""
    limits = RollingUpdateDaemonSet(max_surge=surge, max_unavailable=unavailable)
    return DaemonSetUpdateStrategy(type="RollingUpdate", rolling_update=limits)


def running(name: str, on: str, image_hash: str, *, is_ready: bool = True) -> Pod:
    """Make a pod on a node."""
    conditions = [PodCondition(type="Ready", status="True" if is_ready else "False")]
    return Pod(
        metadata=ObjectMeta(name=name, labels={"controller-revision-hash": image_hash}),
        spec=PodSpec(node_name=on),
        status=PodStatus(phase="Running", conditions=conditions),
    )


def plan(strategy: DaemonSetUpdateStrategy, *pods: Pod) -> DaemonSetPlan:
    """Look at three nodes with these pods; the present template has the hash ``new``."""
    return DaemonSetPlan(daemon_set(strategy), [node(name) for name in NODES], pods, "new")


def names(pods: list[Pod]) -> list[str]:
    """Return the names of pods."""
    return [pod.metadata.name for pod in pods]


def test_unavailable_old_pods_go_whatever_the_limit() -> None:
    """They serve nobody, and count as missing already."""
    actions = plan(rolling(), running("1", "a", "old"), running("2", "b", "old", is_ready=False)).rolling_update()
    assert names(actions.delete) == ["2"]


def test_the_oldest_of_two_stays() -> None:
    """A node with two pods keeps one."""
    actions = plan(rolling(), running("1", "a", "new"), running("2", "a", "new")).manage()
    assert (names(actions.delete), sorted(actions.create)) == (["2"], ["b", "c"])


def test_while_surging_one_of_each_template_may_stay() -> None:
    """The old one goes when the new one is available, or when it is not ready itself."""
    old, new = running("1", "a", "old"), running("2", "a", "new", is_ready=False)
    strategy = rolling(surge=1, unavailable=0)
    assert plan(strategy, old, new).manage().delete == []
    assert names(plan(strategy, old, running("2", "a", "new")).manage().delete) == ["1"]
    assert names(plan(strategy, running("1", "a", "old", is_ready=False), new).manage().delete) == ["1"]


def test_pods_of_nodes_that_are_gone_go_when_they_never_got_there() -> None:
    """A pod that waits for a node that was deleted would wait for ever; what was on it is the pod collector's."""
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
