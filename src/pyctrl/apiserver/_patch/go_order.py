"""Order of the members of a patched object, as kube-apiserver prints it in the error of a patch that does not fit.

Its JSON library keeps the text of what a patch does not touch, which is in the order of Go's types, and sorts the
members of what it touches.
"""

from __future__ import annotations

from pyctrl.apiserver._schema.schema import JSON, SchemaNode

__all__ = ["in_go_order"]

_METADATA = (
    *("name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation", "creationTimestamp"),
    *("deletionTimestamp", "deletionGracePeriodSeconds", "labels", "annotations", "ownerReferences", "finalizers"),
    "managedFields",
)
_RANKS = {name: rank for rank, name in enumerate(_METADATA)}


def in_go_order(new: JSON, old: JSON, node: SchemaNode | None) -> JSON:
    """Return the patched object with sorted members where it differs from the old one."""
    if not isinstance(new, dict):
        return new
    if new == old:
        return _unchanged(new, node)
    before = old if isinstance(old, dict) else {}
    return {name: in_go_order(new[name], before.get(name), node and node.child(name)) for name in sorted(new)}


def _unchanged(value: JSON, node: SchemaNode | None) -> JSON:
    if isinstance(value, list):
        return [_unchanged(each, node and node.items) for each in value]
    if not isinstance(value, dict):
        return value
    names = list(value)
    if node is not None and "ownerReferences" in node.properties:
        names.sort(key=lambda name: _RANKS.get(name, len(_RANKS)))
    elif node is not None and not node.properties:
        names.sort()
    return {name: _unchanged(value[name], node and node.child(name)) for name in names}
