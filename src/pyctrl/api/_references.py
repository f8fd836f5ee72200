"""References to objects, as events and claims hold them."""

from __future__ import annotations

from pyctrl.api._unstructured import Object

__all__ = ["reference_to"]


def reference_to(obj: Object) -> dict[str, str]:
    """Return an ObjectReference to an object: its kind, name and namespace, its uid and version if it has them."""
    meta = obj.metadata
    reference = {
        "kind": obj.kind,
        "namespace": meta.namespace,
        "name": meta.name,
        "uid": meta.uid,
        "apiVersion": obj.api_version,
        "resourceVersion": meta.resource_version,
    }
    return {field: value for field, value in reference.items() if value}
