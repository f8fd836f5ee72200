"""Objects that the server writes itself: stored as kube-apiserver's own client would leave them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyctrl.apiserver._meta.system_fields import fill_system_fields, timestamp

if TYPE_CHECKING:
    from pyctrl.apiserver._endpoints.backend import RESTStorage
    from pyctrl.apiserver._resources.resource_type import ResourceType

__all__ = ["managed_by", "put_new_object"]


def put_new_object(
    backend: RESTStorage, resource: ResourceType, obj: dict[str, Any], *, managers: list[dict[str, Any]]
) -> None:
    """Store a new object with its system fields and managers, without admission and defaults."""
    metadata = obj["metadata"]
    fill_system_fields(metadata, backend.random)
    if resource.has_generation:
        metadata["generation"] = 1
    metadata["managedFields"] = managers
    backend.put(obj, resource)


def managed_by(
    manager: str, api_version: str, fields: dict[str, Any], *, operation: str = "Update", subresource: str = ""
) -> dict[str, Any]:
    """Return an entry of `managedFields` as of now."""
    entry: dict[str, Any] = {
        "manager": manager,
        "operation": operation,
        "apiVersion": api_version,
        "time": timestamp(),
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
    }
    return {**entry, "subresource": subresource} if subresource else entry
