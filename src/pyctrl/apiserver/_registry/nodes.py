"""Nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from pyctrl._go.text import shown_value
from pyctrl._lazy_imports import lazy_function
from pyctrl._validation import names
from pyctrl.apiserver._errors import FieldError, field_forbidden, invalid_value, required
from pyctrl.apiserver._meta.validation import MetadataCheck
from pyctrl.apiserver._registry._proxy.handler import NodeProxyREST
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.field_validation import invalid_name, network, text_of
from pyctrl.apiserver._registry.strategy import Object, Strategy, fields_at
from pyctrl.apiserver._registry.table_cells import NONE, Cells, spec_of, status_of
from pyctrl.apiserver._schema.schema import JSON

if TYPE_CHECKING:
    from pyctrl.apiserver._registry._pods.resources import resource_quantity
    from pyctrl.apiserver._registry._pods.scheduling import taint_effect
else:  # imported with the first object
    resource_quantity = lazy_function("pyctrl.apiserver._registry._pods.resources", "resource_quantity")
    taint_effect = lazy_function("pyctrl.apiserver._registry._pods.scheduling", "taint_effect")

__all__ = ["RESOURCES"]

_ROLE = "node-role.kubernetes.io/"


def _node_cells(obj: Object) -> Cells:
    spec, status, labels = spec_of(obj), status_of(obj), obj["metadata"].get("labels") or {}
    info = status.get("nodeInfo") or {}
    addresses = {each["type"]: each["address"] for each in reversed(status.get("addresses") or ())}  # the first counts
    ready = next((each for each in status.get("conditions") or () if each["type"] == "Ready"), None)
    words = "Unknown" if ready is None else "Ready" if ready["status"] == "True" else "NotReady"
    architecture = f" ({info['architecture']})" if info.get("architecture") else ""
    return {
        "Status": f"{words},SchedulingDisabled" if spec.get("unschedulable") else words,
        "Roles": ",".join(sorted(_roles(labels))) or NONE,
        "Version": info.get("kubeletVersion", ""),
        "Internal-IP": addresses.get("InternalIP", NONE),
        "External-IP": addresses.get("ExternalIP", NONE),
        "OS-Image": info.get("osImage") or "<unknown>",
        "Kernel-Version": f"{info.get('kernelVersion') or '<unknown>'}{architecture}",
        "Container-Runtime": info.get("containerRuntimeVersion") or "<unknown>",
    }


def _roles(labels: Mapping[str, str]) -> set[str]:
    """Return the roles that the labels of a node name, in their keys or, in the older form, as a value."""
    roles = {key.removeprefix(_ROLE) for key in labels if key.startswith(_ROLE) and key != _ROLE}
    return roles | {value for key, value in labels.items() if key == "kubernetes.io/role" and value}


def _drop_status_config(new: Object, old: Object | None) -> None:
    """Drop the configuration of the kubelet, which Kubernetes has removed, unless the node has it already."""
    if "status" in new and not (old or {}).get("status", {}).get("config"):
        new["status"].pop("config", None)


def _validate_node(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check a node; its CIDRs and its provider's id do not change."""
    yield from _checked(new)
    yield from _cidrs(new["spec"].get("podCIDRs") or [])
    if old is None:
        return
    spec, before = new["spec"], old["spec"]
    was, now = before.get("podCIDRs") or [], spec.get("podCIDRs") or []
    yield from _resources(new.get("status") or {})
    why = 'node updates may not change podCIDR except from "" to valid'
    if was and len(was) != len(now):
        yield field_forbidden("spec.podCIDRs", why)
    elif was:
        yield from (field_forbidden("spec.podCIDRs", why) for a, b in zip(was, now, strict=True) if a != b)
    if before.get("providerID") and before["providerID"] != spec.get("providerID"):
        why = 'node updates may not change providerID except from "" to valid'
        yield field_forbidden("spec.providerID", why)
    yield from _taints(spec.get("taints") or ())
    if spec.get("externalID", "") != before.get("externalID", ""):
        yield field_forbidden("spec.externalID", "may not be updated")


