"""Validation of metadata (upstream api/validation/objectmeta.go) and of label selectors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum

from pyctrl._go.text import quoted
from pyctrl._validation import names
from pyctrl.apiserver._errors import FieldError, field_forbidden, invalid_value, required
from pyctrl.apiserver._schema.schema import JSON

__all__ = [
    "MetadataCheck",
    "finalizer_warnings",
    "validate_annotations",
    "validate_finalizer",
    "validate_labels",
    "validate_metadata",
    "validate_metadata_change",
    "validate_metadata_update",
    "validate_selector",
]

ANNOTATIONS_LIMIT = 256 * 1024  # bytes of all keys and values together
STANDARD_FINALIZERS = frozenset({"orphan", "foregroundDeletion", "kubernetes"})
SYSTEM_FIELDS = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds")
IMMUTABLE = ("name", "namespace", *SYSTEM_FIELDS)


class MetadataCheck(Enum):
    """Validation of metadata by a kind, in addition to that of every object."""

    WHOLE = "whole"  # as on create; finalizers without a domain must be Kubernetes' own
    CHANGE = "change"  # immutable fields, with the same rule for finalizers
    PLAIN_WHOLE = "plain whole"  # these two without the rule for finalizers
    PLAIN_CHANGE = "plain change"


def validate_metadata(
    metadata: Mapping[str, JSON], *, namespaced: bool, name_rule: names.Rule, standard_finalizers: bool
) -> list[FieldError]:
    """Return the errors in the metadata of a new object.

    Args:
        standard_finalizers: Finalizers without a domain must be Kubernetes' own, as for most built-in kinds.
    """
    return [
        *_name(metadata, name_rule),
        *_namespace(metadata, namespaced),
        *_generation(metadata),
        *_maps_and_owners(metadata),
        *_qualified_finalizers(metadata),
        *(_standard_finalizers(metadata) if standard_finalizers else ()),
    ]


def validate_metadata_update(
    new: Mapping[str, JSON],
    old: Mapping[str, JSON],
    checks: Sequence[MetadataCheck],
    *,
    is_namespaced: bool,
    name_rule: names.Rule = names.subdomain,
) -> list[FieldError]:
    """Return the errors in the metadata of an update: those of every kind, then those of `checks`."""
    maps_and_owners, finalizers = [*_maps_and_owners(new)], [*_qualified_finalizers(new)]  # which several checks repeat
    change = [*_change(new, old), *maps_and_owners]
    causes = [*_prefix(new, names.path_segment), *maps_and_owners, *finalizers, *change]
    for check in checks:
        if check in (MetadataCheck.CHANGE, MetadataCheck.PLAIN_CHANGE):
            causes += change
        else:
            causes += [*_prefix(new, name_rule), *_namespace(new, is_namespaced), *maps_and_owners, *finalizers]
        if check in (MetadataCheck.CHANGE, MetadataCheck.WHOLE):
            causes += _standard_finalizers(new)
    return causes


def validate_metadata_change(new: Mapping[str, JSON], old: Mapping[str, JSON]) -> list[FieldError]:
    """Return the errors of the check CHANGE, for a kind that has other checks before it."""
    return [*_change(new, old), *_maps_and_owners(new), *_standard_finalizers(new)]


def _change(new: Mapping[str, JSON], old: Mapping[str, JSON]) -> list[FieldError]:
    changed = (key for key in IMMUTABLE if new.get(key) != old.get(key))
    immutable = (invalid_value(f"metadata.{key}", new.get(key), "field is immutable") for key in changed)
    return [*_added_finalizers(new, old), *immutable]


def _name(metadata: Mapping[str, JSON], rule: names.Rule) -> Iterator[FieldError]:
    yield from _prefix(metadata, rule)
    name = metadata.get("name", "")
    if not name:
        yield required("metadata.name", "name or generateName is required")
        return
    for why in rule(name):
        yield invalid_value("metadata.name", name, why)


def _prefix(metadata: Mapping[str, JSON], rule: names.Rule) -> Iterator[FieldError]:
    prefix = metadata.get("generateName", "")
    for why in rule(names.masked_as_prefix(prefix)) if prefix else ():
        yield invalid_value("metadata.generateName", prefix, why)


def _namespace(metadata: Mapping[str, JSON], namespaced: bool) -> Iterator[FieldError]:
    namespace = metadata.get("namespace", "")
    if not namespaced:
        if namespace:
            yield field_forbidden("metadata.namespace", "not allowed on this type")
    elif not namespace:
        yield required("metadata.namespace")
    else:
        for why in names.label(namespace):
            yield invalid_value("metadata.namespace", namespace, why)


def _generation(metadata: Mapping[str, JSON]) -> Iterator[FieldError]:
    generation = metadata.get("generation", 0)
    if generation < 0:
        yield invalid_value("metadata.generation", generation, "must be greater than or equal to 0")


def _maps_and_owners(metadata: Mapping[str, JSON]) -> Iterator[FieldError]:
    if labels := metadata.get("labels"):
        yield from validate_labels(labels, "metadata.labels")
    if annotations := metadata.get("annotations"):
        yield from validate_annotations(annotations, "metadata.annotations")
    if owners := metadata.get("ownerReferences"):
        yield from _owners(owners)


def validate_labels(labels: Mapping[str, str], path: str) -> Iterator[FieldError]:
    """Yield the errors in keys and values of labels."""
    for key, value in labels.items():
        for why in names.qualified_name(key):
            yield invalid_value(path, key, why)
        for why in names.label_value(value):
            yield invalid_value(path, value, why)


def validate_annotations(annotations: Mapping[str, str], path: str) -> Iterator[FieldError]:
    """Yield the errors in keys of annotations and in their total size."""
    size = 0
    for key, value in annotations.items():
        size += len(key.encode()) + len(value.encode())
        for why in names.qualified_name(key.lower()):
            yield invalid_value(path, key, why)
    if size > ANNOTATIONS_LIMIT:
        yield FieldError("FieldValueTooLong", f"Too long: may not be more than {ANNOTATIONS_LIMIT} bytes", path)


def _owners(owners: list[Mapping[str, JSON]]) -> Iterator[FieldError]:
    path = "metadata.ownerReferences"
    controller = ""
    for owner in owners:
        yield from _owner(owner, path)
        if owner.get("controller"):
            name = f"{owner.get('kind', '')}/{owner.get('name', '')}"
            if controller:
                why = (
                    'Only one reference can have Controller set to true. Found "true" in references for '
                    f"{controller} and {name}"
                )
                yield invalid_value(path, [_in_order(each) for each in owners], why)
                return
            controller = name


def _in_order(owner: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return an owner with its fields in the order of the Go type, as messages show it."""
    fields = ("apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion")
    return {field: owner[field] for field in fields if field in owner}


