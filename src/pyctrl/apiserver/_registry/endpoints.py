"""Endpoints and EndpointSlices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from pyctrl._lazy_imports import lazy_function
from pyctrl.apiserver._meta.validation import MetadataCheck
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.strategy import Object, Strategy
from pyctrl.apiserver._registry.table_cells import UNSET, Cells, first_few
from pyctrl.apiserver._schema.defaulting import set_defaults

if TYPE_CHECKING:
    from pyctrl.apiserver._registry._pods.warnings import ip_warnings
    from pyctrl.apiserver._registry.endpoint_validation import validate_endpoint_slice, validate_endpoints
else:  # imported with the first object
    ip_warnings = lazy_function("pyctrl.apiserver._registry._pods.warnings", "ip_warnings")
    validate_endpoint_slice = lazy_function("pyctrl.apiserver._registry.endpoint_validation", "validate_endpoint_slice")
    validate_endpoints = lazy_function("pyctrl.apiserver._registry.endpoint_validation", "validate_endpoints")

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
        port.setdefault("protocol", "TCP")


def _drop_topology(new: Object, old: Object | None) -> None:
    """Drop what only v1beta1 has, unless the endpoints stay as they are."""
    endpoints = new.get("endpoints") or ()
    if old is None or endpoints != (old.get("endpoints") or ()):
        for each in endpoints:
            each.pop("deprecatedTopology", None)


def _slice_warnings(new: Object) -> Iterator[str]:
    """Warn about domain names as addresses, and about addresses that are written unusually."""
    if new.get("addressType") == "FQDN":
        yield "spec.addressType: FQDN endpoints are deprecated"
        return
    for index, endpoint in enumerate(new.get("endpoints") or ()):
        for number, each in enumerate(endpoint.get("addresses") or ()):
            yield from ip_warnings(each, f"endpoints[{index}].addresses[{number}]")


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
        storage_prefix="services/endpoints",
        strategy=Strategy(
            on_update=(MetadataCheck.CHANGE, MetadataCheck.WHOLE),
            allows_create_on_update=True,
            defaults=(_default_endpoints,),
            validates=(validate_endpoints,),
        ),
        cells=_endpoints_cells,
        deprecation="v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
    ),
    BuiltinResource(
        group="discovery.k8s.io",
        kind="EndpointSlice",
        strategy=Strategy(
            has_generation=True,
            on_update=(MetadataCheck.WHOLE,),
            defaults=(_default_endpoint_slice,),
            validates=(validate_endpoint_slice,),
            generation_metadata=("labels",),
            drops=(_drop_topology,),
            warns=_slice_warnings,
            warns_on_update=lambda new, _old: new.get("addressType") != "FQDN",
        ),
        cells=_endpoint_slice_cells,
    ),
)
