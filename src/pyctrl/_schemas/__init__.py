"""The OpenAPI schemas, the discovery documents and the table columns of Kubernetes 1.36, as data of the package.

Read from a running kube-apiserver. `pyctrl.kinds` is generated from them; the embedded API server serves and validates
by them. The descriptions of types and fields are a file of their own, written by `tools/generate_descriptions.py`, so
that only a program that shows them reads them. They are Kubernetes' own texts: Copyright The Kubernetes Authors,
licensed under the Apache License, Version 2.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from pkgutil import get_data
from typing import Any

import msgspec

__all__ = ["GROUP_VERSIONS", "Descriptions", "descriptions", "load", "read_file"]

#: Texts by the name of their definition, then by field on the wire. "" is the definition itself.
Descriptions = Mapping[str, Mapping[str, str]]

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
    document: dict[str, Any] = msgspec.json.decode(read_file(f"{name}.json"))
    return document


def descriptions() -> Descriptions:
    """Read the descriptions of all types and fields: 0.7 MB, in 4 ms. A caller that needs them again keeps them."""
    import gzip  # only programs that show descriptions need it

    found: Descriptions = msgspec.json.decode(gzip.decompress(read_file("descriptions.json.gz")))["definitions"]
    return found


def read_file(name: str) -> bytes:
    """Read a file of the package. `importlib.resources` imports ten times as much as `pkgutil`."""
    data = get_data(__name__, name)
    assert data is not None  # the package has a loader that reads files
    return data
