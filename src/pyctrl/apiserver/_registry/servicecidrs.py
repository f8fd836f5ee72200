"""ServiceCIDRs and IPAddresses."""

from __future__ import annotations

from typing import Final

from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.strategy import Object
from pyctrl.apiserver._registry.table_cells import Cells, spec_of

__all__ = ["RESOURCES"]


def _service_cidr_cells(obj: Object) -> Cells:
    return {"CIDRs": ",".join(spec_of(obj).get("cidrs") or ())}


def _ip_address_cells(obj: Object) -> Cells:
    parent = spec_of(obj).get("parentRef") or {}
    kind = ".".join(part for part in (parent.get("resource"), parent.get("group")) if part)
    return {"ParentRef": "/".join(part for part in (kind, parent.get("namespace"), parent.get("name")) if part)}


RESOURCES: Final = (
    BuiltinResource(group="networking.k8s.io", kind="ServiceCIDR", cells=_service_cidr_cells),
    BuiltinResource(group="networking.k8s.io", kind="IPAddress", cells=_ip_address_cells),
)
