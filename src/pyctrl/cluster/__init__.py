"""A Kubernetes cluster in this process: the API server plus the controllers that a cluster has.

Each controller is an ordinary pyctrl `Reconciler` over the client's transport seam, so the same ones also run against
a real API server, where `add_controllers`, `add_kubelet` and `add_volumes` stand in for what is missing there.
"""

from pyctrl.cluster._cluster import Cluster, add_controllers, serving_cluster
from pyctrl.cluster._kubelet.kubelet import add_kubelet
from pyctrl.cluster._kubelet.options import Kubelet
from pyctrl.cluster._kubelet.scripts import Script
from pyctrl.cluster._provisioner import add_volumes

__all__ = ["Cluster", "Kubelet", "Script", "add_controllers", "add_kubelet", "add_volumes", "serving_cluster"]
