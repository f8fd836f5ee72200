# Written by tools/generate_kinds.py from pyctrl/_schemas; change the generator, not this file.
"""The kinds of node/v1 and their parts."""

from pydantic import Field

from pyctrl.api import Quantity
from pyctrl.kinds._builtin import Kind, Part
from pyctrl.kinds.core.v1 import Toleration

__all__ = ["Overhead", "RuntimeClass", "Scheduling"]


class Overhead(Part):
    """Overhead structure represents the resource overhead associated with running a pod."""

    pod_fixed: dict[str, Quantity] = Field(default_factory=dict)
    """podFixed represents the fixed resource overhead associated with running a pod."""


class Scheduling(Part):
    """Scheduling specifies the scheduling constraints for nodes supporting a RuntimeClass."""

    node_selector: dict[str, str] = Field(default_factory=dict)
    """nodeSelector lists labels that must be present on nodes that support this RuntimeClass. Pods using this
    RuntimeClass can only be scheduled to a node matched by this selector. The RuntimeClass nodeSelector is merged
    with a pod's existing nodeSelector. Any conflicts will cause the pod to be rejected in admission.
    """
    tolerations: list[Toleration] = Field(default_factory=list)
    """tolerations are appended (excluding duplicates) to pods running with this RuntimeClass during admission,
    effectively unioning the set of nodes tolerated by the pod and the RuntimeClass.
    """


class RuntimeClass(Kind, group="node.k8s.io", version="v1", plural="runtimeclasses", scope="Cluster"):
    """RuntimeClass defines a class of container runtime supported in the cluster. The RuntimeClass is used to
    determine which container runtime is used to run all containers in a pod. RuntimeClasses are manually defined
    by a user or cluster provisioner, and referenced in the PodSpec. The Kubelet is responsible for resolving the
    RuntimeClassName reference before running the pod.  For more details, see
    https://kubernetes.io/docs/concepts/containers/runtime-class/
    """

    handler: str = ""
    """handler specifies the underlying runtime and configuration that the CRI implementation will use to handle pods
    of this class. The possible values are specific to the node & CRI configuration.  It is assumed that all
    handlers are available on every node, and handlers of the same name are equivalent on every node. For example,
    a handler called "runc" might specify that the runc OCI runtime (using native Linux containers) will be used
    to run the containers in a pod. The Handler must be lowercase, conform to the DNS Label (RFC 1123)
    requirements, and is immutable.
    """
    overhead: Overhead | None = None
    """overhead represents the resource overhead associated with running a pod for a given RuntimeClass. For more
    details, see
     https://kubernetes.io/docs/concepts/scheduling-eviction/pod-overhead/
    """
    scheduling: Scheduling | None = None
    """scheduling holds the scheduling constraints to ensure that pods running with this RuntimeClass are scheduled
    to nodes that support it. If scheduling is nil, this RuntimeClass is assumed to be supported by all nodes.
    """
