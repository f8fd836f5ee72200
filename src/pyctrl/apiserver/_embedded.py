"""Whole objects inside custom resources (`x-kubernetes-embedded-resource`): their kind, version and metadata."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pyctrl.apiserver import _names as names
from pyctrl.apiserver._answers import Cause, invalid_value
from pyctrl.apiserver._metadata import validate_metadata
from pyctrl.apiserver._schema import JSON, Node


def validate_embedded(node: Node, value: JSON, path: str = "") -> Iterator[Cause]:
    """Find what is wrong with the objects inside a value. That they have a kind at all, the schema has checked."""
    if not node.embeds:
        return
    if isinstance(value, dict):
        if node.embedded:
            yield from _embedded(value, path)
        for key, item in value.items():
            child = node.child(key)
            if child is not None and isinstance(item, (dict, list)):
                yield from validate_embedded(child, item, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and node.items is not None:
        for index, item in enumerate(value):
            yield from validate_embedded(node.items, item, f"{path}[{index}]")


def _embedded(value: Mapping[str, JSON], path: str) -> Iterator[Cause]:
    version, kind, metadata = value.get("apiVersion"), value.get("kind"), value.get("metadata")
    if version == "":
        yield invalid_value(f"{path}.apiVersion", "", "must not be empty")
    elif isinstance(version, str) and version.count("/") > 1:
        yield invalid_value(f"{path}.apiVersion", version, f"unexpected GroupVersion string: {version}")
    if kind == "":
        yield invalid_value(f"{path}.kind", "", "must not be empty")
    elif isinstance(kind, str) and (why := names.label_1035(kind.lower())):
        told = "may have mixed case, but should otherwise match: " + ",".join(why)
        yield invalid_value(f"{path}.kind", kind, told)
    if isinstance(metadata, dict):
        yield from _metadata(metadata, path)


def _metadata(metadata: Mapping[str, JSON], path: str) -> Iterator[Cause]:
    """It may have no name: what is made from a template gets one later."""
    is_namespaced = bool(metadata.get("namespace"))
    causes = validate_metadata(
        metadata, namespaced=is_namespaced, name_rule=names.path_segment, standard_finalizers=False
    )
    for cause in causes:
        if cause.reason != "FieldValueRequired":
            yield cause._replace(field=f"{path}.{cause.field}")
