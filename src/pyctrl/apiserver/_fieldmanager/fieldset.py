"""Field sets in the form of managed fields (FieldsV1), and the operations of structured-merge-diff on them.

`pyctrl._fields_v1` describes the form. Sets are values: no function changes its arguments.

A set of managed fields is in order (`ordered`). The operations on sets keep the order of their arguments. The fields of
values and the results of comparisons are in order, but those of an apply configuration are in its order.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from json.encoder import encode_basestring
from typing import TypeAlias

from pyctrl._fields_v1 import field_element
from pyctrl.apiserver._meta.generation import same_json
from pyctrl.apiserver._schema.schema import JSON, SchemaNode, list_key
from pyctrl.apiserver._schema.shape_memo import ShapeMemo

__all__ = [
    "Comparison",
    "FieldSet",
    "all_fields",
    "difference",
    "ensure_named_fields_are_members",
    "has_member",
    "intersection",
    "is_granular",
    "is_readable",
    "item_element",
    "ordered",
    "ordered_level",
    "path_element_text",
    "paths",
    "recursive_difference",
    "to_field_set",
    "union",
    "whole_value",
    "with_prefix",
]

FieldSet: TypeAlias = dict[str, JSON]  # the values are field sets
_SELF: FieldSet = {".": {}}


def item_element(node: SchemaNode, index: int, value: JSON) -> str:
    """Return the path element of a list item."""
    if node.list_type == "map":
        name = node.map_keys[0]
        if len(node.map_keys) == 1 and type(value) is dict and type(value.get(name)) is str:
            return f'k:{{"{name}":{encode_basestring(value[name])}}}'  # fast path: one key, a string
        key = list_key(value, node.map_keys, node.items)
        if key is not None:
            pairs = sorted(zip(node.map_keys, key, strict=True))
            return "k:{" + ",".join([f'"{name}":{_compact(each)}' for name, each in pairs if each is not None]) + "}"
    elif node.list_type == "set":
        return f"v:{_compact(value)}"
    return f"i:{index}"


def _compact(value: JSON) -> str:
    if type(value) is str:
        return encode_basestring(value)  # fast path: most keys are strings, some are integers
    if type(value) is int:
        return str(value)
    return json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=False)


def is_granular(node: SchemaNode | None, value: JSON) -> bool:
    """Return whether the parts of a value have separate owners: lists of type set or map, and maps not atomic."""
    if type(value) is list:
        return node is not None and node.list_type != "atomic"
    return type(value) is dict and (node is None or not node.atomic)


# -- algebra ---------------------------------------------------------------------------------------------------


def _is_member(below: FieldSet) -> bool:
    return not below or "." in below


def _joined(member: bool, children: FieldSet) -> FieldSet | None:
    if member:
        return {**_SELF, **children} if children else {}
    return children or None


def _children(below: FieldSet) -> FieldSet:
    if "." not in below:
        return below
    return {key: each for key, each in below.items() if key != "."}


def union(left: FieldSet, right: FieldSet) -> FieldSet:
    """Return the fields of either set."""
    found = dict(left)
    for key, theirs in right.items():
        if key not in found:
            found[key] = theirs
        elif found[key] != theirs:
            ours = found[key]
            children = union(_children(ours), _children(theirs))
            found[key] = _joined(_is_member(ours) or _is_member(theirs), children)
    return ordered_level(found) if len(found) > len(left) else found


def difference(left: FieldSet, right: FieldSet) -> FieldSet:
    """Return the fields of the left set that are not in the right one."""
    if not right:
        return left
    found: FieldSet = {}
    for key, ours in left.items():
        if key not in right:
            found[key] = ours
            continue
        theirs = right[key]
        member = _is_member(ours) and not _is_member(theirs)
        rest = _joined(member, difference(_children(ours), _children(theirs)))
        if rest is not None:
            found[key] = rest
    return found


def recursive_difference(left: FieldSet, right: FieldSet) -> FieldSet:
    """Return the fields of the left set that are neither in the right one nor below one of its members."""
    if left.keys().isdisjoint(right):
        return left
    found: FieldSet = {}
    for key, ours in left.items():
        if key not in right:
            found[key] = ours
        elif not _is_member(right[key]):
            rest = _joined(_is_member(ours), recursive_difference(_children(ours), _children(right[key])))
            if rest is not None:
                found[key] = rest
    return found


def intersection(left: FieldSet, right: FieldSet) -> FieldSet:
    """Return the fields that are in both sets."""
    found: FieldSet = {}
    for key, ours in left.items():
        if key in right:
            theirs = right[key]
            member = _is_member(ours) and _is_member(theirs)
            both = _joined(member, intersection(_children(ours), _children(theirs)))
            if both is not None:
                found[key] = both
    return found


def ensure_named_fields_are_members(fields: FieldSet, node: SchemaNode | None) -> FieldSet:
    """Add the named fields above members: the owner of `a.b.c` owns `a`, but not a key `b` of a map."""
    found: FieldSet = {}
    for key, below in fields.items():
        child = _child_node(node, key)
        children = ensure_named_fields_are_members(_children(below), child)
        is_named = key.startswith("f:") and node is not None and key[2:] in node.properties
        found[key] = _joined(_is_member(below) or is_named, children)
    return found


def _child_node(node: SchemaNode | None, key: str) -> SchemaNode | None:
    if node is None:
        return None
    return node.child(key[2:]) if key.startswith("f:") else node.items


def paths(fields: FieldSet, prefix: str = "") -> Iterator[str]:
    """Yield the path of every member: `.spec.ports[containerPort=80,protocol="TCP"].name`.

    The members of one level come before those of the levels below.
    """
    keys = sorted((key for key in fields if key != "."), key=_sort_key)
    yield from (prefix + path_element_text(key) for key in keys if _is_member(fields[key]))
    for key in keys:
        yield from paths(_children(fields[key]), prefix + path_element_text(key))


def is_readable(fields: JSON) -> bool:
    """Return whether a value that a client sent is a field set."""
    if not isinstance(fields, dict):
        return False
    return all(_is_element(key) and is_readable(below) for key, below in fields.items())


def _is_element(key: str) -> bool:
    kind, text = key[:2], key[2:]
    if kind not in ("k:", "v:", "i:"):
        return key == "." or kind == "f:"
    try:
        value = json.loads(text)
    except ValueError:
        return False
    return kind == "v:" or type(value) is (dict if kind == "k:" else int)


def ordered(fields: FieldSet) -> FieldSet:
    """Return the set in the order in which kube-apiserver writes it: "." first, then the elements in their order."""
    found = ordered_level(fields)
    for key, below in found.items():
        if below and (again := ordered(below)) is not below:
            found = {**found, key: again}
    return found


def ordered_level(fields: FieldSet) -> FieldSet:
    """Return the set with its own elements in order, for a set whose sets below are in order."""
    if len(fields) < 2:
        return fields
    elements = tuple(fields)
    order = _order_of[elements]
    return fields if order == elements else {key: fields[key] for key in order}


def _sorted_elements(elements: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(elements, key=_sort_key))


_order_of = ShapeMemo(_sorted_elements, size=2048)


def _sort_key(key: str) -> tuple[int, JSON]:
    """Order elements: the set itself, fields by name, items by keys, values, indexes."""
    kind = ".fkvi".index(key[0])
    if kind < _KEYS:
        return kind, key
    value = json.loads(key[2:])
    return kind, [(name, _value_order(value[name])) for name in sorted(value)] if kind == _KEYS else _value_order(value)


_KEYS = ".fkvi".index("k")


def _value_order(value: JSON) -> tuple[int, JSON]:
    """Order scalars as structured-merge-diff: numbers, texts, booleans, others, null."""
    if value is None:
        return 4, 0
    if isinstance(value, bool):
        return 2, value
    if isinstance(value, int | float):
        return 0, value
    return (1, value) if isinstance(value, str) else (3, _compact(value))


def path_element_text(key: str) -> str:
    """Return the text of an element in a path."""
    kind, text = key[0], key[2:]
    if kind == "f":
        return f".{text}"
    if kind == "k":
        return "[" + ",".join(f"{name}={_compact(value)}" for name, value in sorted(json.loads(text).items())) + "]"
    return f"[={text}]" if kind == "v" else f"[{text}]"


# -- field sets of values ---------------------------------------------------------------------------------------


def to_field_set(node: SchemaNode | None, value: JSON) -> FieldSet:
    """Return the fields that an apply configuration sets: its leaves, list items and keys of maps.

    An empty map and a null are leaves. An empty granular list is not.
    """
    found: FieldSet = {}
    if type(value) is list:
        for element, (child, each) in _parts(node, value).items():
            found[element] = _joined(True, _fields_below(child, each))
        return found
    for key, each in value.items():
        child = node.child(key) if node is not None else None
        is_named = node is not None and key in node.properties
        is_leaf = each == {} or not is_granular(child, each)
        below = _joined(is_leaf or not is_named, _fields_below(child, each))
        if below is not None:
            found[field_element(key)] = below
    return found


def _fields_below(node: SchemaNode | None, value: JSON) -> FieldSet:
    return to_field_set(node, value) if is_granular(node, value) else {}


def _items(node: SchemaNode, value: list[JSON]) -> Iterator[tuple[str, JSON]]:
    for index, each in enumerate(value):
        yield item_element(node, index, each), each


def all_fields(node: SchemaNode | None, value: dict[str, JSON]) -> FieldSet:
    """Return every field of a map at all levels, with objects and items themselves."""
    return _children(whole_value(node, value))


def whole_value(node: SchemaNode | None, value: JSON) -> FieldSet:
    """Return the set below an added value: itself and all its fields."""
    if not value or not is_granular(node, value):
        return _NOTHING_BELOW
    if type(value) is dict:
        return _whole_map(node, value)
    assert node is not None, "a list without a schema is not granular"
    return _whole_list(node, value)


def _whole_map(node: SchemaNode | None, value: dict[str, JSON]) -> FieldSet:
    members, fields = _members[tuple(value)], None
    for key, each in value.items():
        if type(each) is dict or type(each) is list:
            below = whole_value(node.child(key) if node is not None else None, each)
            if below:
                fields = fields or members.copy()
                fields["f:" + key] = below
    return fields or members


def _whole_list(node: SchemaNode, value: list[JSON]) -> FieldSet:
    fields = _SELF.copy()
    for element, each in _items(node, value):
        # Items with the same keys are owned together, as one without fields.
        fields[element] = _NOTHING_BELOW if element in fields else whole_value(node.items, each)
    return ordered_level(fields)


def _set_of_members(keys: tuple[str, ...]) -> FieldSet:
    """Return the set of a map itself and its keys."""
    return {**_SELF, **{"f:" + key: _NOTHING_BELOW for key in sorted(keys)}}


_members = ShapeMemo(_set_of_members, size=2048)
_NOTHING_BELOW: FieldSet = {}  # shared: sets are values


# -- comparison ------------------------------------------------------------------------------------------------


class Comparison:
    """Fields that were added, removed and modified between two values."""

    __slots__ = ("added", "modified", "removed")

    def __init__(self, node: SchemaNode | None, old: JSON, new: JSON) -> None:
        self.added: FieldSet = {}
        self.removed: FieldSet = {}
        self.modified: FieldSet = {}
        _compare(node, old, new, self.added, self.removed, self.modified)
        self.added, self.modified = ordered_level(self.added), ordered_level(self.modified)

    @property
    def changed(self) -> FieldSet:
        """Fields that were added or modified."""
        return union(self.added, self.modified)


def _compare(
    node: SchemaNode | None, old: JSON, new: JSON, added: FieldSet, removed: FieldSet, modified: FieldSet
) -> None:
    if type(old) is dict and type(new) is dict:
        _compare_maps(node, old, new, added, removed, modified)
        return
    ours, theirs = _parts(node, old), _parts(node, new)
    for key, (child, value) in theirs.items():
        if key not in ours:
            added[key] = whole_value(child, value)
        else:
            _compare_values(key, child, ours[key][1], value, added, removed, modified)
    for key, (child, value) in ours.items():
        if key not in theirs:
            removed[key] = whole_value(child, value)


def _compare_maps(
    node: SchemaNode | None,
    old: dict[str, JSON],
    new: dict[str, JSON],
    added: FieldSet,
    removed: FieldSet,
    modified: FieldSet,
) -> None:
    """Compare two maps, which most values are, without making their parts."""
    child = _no_child if node is None else node.child
    for key, value in new.items():
        if key not in old:
            added["f:" + key] = whole_value(child(key), value)
        elif (before := old[key]) is not value:
            _compare_values("f:" + key, child(key), before, value, added, removed, modified)
    for key, value in old.items():
        if key not in new:
            removed["f:" + key] = whole_value(child(key), value)


def _no_child(key: str) -> None:
    """Return the node of a key of a map without a schema."""


def _compare_values(
    key: str,
    node: SchemaNode | None,
    old: JSON,
    new: JSON,
    added: FieldSet,
    removed: FieldSet,
    modified: FieldSet,
) -> None:
    if _is_same(node, old, new):
        return
    if _splits(node, old, new):
        below: tuple[FieldSet, FieldSet, FieldSet] = {}, {}, {}
        _compare(node, old, new, *below)
        for found, into in zip(below, (added, removed, modified), strict=True):
            if found:
                into[key] = ordered_level(found)
    elif type(old) is not type(new) and _DuplicateItems in (type(old), type(new)):
        removed[key], added[key] = whole_value(node, old), whole_value(node, new)
    else:
        modified[key] = {}
        _add_untyped_fields(key, node, old, removed)
        _add_untyped_fields(key, node, new, added)


def _is_same(node: SchemaNode | None, old: JSON, new: JSON) -> bool:
    """Compare two values; where a schema has types, Python's equality is exact enough."""
    if old is new or old != new:
        return old is new
    if node is not None and not node.untyped and (type(old) is dict or type(old) is list):
        return type(old) is type(new)
    return same_json(old, new)


