"""Target nodes, eligible nodes and new pods of a DaemonSet."""

from __future__ import annotations

import pytest

from pyctrl.cluster._controllers.daemonset.pods import (
    HASH_LABEL,
    NodeFit,
    is_pod_updated,
    new_daemon_pod,
    node_should_run_daemon_pod,
    pods_by_node,
    target_node_name,
)
from pyctrl.kinds.core.v1 import Taint
from tests.unit.cluster._daemonsets import daemon_set, node


@pytest.mark.parametrize(
    ("taint", "fit"),
    [
        (Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule"), NodeFit(True, True)),
        (Taint(key="node.kubernetes.io/not-ready", effect="NoExecute"), NodeFit(True, True)),
        (Taint(key="k", effect="NoSchedule"), NodeFit(False, True)),
        (Taint(key="k", effect="NoExecute"), NodeFit(False, False)),
        (Taint(key="k", effect="PreferNoSchedule"), NodeFit(True, True)),
    ],
)
def test_taints_decide_where_pods_run(taint: Taint, fit: NodeFit) -> None:
    """Daemon pods tolerate problems of nodes; NoSchedule lets existing pods run."""
    assert node_should_run_daemon_pod(daemon_set(), node("a", taint)) == fit


def test_a_node_that_the_template_does_not_select() -> None:
    """A node that the template's nodeSelector excludes admits no new pods and keeps no existing ones."""
    selecting = daemon_set(node_selector={"disk": "ssd"})
    assert node_should_run_daemon_pod(selecting, node("a", disk="ssd")) == NodeFit(True, True)
    assert node_should_run_daemon_pod(selecting, node("a", disk="hdd")) == NodeFit(False, False)


def test_a_new_pod_is_pinned_to_its_node() -> None:
    """A new pod has its target node before the scheduler binds it."""
    owner = daemon_set()
    owner.metadata.uid = "u"
    made = new_daemon_pod(owner, "b", "h")
    assert (target_node_name(made), made.spec.node_name, made.metadata.labels[HASH_LABEL]) == ("b", None, "h")
    assert (is_pod_updated(made, owner, "h"), is_pod_updated(made, owner, "i")) == (True, False)
    assert pods_by_node([made]) == {"b": [made]}