def _owner(owner: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    group, _, version = str(owner.get("apiVersion", "")).rpartition("/")
    if not version or "/" in group:
        yield invalid_value(f"{path}.apiVersion", owner.get("apiVersion", ""), "version must not be empty")
    for key in ("kind", "name", "uid"):
        if not owner.get(key):
            yield invalid_value(f"{path}.{key}", "", "must not be empty")
    if (group, version, owner.get("kind")) == ("", "v1", "Event"):
        yield invalid_value(path, owner, "/v1, Kind=Event is disallowed from being an owner")


def _qualified_finalizers(metadata: Mapping[str, JSON]) -> Iterator[FieldError]:
    finalizers = metadata.get("finalizers") or []
    for finalizer in finalizers:
        for why in names.qualified_name(finalizer):
            yield invalid_value("metadata.finalizers", finalizer, why)
    if {"orphan", "foregroundDeletion"}.issubset(finalizers):
        why = "finalizer orphan and foregroundDeletion cannot be both set"
        yield invalid_value("metadata.finalizers", finalizers, why)


def _standard_finalizers(metadata: Mapping[str, JSON]) -> Iterator[FieldError]:
    for index, finalizer in enumerate(metadata.get("finalizers") or ()):
        yield from _standard_finalizer(finalizer, f"metadata.finalizers[{index}]")


def _standard_finalizer(finalizer: str, path: str) -> Iterator[FieldError]:
    if "/" not in finalizer and finalizer not in STANDARD_FINALIZERS:
        yield invalid_value(path, finalizer, "name is neither a standard finalizer name nor is it fully qualified")


def validate_finalizer(finalizer: str, path: str) -> Iterator[FieldError]:
    """Check a finalizer that is not in metadata: its form, and that it is Kubernetes' own or has a domain."""
    yield from (invalid_value(path, finalizer, why) for why in names.qualified_name(finalizer))
    yield from _standard_finalizer(finalizer, path)


def _added_finalizers(new: Mapping[str, JSON], old: Mapping[str, JSON]) -> Iterator[FieldError]:
    """Refuse new finalizers of an object that is being deleted."""
    if not old.get("deletionTimestamp"):
        return
    added = sorted(set(new.get("finalizers") or ()) - set(old.get("finalizers") or ()))
    if added:
        shown = ", ".join(quoted(each) for each in added)
        why = f"no new finalizers can be added if the object is being deleted, found new finalizers []string{{{shown}}}"
        yield field_forbidden("metadata.finalizers", why)


def finalizer_warnings(new: Mapping[str, JSON], old: Mapping[str, JSON] | None) -> Iterator[str]:
    """Yield warnings about new finalizers of custom resources without a qualified name."""
    known = set((old or {}).get("finalizers") or ())
    for finalizer in new.get("finalizers") or ():
        if finalizer not in known and finalizer not in STANDARD_FINALIZERS and "/" not in finalizer:
            path = " including a path (/)" if "." in finalizer else ""
            yield (
                f"metadata.finalizers: {quoted(finalizer)}: prefer a domain-qualified finalizer name{path} "
                "to avoid accidental conflicts with other finalizer writers"
            )


def validate_selector(selector: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    """Yield the errors in `matchLabels` and `matchExpressions`."""
    yield from validate_labels(selector.get("matchLabels") or {}, f"{path}.matchLabels")
    for index, expression in enumerate(selector.get("matchExpressions") or ()):
        yield from _expression(expression, f"{path}.matchExpressions[{index}]")


def _expression(expression: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    operator, values = expression.get("operator", ""), expression.get("values") or ()
    if operator in ("In", "NotIn"):
        if not values:
            yield required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'")
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            yield field_forbidden(f"{path}.values", why)
    else:
        yield invalid_value(f"{path}.operator", operator, "not a valid selector operator")
    for why in names.qualified_name(expression.get("key", "")):
        yield invalid_value(f"{path}.key", expression.get("key", ""), why)
    for index, value in enumerate(values):
        for why in names.label_value(value):
            yield invalid_value(f"{path}.values[{index}]", value, why)
