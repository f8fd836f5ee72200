"""Endpoints and EndpointSlices."""

from __future__ import annotations

from typing import Final

from pyctrl.apiserver._meta.validation import MetadataCheck
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.strategy import Object, Strategy
from pyctrl.apiserver._registry.table_cells import UNSET, Cells, first_few
from pyctrl.apiserver._schema.defaulting import set_defaults

__all__ = ["RESOURCES"]


def _default_endpoints(obj: Object) -> None:
    """Default ports to TCP."""
    for subset in obj.get("subsets") or ():
        for port in subset.get("ports") or ():
            set_defaults(port, protocol="TCP")


def _default_endpoint_slice(obj: Object) -> None:
    """Default ports to TCP and an empty name."""
    for port in obj.get("ports") or ():
        port.setdefault("name", "")
        set_defaults(port, protocol="TCP")


_NO_PORT: Final[tuple[Object, ...]] = ({},)  # of headless services


def _endpoints_cells(obj: Object) -> Cells:
    subsets = obj.get("subsets") or ()
    found = [
        _with_port(address.get("ip", ""), port.get("port"))
        for subset in subsets
        for port in subset.get("ports") or _NO_PORT
        for address in subset.get("addresses") or ()
    ]
    return {"Endpoints": first_few(found) if found or not subsets else ""}


def _with_port(address: str, port: int | None) -> str:
    host = f"[{address}]" if ":" in address and port is not None else address
    return host if port is None else f"{host}:{port}"


def _endpoint_slice_cells(obj: Object) -> Cells:
    ports = [str(each.get("port") or each.get("name", "*")) for each in obj.get("ports") or ()]
    addresses = [address for each in obj.get("endpoints") or () for address in each.get("addresses") or ()]
    return {
        "AddressType": obj.get("addressType", ""),
        "Ports": (first_few(ports) if ports else "") or UNSET,
        "Endpoints": first_few(addresses) if addresses else UNSET,
    }


RESOURCES: Final = (
    BuiltinResource(
        group="",
        kind="Endpoints",
        strategy=Strategy(
            on_update=(MetadataCheck.CHANGE, MetadataCheck.WHOLE),
            allows_create_on_update=True,
            defaults=(_default_endpoints,),
        ),
        cells=_endpoints_cells,
        deprecation="v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
    ),
    BuiltinResource(
        group="discovery.k8s.io",
        kind="EndpointSlice",
        strategy=Strategy(has_generation=True, on_update=(MetadataCheck.WHOLE,), defaults=(_default_endpoint_slice,)),
        cells=_endpoint_slice_cells,
    ),
)