def _checked(node: Object) -> Iterator[FieldError]:
    yield from _taints(node["spec"].get("taints") or ())
    yield from _resources(node.get("status") or {})


def _taints(taints: Sequence[Mapping[str, JSON]]) -> Iterator[FieldError]:
    seen: set[tuple[str, str]] = set()
    for index, taint in enumerate(taints):
        key, value, effect = (text_of(taint, each) for each in ("key", "value", "effect"))
        path = f"metadata.taints[{index}]"
        yield from invalid_name(names.qualified_name, key, f"{path}.key")
        if found := names.label_value(value):
            yield invalid_value(f"{path}.value", value, ";".join(found))
        if effect:
            yield from taint_effect(effect, f"{path}.effect")
        else:
            yield required(f"{path}.effect")
        if (key, effect) in seen:
            shown = shown_value({"Key": key, "Value": value, "Effect": effect, "TimeAdded": taint.get("timeAdded")})
            why = f"Duplicate value: {shown}: taints must be unique by key and effect pair"
            yield FieldError("FieldValueDuplicate", why, path)
        seen.add((key, effect))


def _resources(status: Mapping[str, JSON]) -> Iterator[FieldError]:
    for part in ("capacity", "allocatable"):
        for name, quantity in (status.get(part) or {}).items():
            yield from resource_quantity(name, quantity, f"status.{part}.{name}")


def _cidrs(cidrs: Sequence[str]) -> Iterator[FieldError]:
    for index, each in enumerate(cidrs):
        yield from network(each, f"spec.podCIDRs[{index}]")
    if len(cidrs) > 1:
        wrong = next((index for index, each in enumerate(cidrs) if any(network(each, ""))), None)
        if wrong is not None:
            why = f"invalid CIDR[{wrong}]: <nil> (invalid CIDR address: {cidrs[wrong]})"
            text = f"Internal error: invalid PodCIDRs. failed to check with dual stack with error:{why}"
            yield FieldError("InternalError", text, "spec.podCIDRs")
        families = [":" in each for each in cidrs]
        if len(cidrs) > 2 or families[0] == families[1]:
            why = "may specify no more than one CIDR for each IP family"
            yield invalid_value("spec.podCIDRs", cidrs, why)


def _default_node(obj: Object) -> None:
    """Default to all of the capacity being allocatable, and make podCIDR the first of podCIDRs."""
    spec = obj["spec"]
    first = spec.get("podCIDR")
    if first and (spec.get("podCIDRs") or [None])[0] != first:
        spec["podCIDRs"] = [first]
    elif not first and spec.get("podCIDRs"):
        spec["podCIDR"] = spec["podCIDRs"][0]
    status = obj.get("status") or {}
    if status.get("capacity") and not status.get("allocatable"):
        status["allocatable"] = dict(status["capacity"])


def _warnings(new: Object) -> Iterator[str]:
    """Warn about fields that Kubernetes does not use any more, and about addresses that are written unusually."""
    spec = new["spec"]
    if spec.get("configSource") is not None:
        yield "spec.configSource: the feature is no longer supported"
    if spec.get("externalID"):
        yield "spec.externalID: this field is deprecated, and is unused by Kubernetes"


def _prepare_node(new: Object, old: Object | None) -> None:
    """Drop the configuration of the kubelet."""
    if old is None or old["spec"].get("configSource") is None:
        new["spec"].pop("configSource", None)


RESOURCES: Final = (
    BuiltinResource(
        group="",
        kind="Node",
        strategy=Strategy(
            on_update=(MetadataCheck.WHOLE, MetadataCheck.CHANGE),
            keeps_status_on_create=True,
            defaults=(_default_node,),
            prepares=(_prepare_node, _drop_status_config),
            validates=(_validate_node,),
            warns=_warnings,
            fields=fields_at("spec.unschedulable", zero="false"),
        ),
        cells=_node_cells,
        rest={"proxy": NodeProxyREST},
        storage_prefix="minions",
    ),
)
