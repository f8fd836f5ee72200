"""Validation of the status of a pod, which kubelets write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from ipaddress import ip_address

from pyctrl._validation import names
from pyctrl.apiserver._errors import FieldError, duplicate, field_forbidden, invalid_value
from pyctrl.apiserver._registry._pods.container_status_validation import (
    validate_allocated_resources,
    validate_extended_claim,
    validate_state_changes,
)
from pyctrl.apiserver._registry.field_validation import address, invalid_name, is_address, text_of
from pyctrl.apiserver._registry.strategy import Object
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["validate_pod_status"]

_SYSTEM_CONDITIONS = frozenset(("PodScheduled", "Ready", "Initialized"))
_NEGATIVE = "must be a non-negative integer"
_PAIRS = ([4, 6], [6, 4])  # versions of addresses
_NO_PAIR = "may specify no more than one IP for each IP family"


def validate_pod_status(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check conditions, the nominated node, the quality of service, claims and addresses."""
    status, before = new.get("status") or {}, (old or {}).get("status") or {}
    yield from _conditions(status.get("conditions") or (), "status.conditions")
    yield from _nominated_node(status, before, new["spec"])
    if (generation := status.get("observedGeneration") or 0) < 0:
        yield invalid_value("status.observedGeneration", generation, _NEGATIVE)
    if (quality := text_of(status, "qosClass")) != text_of(before, "qosClass"):
        yield invalid_value("status.qosClass", quality, "field is immutable")
    yield from validate_state_changes(status, before, new["spec"])
    yield from _claims(status.get("resourceClaimStatuses") or (), new["spec"])
    yield from validate_extended_claim(status.get("extendedResourceClaimStatus"), new["spec"])
    yield from _addresses(status, before, "podIPs")
    host_addresses = status.get("hostIPs") or ()
    if host_addresses and text_of(host_addresses[0], "ip") != text_of(status, "hostIP"):
        yield invalid_value("status.hostIPs[0].ip", text_of(host_addresses[0], "ip"), "must be equal to `hostIP`")
    yield from _addresses(status, before, "hostIPs")
    yield from validate_allocated_resources(status, new["spec"])


def _conditions(conditions: Sequence[Mapping[str, JSON]], path: str) -> Iterator[FieldError]:
    for index, each in enumerate(conditions):
        if (generation := each.get("observedGeneration") or 0) < 0:
            yield invalid_value(f"{path}[{index}].observedGeneration", generation, _NEGATIVE)
        if (kind := text_of(each, "type")) not in _SYSTEM_CONDITIONS:
            yield from invalid_name(names.qualified_name, kind, f"{path}[{index}].Type")


def _nominated_node(
    status: Mapping[str, JSON], before: Mapping[str, JSON], spec: Mapping[str, JSON]
) -> Iterator[FieldError]:
    name, path = text_of(status, "nominatedNodeName"), "status.nominatedNodeName"
    if not name or name == text_of(before, "nominatedNodeName"):
        return
    yield from invalid_name(names.subdomain, name, path)
    if spec.get("nodeName"):
        yield field_forbidden(path, "may not be set on pods that are already bound to a node")


def _claims(statuses: Sequence[Mapping[str, JSON]], spec: Mapping[str, JSON]) -> Iterator[FieldError]:
    known = {text_of(each, "name") for each in spec.get("resourceClaims") or ()}
    seen: set[str] = set()
    for index, each in enumerate(statuses):
        path, name = f"status.resourceClaimStatuses[{index}]", text_of(each, "name")
        if name not in known:
            yield invalid_value(f"{path}.name", name, "must match the name of an entry in `spec.resourceClaims`")
        if name in seen:
            yield duplicate(f"{path}.name", name)
        seen.add(name)
        if (claim := each.get("resourceClaimName")) is not None:
            yield from invalid_name(names.subdomain, claim, f"{path}.resourceClaimName")


def _addresses(status: Mapping[str, JSON], before: Mapping[str, JSON], key: str) -> Iterator[FieldError]:
    """Check new addresses, and that there is at most one of each family."""
    given, path = status.get(key) or [], f"status.{key}"
    texts, known = [text_of(each, "ip") for each in given], [text_of(each, "ip") for each in before.get(key) or ()]
    for index, text in enumerate(texts):
        if text not in known:
            yield from address(text, f"{path}[{index}]")
    if not texts[1:]:
        return
    wrong = next((index for index, each in enumerate(texts) if not is_address(each)), None)
    if wrong is not None:
        why = f"failed to check for dual stack with error:invalid IP[{wrong}]: {texts[wrong]}"
        yield FieldError("InternalError", f"Internal error: {why}", path)
    if wrong is not None or [each.version for each in map(ip_address, texts)] not in _PAIRS:
        yield invalid_value(path, [{"IP": each} for each in texts], _NO_PAIR)
