"""The OpenAPI schemas, the discovery documents and the table columns of Kubernetes 1.36, as data of the package.

Read from a running kube-apiserver, descriptions left out. `pyctrl.kinds` is generated from them; the embedded API
server serves and validates by them.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import msgspec

__all__ = ["GROUP_VERSIONS", "load"]

#: The documents that hold the schemas of one group version each, by name: `GROUP_VERSION`, such as `apps_v1`.
GROUP_VERSIONS: tuple[str, ...] = (
    "admissionregistration.k8s.io_v1",
    "apiextensions.k8s.io_v1",
    "apiregistration.k8s.io_v1",
    "apps_v1",
    "authentication.k8s.io_v1",
    "authorization.k8s.io_v1",
    "autoscaling_v1",
    "autoscaling_v2",
    "batch_v1",
    "certificates.k8s.io_v1",
    "coordination.k8s.io_v1",
    "core_v1",
    "discovery.k8s.io_v1",
    "events.k8s.io_v1",
    "flowcontrol.apiserver.k8s.io_v1",
    "networking.k8s.io_v1",
    "node.k8s.io_v1",
    "policy_v1",
    "rbac.authorization.k8s.io_v1",
    "resource.k8s.io_v1",
    "scheduling.k8s.io_v1",
    "storage.k8s.io_v1",
)


def load(name: str) -> dict[str, Any]:
    """Read a document afresh, to keep and to change.

    A group version has `path` (`apis/apps/v1`) and `schemas` (by definition name). `discovery` has the aggregated
    discovery of `/api` and `/apis`, `tables` the columns of each resource by the path of its list,
    `protobuf` the messages of the built-in kinds (written by `tools/protobuf`).
    """
    document: dict[str, Any] = msgspec.json.decode(files(__name__).joinpath(f"{name}.json").read_bytes())
    return document
