"""Order of the members of a patched object, as kube-apiserver prints it in the error of a patch that does not fit.

Its JSON library keeps the text of what a patch does not touch, which is in the order of Go's types, and sorts the
members of what it touches.
"""

from __future__ import annotations

from pyctrl.apiserver._schema.go_types import field_order
from pyctrl.apiserver._schema.schema import JSON, SchemaNode

__all__ = ["in_go_order"]

_RAW = ("FieldsV1", "RawExtension")  # their text is kept


def in_go_order(new: JSON, old: JSON, node: SchemaNode | None, package: str) -> JSON:
    """Return the patched object with sorted members where it differs from the old one.

    Args:
        package: The package of its Go type, such as `apps.v1`.
    """
    if new == old:
        return _unchanged(new, node, package)
    if isinstance(new, list) and isinstance(old, list):
        return [_unchanged(each, node and node.items, package) if each in old else each for each in new]
    if not isinstance(new, dict):
        return new
    before = old if isinstance(old, dict) else {}
    return {name: in_go_order(new[name], before.get(name), node and node.child(name), package) for name in sorted(new)}


def _unchanged(value: JSON, node: SchemaNode | None, package: str) -> JSON:
    if isinstance(value, list):
        return [_unchanged(each, node and node.items, package) for each in value]
    if not isinstance(value, dict) or (node is not None and node.go is not None and node.go.struct in _RAW):
        return value
    names = sorted(value)
    if node is not None and node.properties and node.go is not None:
        order = field_order(package, node.go.struct, node.properties.keys())
        names.sort(key=lambda name: order.index(name) if name in order else len(order))
    return {name: _unchanged(value[name], node and node.child(name), package) for name in names}
