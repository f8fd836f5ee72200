"""Migration from client-side to server-side `kubectl apply`: the last-applied annotation.

Both rules hold only for the manager `kubectl` (KEP-555, "Interoperability with client-side apply"): fields that still
have the value of the annotation do not conflict, and server-side apply updates the annotation.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from pyctrl.apiserver._fieldmanager.fieldset import Comparison, FieldSet, difference, to_field_set
from pyctrl.apiserver._schema.schema import JSON, SchemaNode

__all__ = ["allowed_conflicts_from_last_applied", "update_last_applied"]

ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration"
MANAGER = "kubectl"


def allowed_conflicts_from_last_applied(node: SchemaNode, live: Mapping[str, JSON], manager: str) -> FieldSet:
    """Return the fields that still have the value of the last client-side apply; they do not conflict."""
    text = _annotation(live)
    if manager != MANAGER or text is None:
        return {}
    try:
        last = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return {}
    if not isinstance(last, dict):
        return {}
    compared = Comparison(node, last, live)
    return difference(difference(to_field_set(node, last), compared.changed), compared.removed)


def update_last_applied(
    new: dict[str, JSON], live: Mapping[str, JSON], patch: Mapping[str, JSON], manager: str
) -> None:
    """Write the applied configuration into the annotation of an object that has the annotation."""
    if manager != MANAGER or _annotation(live) is None:
        return
    metadata = dict(patch.get("metadata") or {})
    annotations = {name: value for name, value in (metadata.get("annotations") or {}).items() if name != ANNOTATION}
    metadata.pop("annotations", None)
    if annotations:
        metadata["annotations"] = annotations
    applied = msgspec.json.encode({**patch, "metadata": metadata}, order="sorted").decode()
    current = new["metadata"].get("annotations") or {}
    new["metadata"]["annotations"] = {**current, ANNOTATION: applied + "\n"}


def _annotation(obj: Mapping[str, JSON]) -> str | None:
    text = (obj["metadata"].get("annotations") or {}).get(ANNOTATION)
    return text if isinstance(text, str) and text else None
