"""Diagnosis of roles and bindings: what is wrong, why, and how to fix it.

`diagnose` takes objects in their JSON form, from files or a cluster, and returns a `Diagnosis`. It sends no requests
and changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pyctrl.api import Key
from pyctrl.rbac._doctor.findings import BoundRole, Diagnosis, Finding, ObjectRef, RequiredRule, Severity
from pyctrl.rbac._doctor.plaintext_tokens import find_tokens
from pyctrl.rbac._doctor.served_resources import ServedResource
from pyctrl.rbac._grants import Grants

__all__ = [
    "BoundRole",
    "Diagnosis",
    "Finding",
    "ObjectRef",
    "RequiredRule",
    "ServedResource",
    "Severity",
    "diagnose",
    "find_tokens",
]


def diagnose(
    objects: Iterable[tuple[Mapping[str, Any], str]],
    *,
    account: Key | None = None,
    namespace: str = "default",
    complete: Mapping[str, frozenset[str]] | None = None,
    served: Iterable[ServedResource] | None = None,
    granted: Grants | None = None,
) -> Diagnosis:
    """Check roles, bindings, service accounts, workloads and CustomResourceDefinitions.

    Args:
        objects: the objects in their JSON form, each with its source: a file, or "" for the cluster.
        account: report only findings about this service account.
        namespace: the namespace of objects that name none.
        complete: the kinds of which all objects are given, each with its namespaces; "" is all namespaces. An object of
            these kinds that is not given does not exist; one of another kind may exist. None for files.
        served: all resources that the cluster serves; by default those of Kubernetes 1.36 and of the given
            CustomResourceDefinitions.
        granted: the permissions that a program needs, to be compared with those of ``account``, which is required then.
    """
    from pyctrl.rbac._doctor.diagnosis import examine  # lazy: every operator imports this package, few use the doctor

    return examine(objects, account=account, namespace=namespace, complete=complete, served=served, granted=granted)
