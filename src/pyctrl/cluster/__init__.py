"""A Kubernetes cluster in this process: the API server and the controllers of a control plane.

Each controller is an ordinary pyctrl `Reconciler` that uses the client's transport, so it also runs against a real API
server, where `add_controllers`, `add_kubelet` and `add_volumes` add the parts that are missing there.
"""

from pyctrl.cluster._cluster import Cluster, serving_cluster
from pyctrl.cluster._controller_manager import ControllerName, add_controllers
from pyctrl.cluster._kubelet.host_process import host_process, host_script
from pyctrl.cluster._kubelet.kubelet import add_kubelet
from pyctrl.cluster._kubelet.options import Kubelet
from pyctrl.cluster._kubelet.pod_sessions import PodSession
from pyctrl.cluster._kubelet.scripts import (
    ContainerOutput,
    ExecFunction,
    ExecProcess,
    LogFunction,
    OutputStream,
    PortFunction,
    Script,
    ScriptFunction,
)
from pyctrl.cluster._provisioner import add_volumes

__all__ = [
    "Cluster",
    "ContainerOutput",
    "ControllerName",
    "ExecFunction",
    "ExecProcess",
    "Kubelet",
    "LogFunction",
    "OutputStream",
    "PodSession",
    "PortFunction",
    "Script",
    "ScriptFunction",
    "add_controllers",
    "add_kubelet",
    "add_volumes",
    "host_process",
    "host_script",
    "serving_cluster",
]
