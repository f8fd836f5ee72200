"""A Kubernetes cluster in this process: the API server plus the controllers that a cluster has.

Each controller is an ordinary pyctrl `Reconciler` over the client's transport seam, so the same ones also run against
a real API server, where `add_controllers`, `add_kubelet` and `add_volumes` stand in for what is missing there.
"""

from pyctrl.cluster._cluster import Cluster, add_controllers
from pyctrl.cluster._kubelet import add_kubelet
from pyctrl.cluster._kubelet_options import Kubelet
from pyctrl.cluster._provisioner import add_volumes
from pyctrl.cluster._scripts import Script
from pyctrl.cluster._thread import serving_cluster

__all__ = ["Cluster", "Kubelet", "Script", "add_controllers", "add_kubelet", "add_volumes", "serving_cluster"]
