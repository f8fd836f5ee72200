"""A schema compiled into functions, which tell quickly that nothing is wrong with the common object.

`_pruning`, `_defaulting` and `_validation` walk a schema and an object together, one after the other, and `_fieldset`
does it once more to tell which fields there are. Most objects give the first three nothing to say but their defaults.
So each place of a schema is compiled into one function that fills in defaults and gives the fields of a value, or None:
something may be unknown, null or invalid, and the slow walks should look. They find their work partly done and say the
rest. A set of fields is never given to what is not valid.

For an object of 2.5 KB (`benchmarks/apiserver.py`) the slow walks take as long as 16 times `json.loads`, this one 2.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from math import ceil, floor
from typing import TypeAlias

from ._defaulting import copied
from ._fieldset import Fields, item, whole
from ._formats import is_of_format
from ._schema import JSON, NO_DEFAULT, Checks, Node
from ._validation import validate

Settle: TypeAlias = Callable[[JSON], Fields | None]
CheckText: TypeAlias = Callable[[str], object]  # gives something true for a text that is fine

_IMPLICIT = frozenset({"apiVersion", "kind", "metadata"})  # what every object has, and what others look at
_NO_CHECKS = Checks()
_LEAF: Fields = {}  # of a value that has no parts, or none that are owned one by one


def compile_object(node: Node) -> Settle:
    """Compile the schema of whole objects. Their apiVersion, kind and metadata are neither looked at nor told."""
    counted = node.checks is not None and (node.checks.min_properties or node.checks.max_properties) is not None
    if node.embedded or counted:
        return _never
    settle = _with_branches(node, _object(node, _IMPLICIT))

    def settle_content(obj: JSON) -> Fields | None:
        content = {key: value for key, value in obj.items() if key not in _IMPLICIT}
        fields = settle(content)
        obj.update(content)
        return None if fields is None else {key: below for key, below in fields.items() if key != "."}

    return settle_content


def _place(node: Node) -> Settle:
    """Compile one place below."""
    settle = _never if node.embedded else _with_branches(node, _of_type(node))
    if node.nullable:
        return lambda value: _LEAF if value is None else settle(value)
    return settle


def _never(_value: JSON) -> None:
    return None


def _of_type(node: Node) -> Settle:
    checks = node.checks or _NO_CHECKS
    if node.type is None and node.preserve and node.checks is None and _has_no_parts(node):
        return lambda value: None if value is None else whole(None, value)
    if node.type == "object" and checks.enum is None and node.items is None:
        return _object(node, ())
    if node.type == "array" and checks.enum is None and node.items is not None:
        return _list(node, node.items)
    return _scalar(node, checks) if _has_no_parts(node) else _never


def _has_no_parts(node: Node) -> bool:
    return not node.properties and node.additional is None and node.items is None


# -- allOf, anyOf, oneOf, not ------------------------------------------------------------------------------------


def _with_branches(node: Node, settle: Settle) -> Settle:
    """Let the slow walk judge the branches, which neither prune nor default."""
    checks = node.checks
    if checks is None or not _has_branches(node, checks):
        return settle
    branches = Checks(any_of=checks.any_of, one_of=checks.one_of, all_of=checks.all_of, not_=checks.not_)
    bare = Node(checks=branches)

    def settle_branches(value: JSON) -> Fields | None:
        fields = settle(value)
        return None if fields is None or validate(bare, value) else fields

    return settle_branches


def _has_branches(node: Node, checks: Checks) -> bool:
    """Whether there are branches to judge; the two types that every int-or-string names are none."""
    if checks.one_of or checks.all_of or checks.not_:
        return True
    types = [(each.type, each.checks) for each in checks.any_of]
    return bool(types) and not (node.int_or_string and types == [("integer", None), ("string", None)])


# -- scalars -----------------------------------------------------------------------------------------------------


def _scalar(node: Node, checks: Checks) -> Settle:
    if checks.enum is None and not checks.multiple_of:
        if node.int_or_string:
            return _integer_or_text(checks)
        if node.type == "integer":
            least, most = _range(checks)
            return lambda value: _LEAF if type(value) is int and least <= value <= most else None
        if node.type == "boolean":
            return lambda value: _LEAF if type(value) is bool else None
    if node.type == "string":
        check = _text(checks)
        return lambda value: _LEAF if type(value) is str and check(value) else None
    return lambda value: _LEAF if type(value) in _SCALARS and not validate(node, value) else None


_SCALARS = frozenset({str, int, float, bool})


def _integer_or_text(checks: Checks) -> Settle:
    check = _text(checks)
    least, most = _range(checks)

    def settle(value: JSON) -> Fields | None:
        is_fine = check(value) if type(value) is str else type(value) is int and least <= value <= most
        return _LEAF if is_fine else None

    return settle


def _range(checks: Checks) -> tuple[int, int]:
    bound = 1 << (31 if checks.format == "int32" else 63)
    least, most = -bound, bound - 1
    if checks.minimum is not None:
        least = max(least, floor(checks.minimum) + 1 if checks.exclusive_minimum else ceil(checks.minimum))
    if checks.maximum is not None:
        most = min(most, ceil(checks.maximum) - 1 if checks.exclusive_maximum else floor(checks.maximum))
    return least, most


def _text(checks: Checks) -> CheckText:
    """Give the check of a text: a function of C where that is enough."""
    asked: list[CheckText] = []
    if checks.enum is not None:
        asked.append(frozenset(each for each in checks.enum if type(each) is str).__contains__)
    if checks.pattern is not None:
        asked.append(checks.pattern.search)
    if checks.format:
        asked.append(partial(is_of_format, checks.format))
    if checks.pattern is None and not checks.format and checks.min_length is None and checks.max_length is None:
        return asked[0] if asked else _any_text
    return _remembering(checks, asked)


_SHORT = 64  # texts up to so many characters are remembered, of each check so many texts:
_TEXTS = 512


def _remembering(checks: Checks, asked: Sequence[CheckText]) -> CheckText:
    """Ask about a short text only once: objects repeat names and quantities, and patterns take their time."""
    shortest, longest = checks.min_length or 0, sys.maxsize if checks.max_length is None else checks.max_length

    def is_fine(text: str) -> bool:
        return shortest <= len(text) <= longest and all(check(text) for check in asked)

    remembered = lru_cache(_TEXTS)(is_fine)
    return lambda text: remembered(text) if len(text) <= _SHORT else is_fine(text)


def _any_text(_text: str) -> bool:
    return True


def _text_of(node: Node | None) -> CheckText | None:
    """Give what checks the texts of a place, where that is all there is to do with them."""
    if node is None or node.embedded or not _has_no_parts(node):
        return None
    checks = node.checks or _NO_CHECKS
    if _has_branches(node, checks) or not (node.type == "string" or (node.int_or_string and checks.enum is None)):
        return None
    return _text(checks)


# -- lists -------------------------------------------------------------------------------------------------------


def _list(node: Node, items: Node) -> Settle:
    checks = node.checks or _NO_CHECKS
    fewest, most = checks.min_items or 0, sys.maxsize if checks.max_items is None else checks.max_items
    settle_item, check, is_atomic = _place(items), _text_of(items), node.list_type == "atomic"

    def settle(value: JSON) -> Fields | None:
        if type(value) is not list or not fewest <= len(value) <= most:
            return None
        if is_atomic:
            for each in value:
                if not (check(each) if check and type(each) is str else settle_item(each) is not None):
                    return None
            return _LEAF
        fields: Fields = {}
        for index, each in enumerate(value):
            below = settle_item(each)
            if below is None:
                return None
            fields[item(node, index, each)] = below
        return fields if len(fields) == len(value) else None  # or an item is there twice

    return settle


# -- objects -----------------------------------------------------------------------------------------------------

_SHAPES = 256  # remembered for one place: objects of one kind have few, maps with free keys may have any number


@dataclass(slots=True, frozen=True)
class _Shape:
    """What the schema says about an object because of the keys it has, whatever the values are."""

    is_fit: bool  # nothing is unknown, nothing is missing
    missing: list[tuple[str, JSON]]  # defaults to fill in, which makes another shape of it
    texts: tuple[CheckText | None, ...]  # of each key: what checks a text there, None if that is not enough
    fields: Fields  # as if no value had parts


def _object(node: Node, implicit: Collection[str]) -> Settle:
    places = {key: _place(child) for key, child in node.properties.items() if key not in implicit}
    other = _other_places(node)
    shapes: dict[tuple[str, ...], _Shape] = {}

    def shape_of(keys: tuple[str, ...]) -> _Shape:
        shape = _learn(node, keys, implicit)
        if len(shapes) < _SHAPES:
            shapes[keys] = shape
        return shape

    def settle(value: JSON) -> Fields | None:
        if type(value) is not dict:
            return None
        keys = tuple(value)
        shape = shapes.get(keys) or shape_of(keys)
        if shape.missing:
            for key, default in shape.missing:
                value[key] = copied(default)
            keys = tuple(value)
            shape = shapes.get(keys) or shape_of(keys)
        if not shape.is_fit:
            return None
        fields = shape.fields
        for key, check, each in zip(keys, shape.texts, value.values(), strict=True):
            if check is not None and type(each) is str:
                if check is _any_text or check(each):
                    continue
                return None
            below = places.get(key, other)(each)
            if below is None:
                return None
            if below:
                if fields is shape.fields:
                    fields = fields.copy()
                fields["f:" + key] = below
        return _LEAF if node.atomic else fields

    return settle


def _learn(node: Node, keys: tuple[str, ...], implicit: Collection[str]) -> _Shape:
    properties = {key: child for key, child in node.properties.items() if key not in implicit}
    checks = node.checks or _NO_CHECKS
    fewest, most = checks.min_properties or 0, sys.maxsize if checks.max_properties is None else checks.max_properties
    others_are_known = node.additional is not None or (node.preserve and not node.closed)
    return _Shape(
        is_fit=fewest <= len(keys) <= most
        and all(key in keys or key in implicit for key in node.required)
        and (others_are_known or all(key in properties for key in keys)),
        missing=[
            (key, child.default)
            for key, child in properties.items()
            if key not in keys and child.default is not NO_DEFAULT
        ],
        texts=tuple(_text_of(properties.get(key, node.additional)) for key in keys),
        fields={".": _LEAF, **{"f:" + key: _LEAF for key in keys}} if keys else _LEAF,
    )


def _other_places(node: Node) -> Settle:
    """Compile what a key may hold that is no property: nothing, unless the schema says so."""
    if node.additional is not None:
        return _place(node.additional)
    return (lambda value: whole(None, value)) if node.preserve and not node.closed else _never
