"""Helpers of the tests of DaemonSets."""

from __future__ import annotations

from typing import Any

from pyctrl.api import ObjectMeta
from pyctrl.kinds.apps.v1 import (
    DaemonSet,
    DaemonSetSpec,
    DaemonSetUpdateStrategy,
    RollingUpdateDaemonSet,
)
from pyctrl.kinds.core.v1 import Node, NodeSpec, Taint
from pyctrl.kinds.meta.v1 import LabelSelector
from tests.unit.cluster._workloads import (
    LABELS,
    NAMESPACE,
    key,
    template,
)

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
