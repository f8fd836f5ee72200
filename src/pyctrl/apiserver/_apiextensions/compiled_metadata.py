"""Fast path for the metadata of created objects: normalizes, validates and collects fields in one pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import TypeAlias

from pyctrl._validation import names
from pyctrl.apiserver._fieldmanager.fieldset import FieldSet, item_element, ordered_level
from pyctrl.apiserver._meta.validation import ANNOTATIONS_LIMIT
from pyctrl.apiserver._schema.schema import JSON, SchemaNode

__all__ = ["metadata_fields"]


FieldDecoder: TypeAlias = Callable[[JSON], FieldSet | None]

_LEAF: FieldSet = {}
_MAX_CHARACTER_BYTES = 4  # in UTF-8
_FINALIZERS = SchemaNode(type="array", list_type="set")
_NOT_OWNED = frozenset({"name", "namespace"})


def metadata_fields(metadata: JSON, *, is_namespaced: bool) -> FieldSet | None:
    """Return the fields of the metadata of a created object, in order; None if it must be decoded and validated.

    That is the case for metadata that Go's decoder would change, that may be invalid, or that few objects have.
    """
    if type(metadata) is not dict or "name" not in metadata or "uid" in metadata:
        return None  # a uid is a precondition on the object to replace
    if "namespace" in metadata and not is_namespaced:
        return None
    if metadata.get("creationTimestamp", "") is None:
        del metadata["creationTimestamp"]  # clients in Go always send it
    fields = {"f:" + key: _LEAF for key in sorted(metadata) if key not in _NOT_OWNED}
    for key, value in metadata.items():
        decode = _DECODERS.get(key)
        below = decode(value) if decode is not None else None
        if below is None:
            return None
        if below:
            fields["f:" + key] = below
    return fields


def _name(value: JSON) -> FieldSet | None:
    return _LEAF if type(value) is str and value and not names.subdomain(value) else None


def _namespace(value: JSON) -> FieldSet | None:
    return _LEAF if type(value) is str and value and not names.label(value) else None


def _labels(value: JSON) -> FieldSet | None:
    if type(value) is not dict or not _are_texts(value.values()) or any(map(names.label_value, value.values())):
        return None
    return _map_fields(tuple(value))


def _annotations(value: JSON) -> FieldSet | None:
    if type(value) is not dict or not _are_texts(value.values()):
        return None
    size = sum(map(len, value)) + sum(map(len, value.values()))
    return _map_fields(tuple(value)) if size * _MAX_CHARACTER_BYTES <= ANNOTATIONS_LIMIT else None


@lru_cache(maxsize=1024)
def _map_fields(keys: tuple[str, ...]) -> FieldSet | None:
    """Return the fields of a map with valid keys; cached, because objects of one kind have the same keys."""
    if not keys or any(names.qualified_name(key) or names.qualified_name(key.lower()) for key in keys):
        return None
    return {".": _LEAF, **{"f:" + key: _LEAF for key in sorted(keys)}}


def _finalizers(value: JSON) -> FieldSet | None:
    return _set_fields(tuple(value)) if type(value) is list and _are_texts(value) else None


@lru_cache(maxsize=256)
def _set_fields(finalizers: tuple[str, ...]) -> FieldSet | None:
    """Return the fields of valid finalizers; cached, because objects of one kind have the same ones."""
    if any(map(names.qualified_name, finalizers)):
        return None
    if "orphan" in finalizers and "foregroundDeletion" in finalizers:
        return None
    elements = {item_element(_FINALIZERS, index, each): _LEAF for index, each in enumerate(finalizers)}
    has_duplicates = len(elements) < len(finalizers)
    return None if has_duplicates else ordered_level({".": _LEAF, **elements})


def _are_texts(values: Iterable[JSON]) -> bool:
    """Return whether there are values, and all are strings."""
    return set(map(type, values)) == _ONLY_TEXTS


_ONLY_TEXTS = {str}
_DECODERS: Mapping[str, FieldDecoder] = {
    "name": _name,
    "namespace": _namespace,
    "labels": _labels,
    "annotations": _annotations,
    "finalizers": _finalizers,
}
