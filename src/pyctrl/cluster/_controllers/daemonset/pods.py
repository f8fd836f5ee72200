"""Pods of a DaemonSet: their target nodes, the eligibility of nodes, and new pods.

The rules are those of kube-controller-manager's daemonset_util.go (pkg/controller/daemon/util).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from pyctrl.api import is_deleting
from pyctrl.cluster._controllers.pod_control import pod_from_template
from pyctrl.cluster._taints_and_affinity import matches_node, untolerated_taints
from pyctrl.kinds.apps.v1 import DaemonSet
from pyctrl.kinds.core.v1 import (
    Affinity,
    Node,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Pod,
    Toleration,
)

__all__ = ["HASH_LABEL", "NodeFit", "is_pod_updated", "new_daemon_pod", "node_should_run_daemon_pod", "pods_by_node"]

HASH_LABEL, GENERATION_LABEL = "controller-revision-hash", "pod-template-generation"
#: The annotation in which the API server counts template changes.
TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"

#: The taints that daemon pods tolerate: they also run on nodes with problems.
_TOLERATED: Final = (
    ("not-ready", "NoExecute"),
    ("unreachable", "NoExecute"),
    ("disk-pressure", "NoSchedule"),
    ("memory-pressure", "NoSchedule"),
    ("pid-pressure", "NoSchedule"),
    ("unschedulable", "NoSchedule"),
)


@dataclass(frozen=True, slots=True)
class NodeFit:
    """The eligibility of a node for a DaemonSet."""

    #: The node should run a pod.
    should_run: bool
    #: An existing pod may continue: the node has got only NoSchedule taints since.
    should_continue_running: bool


def node_should_run_daemon_pod(daemon_set: DaemonSet, node: Node) -> NodeFit:
    """Return whether a node should run a pod of a DaemonSet."""
    template = daemon_set.spec.template.spec
    pod = Pod(spec=template)
    if template.node_name not in (None, "", node.metadata.name) or not matches_node(pod, node):
        return NodeFit(False, False)
    tolerations = _tolerations(daemon_set)
    if untolerated_taints(node.spec.taints, tolerations, ("NoSchedule", "NoExecute")):
        return NodeFit(False, not untolerated_taints(node.spec.taints, tolerations, ("NoExecute",)))
    return NodeFit(True, True)


def _tolerations(daemon_set: DaemonSet) -> list[Toleration]:
    spec = daemon_set.spec.template.spec
    own = [("network-unavailable", "NoSchedule")] if spec.host_network else []
    added = [
        Toleration(key=f"node.kubernetes.io/{name}", operator="Exists", effect=effect)
        for name, effect in (*_TOLERATED, *own)
    ]
    present = [toleration for toleration in spec.tolerations if toleration not in added]
    return [*present, *added]


def target_node_name(pod: Pod) -> str:
    """Return the node that a pod is bound to or, before that, pinned to by affinity; "" for none."""
    if pod.spec.node_name:
        return pod.spec.node_name
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity is not None else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity is not None else None
    for term in required.node_selector_terms if required is not None else ():
        for field in term.match_fields:
            if field.key == "metadata.name" and field.operator == "In" and field.values:
                return field.values[0]
    return ""


def pods_by_node(pods: Iterable[Pod]) -> dict[str, list[Pod]]:
    """Group pods by node, oldest first, without finished pods that are being deleted."""
    sorted_pods: dict[str, list[Pod]] = defaultdict(list)
    for pod in sorted(pods, key=lambda pod: (str(pod.metadata.creation_timestamp), pod.metadata.name)):
        if not (is_deleting(pod) and pod.status.phase in ("Succeeded", "Failed")):
            sorted_pods[target_node_name(pod)].append(pod)
    return dict(sorted_pods)


def is_pod_updated(pod: Pod, daemon_set: DaemonSet, hashed: str) -> bool:
    """Return whether a pod has the current template."""
    labels, generation = pod.metadata.labels, daemon_set.metadata.annotations.get(TEMPLATE_GENERATION)
    return labels.get(HASH_LABEL) == hashed or (generation is not None and labels.get(GENERATION_LABEL) == generation)


def new_daemon_pod(daemon_set: DaemonSet, node: str, hashed: str) -> Pod:
    """Return the pod of a node, ready to be created, pinned to the node by affinity."""
    pod = pod_from_template(daemon_set.spec.template, daemon_set)
    generation = daemon_set.metadata.annotations.get(TEMPLATE_GENERATION)
    pod.metadata.labels |= {HASH_LABEL: hashed, **({GENERATION_LABEL: generation} if generation else {})}
    spec = pod.spec = daemon_set.spec.template.spec.deep_copy()
    spec.tolerations = _tolerations(daemon_set)
    field = NodeSelectorRequirement(key="metadata.name", operator="In", values=[node])
    affinity = spec.affinity = spec.affinity or Affinity()
    affinity.node_affinity = affinity.node_affinity or NodeAffinity()
    affinity.node_affinity.required_during_scheduling_ignored_during_execution = NodeSelector(
        node_selector_terms=[NodeSelectorTerm(match_fields=[field])]
    )
    return pod
