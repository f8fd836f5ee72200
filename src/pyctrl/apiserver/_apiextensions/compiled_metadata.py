"""The metadata of the common object: as Go would write it, valid, and which fields it has, all seen in one look."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TypeAlias

from pyctrl._validation import names
from pyctrl.apiserver._fieldmanager.fieldset import FieldSet, item_element
from pyctrl.apiserver._meta.validation import ANNOTATIONS_LIMIT
from pyctrl.apiserver._schema.schema import JSON, SchemaNode

Look: TypeAlias = Callable[[JSON], FieldSet | None]

_LEAF: FieldSet = {}
_LONGEST_CHARACTER = 4  # bytes in UTF-8
_FINALIZERS = SchemaNode(type="array", list_type="set")
_NOT_OWNED = frozenset({"name", "namespace"})


def metadata_fields(metadata: JSON, *, is_namespaced: bool) -> FieldSet | None:
    """Give the fields of the metadata of an object that is created; None where a closer look is needed.

    That is at anything that reading it as Go does would change, that is not valid for sure, or that few objects have.
    """
    if type(metadata) is not dict or "name" not in metadata or "uid" in metadata:
        return None  # one with a uid replaces another: there is more to look at
    if "namespace" in metadata and not is_namespaced:
        return None
    if metadata.get("creationTimestamp", "") is None:
        del metadata["creationTimestamp"]  # which every client that is written in Go sends
    fields: FieldSet = {}
    for key, value in metadata.items():
        look = _LOOKS.get(key)
        below = look(value) if look is not None else None
        if below is None:
            return None
        if key not in _NOT_OWNED:
            fields["f:" + key] = below
    return fields


def _name(value: JSON) -> FieldSet | None:
    return _LEAF if type(value) is str and value and not names.subdomain(value) else None


def _namespace(value: JSON) -> FieldSet | None:
    return _LEAF if type(value) is str and value and not names.label(value) else None


def _labels(value: JSON) -> FieldSet | None:
    fields = _map_fields(tuple(value)) if type(value) is dict else None
    if fields is None:
        return None
    for each in value.values():
        if type(each) is not str or names.label_value(each):
            return None
    return fields


def _annotations(value: JSON) -> FieldSet | None:
    fields = _map_fields(tuple(value)) if type(value) is dict else None
    if fields is None:
        return None
    size = 0
    for key, each in value.items():
        if type(each) is not str:
            return None
        size += len(key) + len(each)
    return fields if size * _LONGEST_CHARACTER <= ANNOTATIONS_LIMIT else None


@lru_cache(maxsize=1024)
def _map_fields(keys: tuple[str, ...]) -> FieldSet | None:
    """Give the fields of a map whose keys are qualified names, in any case; objects of one kind have the same ones."""
    if not keys or any(names.qualified_name(key) or names.qualified_name(key.lower()) for key in keys):
        return None
    return {".": _LEAF, **{"f:" + key: _LEAF for key in keys}}


def _finalizers(value: JSON) -> FieldSet | None:
    if type(value) is not list or not value:
        return None
    fields: FieldSet = {".": _LEAF}
    for index, each in enumerate(value):
        if type(each) is not str or names.qualified_name(each):
            return None
        fields[item_element(_FINALIZERS, index, each)] = _LEAF
    return fields if len(fields) == len(value) + 1 else None  # or one is there twice


_LOOKS: Mapping[str, Look] = {
    "name": _name,
    "namespace": _namespace,
    "labels": _labels,
    "annotations": _annotations,
    "finalizers": _finalizers,
}
