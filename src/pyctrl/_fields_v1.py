"""FieldsV1, the form of field sets in ``metadata.managedFields``, as client and server read and write it.

A set maps path elements to the sets below them. An element is ``f:NAME`` (a field or a key of a map), ``k:{KEYS}`` (an
item of a list of type map), ``v:VALUE`` (an item of a list of type set) or ``i:INDEX`` (an item of any other list). The
element itself is a member when the set below it is empty or has a ``.``.
"""

from __future__ import annotations

__all__ = ["UNOWNED_METADATA", "field_element"]

#: Fields of metadata without an owner: kube-apiserver strips them from every field set.
UNOWNED_METADATA = frozenset(
    {
        *("clusterName", "creationTimestamp", "generation", "managedFields", "name", "namespace"),
        *("resourceVersion", "selfLink", "uid"),
    }
)


def field_element(name: str) -> str:
    """Return the path element of a field."""
    return f"f:{name}"
