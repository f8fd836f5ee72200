"""The doctor: what is wrong with roles and bindings, why it does not do what was meant, and what mends it.

`diagnose` looks at objects as they are on the wire, from files or a cluster, and gives a `Diagnosis`. Nothing is asked
of a server, and nothing is changed.
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
    """Examine roles, bindings, service accounts, workloads and definitions.

    Args:
        objects: as they are on the wire, each with where it was read: a file, or "" for the cluster.
        account: look only at what concerns this service account.
        namespace: of objects that name none.
        complete: the kinds of which all objects are given, each with the namespaces of which they are, "" is all.
            What is not given of them does not exist; of other kinds it may. None for files.
        served: the resources that the cluster serves, all of them; without, those of Kubernetes 1.36 and of the
            definitions among the objects.
        granted: what a program needs; compared with what ``account`` holds, which must be given then.
    """
    from pyctrl.rbac._doctor.diagnosis import examine  # here: every operator imports this room, and few a doctor

    return examine(objects, account=account, namespace=namespace, complete=complete, served=served, granted=granted)
