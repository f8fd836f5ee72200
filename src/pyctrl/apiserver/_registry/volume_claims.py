"""Validation of the specs of PersistentVolumeClaims and of their templates, and of their status."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from pyctrl._validation import names
from pyctrl.api import Quantity
from pyctrl.apiserver._errors import FieldError, field_forbidden, invalid_value, not_supported, required
from pyctrl.apiserver._meta.validation import validate_annotations, validate_labels, validate_selector
from pyctrl.apiserver._registry._pods.resources import resource_quantity
from pyctrl.apiserver._registry.field_validation import invalid_name, required_texts, text_of
from pyctrl.apiserver._registry.strategy import Object
from pyctrl.apiserver._schema.schema import JSON

__all__ = [
    "ACCESS_MODES",
    "VOLUME_MODES",
    "forbidden_metadata",
    "validate_claim_spec",
    "validate_claim_status",
    "validate_claim_template",
]

_Part: TypeAlias = Mapping[str, JSON]
ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
VOLUME_MODES = ("Block", "Filesystem")
_METADATA = (  # in the order of the Go struct
    *("name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation", "creationTimestamp"),
    *("deletionTimestamp", "deletionGracePeriodSeconds", "ownerReferences", "finalizers", "managedFields"),
)
_POINTERS = ("deletionGracePeriodSeconds",)  # whose zero counts
_GO_NAMES = {"uid": "uID"}  # upstream lowers the first letter of the Go name
_ONLY_CLAIMS = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"


def validate_claim_template(template: _Part, path: str) -> Iterator[FieldError]:
    """Check the template of an ephemeral volume; its metadata has labels and annotations only."""
    yield from forbidden_metadata(template.get("metadata") or {}, f"{path}.metadata")
    yield from validate_claim_spec(template.get("spec") or {}, f"{path}.spec")


def forbidden_metadata(metadata: _Part, path: str) -> Iterator[FieldError]:
    """Check metadata that may have labels and annotations only."""
    yield from validate_annotations(metadata.get("annotations") or {}, f"{path}.annotations")
    yield from validate_labels(metadata.get("labels") or {}, f"{path}.labels")
    for key in _METADATA:
        if metadata.get(key) not in (None, "", 0) or (key in _POINTERS and metadata.get(key) is not None):
            yield field_forbidden(f"{path}.{_GO_NAMES.get(key, key)}", "cannot be set")


def validate_claim_spec(spec: _Part, path: str, old: _Part | None = None) -> Iterator[FieldError]:
    """Check the spec of a claim; groups of sources may stay invalid if the old spec, where there is one, has any."""
    sources = ((old or {}).get(key) or {} for key in ("dataSource", "dataSourceRef"))
    checks_group = not any(each.get("apiGroup") is not None for each in sources)
    if not spec.get("accessModes"):
        yield required(f"{path}.accessModes", "at least 1 access mode is required")
    yield from validate_selector(spec.get("selector") or {}, f"{path}.selector")
    yield from _modes(spec.get("accessModes") or (), f"{path}.accessModes")
    yield from _storage((spec.get("resources") or {}).get("requests") or {}, f"{path}.resources[storage]")
    yield from _class_name(spec, "storageClassName", path)
    mode = spec.get("volumeMode")
    if mode is not None and mode not in VOLUME_MODES:
        yield not_supported(f"{path}.volumeMode", mode, VOLUME_MODES)
    for key in ("dataSource", "dataSourceRef"):
        if spec.get(key) is not None:
            yield from _source(spec[key], f"{path}.{key}", checks_group=checks_group)
    yield from _sources_agree(spec, path)
    yield from _class_name(spec, "volumeAttributesClassName", path)


def _modes(modes: JSON, path: str) -> Iterator[FieldError]:
    yield from (not_supported(path, each, ACCESS_MODES) for each in modes if each not in ACCESS_MODES)
    known = set(modes) & set(ACCESS_MODES)
    if "ReadWriteOncePod" in known and len(known) > 1:
        yield field_forbidden(path, "may not use ReadWriteOncePod with other access modes")


def _storage(requests: _Part, path: str) -> Iterator[FieldError]:
    if "storage" not in requests:
        yield required(path)
    elif Quantity(requests["storage"]) <= 0:
        yield invalid_value(path, requests["storage"], "must be greater than zero")


def _class_name(spec: _Part, key: str, path: str) -> Iterator[FieldError]:
    if name := text_of(spec, key):
        yield from invalid_name(names.subdomain, name, f"{path}.{key}")


def _source(source: _Part, path: str, *, checks_group: bool) -> Iterator[FieldError]:
    yield from required_texts(source, path, "name", "kind")
    group, kind = text_of(source, "apiGroup"), text_of(source, "kind")
    if not group and kind != "PersistentVolumeClaim":
        yield invalid_value(path, kind, _ONLY_CLAIMS)
    if group and checks_group:
        yield from invalid_name(names.subdomain, group, f"{path}.apiGroup")
    if namespace := text_of(source, "namespace"):
        yield from invalid_name(names.label, namespace, f"{path}.namespace")


def _sources_agree(spec: _Part, path: str) -> Iterator[FieldError]:
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    if source is None or reference is None:
        return
    if reference.get("namespace"):
        yield invalid_value(path, {}, "may not be specified when dataSourceRef.namespace is specified")
    elif any(source.get(key) != reference.get(key) for key in ("apiGroup", "kind", "name")):
        yield invalid_value(path, {}, "must match dataSourceRef")


# -- the status --------------------------------------------------------------------------------------------------

_RESIZE_STATES = (
    *("ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizeInProgress", "NodeResizeInfeasible"),
    "NodeResizePending",
)


def validate_claim_status(new: Object, _old: Object | None) -> Iterator[FieldError]:
    """Check what a claim has, and the states of its expansion."""
    status = new.get("status") or {}
    for name, quantity in (status.get("capacity") or {}).items():
        yield from _not_negative_quantity(quantity, f"status.capacity[{name}]")
    path = "status.allocatedResourceStatuses"
    for name, state in (status.get("allocatedResourceStatuses") or {}).items():
        yield from _claim_resource(name, path)
        if state not in _RESIZE_STATES:
            yield not_supported(path, name, _RESIZE_STATES)
    path = "status.allocatedResources"
    for name, quantity in (status.get("allocatedResources") or {}).items():
        wrong = [*_claim_resource(name, path)] or [*_not_negative_quantity(quantity, f"{path}[{name}]")]
        yield from wrong or resource_quantity("storage", quantity, f"{path}[{name}]")


def _claim_resource(name: str, path: str) -> Iterator[FieldError]:
    """Check the name of a resource of a claim; storage is the only one of Kubernetes."""
    if complaints := names.qualified_name(name):
        yield from (invalid_value(path, name, why) for why in complaints)
    elif ("/" not in name or "kubernetes.io/" in name) and name != "storage":
        yield not_supported(path, name, ("storage",))


def _not_negative_quantity(quantity: str, path: str) -> Iterator[FieldError]:
    if (number := math.ceil(Quantity(quantity).value)) < 0:
        yield invalid_value(path, number, "must be a valid resource quantity")