def _add_untyped_fields(key: str, node: SchemaNode | None, value: JSON, into: FieldSet) -> None:
    """Add the fields of an untyped map that replaces, or is replaced by, a value of another type."""
    if value and node is None and type(value) is dict:
        into[key] = all_fields(node, value)


def _splits(node: SchemaNode | None, old: JSON, new: JSON) -> bool:
    """Return whether to compare the parts: both values are granular or null, and not both empty."""
    if not (old or new):
        return False
    return all(each is None or is_granular(node, each) for each in (old, new)) and (
        old is None or new is None or type(old) is type(new)
    )


def _parts(node: SchemaNode | None, value: JSON) -> dict[str, tuple[SchemaNode | None, JSON]]:
    if type(value) is dict:
        if node is None:
            return {f"f:{key}": (None, each) for key, each in value.items()}
        return {f"f:{key}": (node.child(key), each) for key, each in value.items()}
    if type(value) is list and node is not None:
        parts: dict[str, tuple[SchemaNode | None, JSON]] = {}
        for element, each in _items(node, value):
            known = parts.get(element)
            if known is None:
                parts[element] = node.items, each
            elif type(known[1]) is _DuplicateItems:
                known[1].append(each)
            else:
                parts[element] = node.items, _DuplicateItems((known[1], each))
        return parts
    return {}


class _DuplicateItems(list[JSON]):
    """Items of a list with the same keys, which are owned together as one item without fields."""


def has_member(fields: Mapping[str, JSON], key: str) -> bool:
    """Return whether an element is a member."""
    return key in fields and _is_member(fields[key])


def with_prefix(fields: Mapping[str, JSON], key: str) -> FieldSet:
    """Return the set below an element."""
    return _children(fields[key]) if key in fields else {}
