"""How `kubectl apply --server-side` takes over what `kubectl apply` without it has left: the last-applied annotation.

Both rules hold for the manager `kubectl` only (KEP-555, "Interoperability with client-side apply"): what the annotation
still says about the live object is no other manager's to defend, and a later apply by the server renews the annotation.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from pyctrl.apiserver._fieldmanager.fieldset import Comparison, FieldSet, difference, to_field_set
from pyctrl.apiserver._schema.schema import JSON, SchemaNode

ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration"
MANAGER = "kubectl"


def allowed_conflicts_from_last_applied(node: SchemaNode, live: Mapping[str, JSON], manager: str) -> FieldSet:
    """Give the fields that a client-side apply set and that are as it set them: these may be taken without force."""
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
    """Write what was applied into the annotation of an object that has one."""
    if manager != MANAGER or _annotation(live) is None:
        return
    metadata = dict(patch.get("metadata") or {})
    annotations = {name: value for name, value in (metadata.get("annotations") or {}).items() if name != ANNOTATION}
    metadata.pop("annotations", None)
    if annotations:
        metadata["annotations"] = annotations
    applied = msgspec.json.encode({**patch, "metadata": metadata}, order="sorted").decode()
    kept = new["metadata"].get("annotations") or {}
    new["metadata"]["annotations"] = {**kept, ANNOTATION: applied + "\n"}


def _annotation(obj: Mapping[str, JSON]) -> str | None:
    text = (obj["metadata"].get("annotations") or {}).get(ANNOTATION)
    return text if isinstance(text, str) and text else None
