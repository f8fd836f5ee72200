"""Schemas compiled to functions: the fast path for objects that need defaults only.

`pruning`, `defaulting`, `validation` and `fieldset` each walk a schema and an object. For most objects the first three
only set defaults. So each node of a schema is compiled to one function that sets defaults and returns the fields of a
value, or None if something may be unknown, null or invalid. The full walks then run; defaults that are already set do
not matter to them. Fields are returned for valid values only, in the order in which managed fields have them.

msgspec checks first that all values are of their declared types. Objects of one kind have few shapes: what depends only
on the keys is cached by shape, and the other checks run on the values. For an object of 2.5 KB
(`benchmarks/apiserver.py`) the full walks take as long as 16 times `json.loads`, this path 1.6 times.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Container, Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import NamedTuple, TypeAlias

from pyctrl._validation.formats import is_of_format
from pyctrl.apiserver._apiextensions.declared_types import declared_type, json_reader, type_check
from pyctrl.apiserver._fieldmanager.fieldset import FieldSet, item_element, ordered_level, whole_value
from pyctrl.apiserver._schema.defaulting import copied
from pyctrl.apiserver._schema.schema import JSON, NO_DEFAULT, SchemaNode, ValueValidations
from pyctrl.apiserver._schema.shape_memo import ShapeMemo
from pyctrl.apiserver._schema.validation import validate

__all__ = ["CompiledSchema", "FastDecoder", "compile_object"]


FastDecoder: TypeAlias = Callable[[JSON], FieldSet | None]

_IMPLICIT = frozenset({"apiVersion", "kind", "metadata"})  # of every object; other code handles them
_LEAF: FieldSet = {}  # of a value without parts, or without separately owned ones


class CompiledSchema(NamedTuple):
    """The compiled schema of whole objects. The schemas of apiVersion, kind and metadata are ignored."""

    has_declared_types: Callable[[JSON], bool]
    decode: FastDecoder  # of an object that has the declared types
    read: Callable[[bytes], JSON]  # JSON of an object that has the declared types and no other keys, or None


def compile_object(node: SchemaNode) -> CompiledSchema:
    """Compile the schema of whole objects."""
    found = declared_type(node, ignored=_IMPLICIT)
    return CompiledSchema(type_check(found), _compile(node), json_reader(found))


def _compile(node: SchemaNode) -> FastDecoder:
    counted = node.checks is not None and (node.checks.min_properties or node.checks.max_properties) is not None
    if node.embedded or counted or (node.properties and node.additional is not None):
        return _undecided
    return _with_branches(node, _CompiledObject(node, is_whole=True).decode)


def _decoder(node: SchemaNode) -> FastDecoder:
    """Compile a node below the root, for values of its declared type."""
    decode = _undecided if node.embedded else _with_branches(node, _typed_decoder(node))
    if node.nullable:
        null = _LEAF if node.checks is None or node.checks.enum is None else None
        return lambda value: null if value is None else decode(value)
    return decode


def _undecided(_value: JSON) -> None:
    return None


def _typed_decoder(node: SchemaNode) -> FastDecoder:
    if not node.properties and node.additional is None and node.items is None and node.type != "object":
        if node.type is None and node.preserve and node.checks is None:
            return lambda value: None if value is None else _untyped(value)
        known, check = _scalar_check(node) or (_NOTHING, partial(_by_full_walk, node))
        return lambda value: _LEAF if value in known or check(value) else None
    if (node.checks is not None and node.checks.enum is not None) or (node.properties and node.additional is not None):
        return _undecided
    if node.type == "object" and node.items is None:
        return _CompiledObject(node).decode
    if node.type == "array" and node.items is not None:
        return _list(node, node.items)
    return _undecided


# -- allOf, anyOf, oneOf, not ------------------------------------------------------------------------------------


def _with_branches(node: SchemaNode, decode: FastDecoder) -> FastDecoder:
    """Add the validation of the branches, which neither prune nor default, by the full walk."""
    if not _has_branches(node):
        return decode
    checks = node.checks or NO_CHECKS
    branches = ValueValidations(any_of=checks.any_of, one_of=checks.one_of, all_of=checks.all_of, not_=checks.not_)
    bare = SchemaNode(checks=branches)

    def decode_branches(value: JSON) -> FieldSet | None:
        fields = decode(value)
        return None if fields is None or validate(bare, value) else fields

    return decode_branches


def _has_branches(node: SchemaNode) -> bool:
    """Return whether there are branches to validate; the two types of every int-or-string do not count."""
    checks = node.checks or NO_CHECKS
    if checks.one_of or checks.all_of or checks.not_:
        return True
    types = [(each.type, each.checks) for each in checks.any_of]
    return bool(types) and not (node.int_or_string and types == [("integer", None), ("string", None)])


# -- lists -------------------------------------------------------------------------------------------------------


def _list(node: SchemaNode, items: SchemaNode) -> FastDecoder:
    checks = node.checks or NO_CHECKS
    sizes = range(checks.min_items or 0, sys.maxsize if checks.max_items is None else checks.max_items + 1)
    return _atomic_list(items, sizes) if node.list_type == "atomic" else _keyed_list(node, items, sizes)


def _atomic_list(items: SchemaNode, sizes: range) -> FastDecoder:
    rule = _check_of(items)
    if rule is not None:
        are_known, check = rule.known.issuperset, rule.check
        if rule is _ANY:
            return lambda value: _LEAF if len(value) in sizes else None
        return lambda value: _LEAF if len(value) in sizes and (are_known(value) or all(map(check, value))) else None
    decode_item = _decoder(items)

    def decode(value: JSON) -> FieldSet | None:
        if len(value) not in sizes:
            return None
        for each in value:
            if decode_item(each) is None:
                return None
        return _LEAF

    return decode


def _keyed_list(node: SchemaNode, items: SchemaNode, sizes: range) -> FastDecoder:
    """Compile a list of type set or map, whose items have separate owners."""
    decode_item, elements_of = _decoder(items), _elements_function(node)

    def decode(value: JSON) -> FieldSet | None:
        if len(value) not in sizes:
            return None
        below = [*map(decode_item, value)]
        if None in below:
            return None
        elements = elements_of(value)
        if elements is None:
            return None
        fields: FieldSet = {".": _LEAF} if elements else {}
        for element, index in elements:
            fields[element] = below[index]
        return fields

    return decode


_Elements: TypeAlias = Sequence[tuple[str, int]]  # the elements of a list, in order, each with the index of its item


def _elements_function(node: SchemaNode) -> Callable[[list[JSON]], _Elements | None]:
    """Compile the function that returns the elements of a list; None if it has duplicates, or items without keys."""
    items = node.items or SchemaNode()
    name = node.map_keys[0] if node.list_type == "map" and len(node.map_keys) == 1 else ""
    key = items.properties.get(name) if name else items
    if key is None or key.type != "string" or key.nullable or node.list_type not in ("map", "set"):
        return partial(_elements, node)
    known = ShapeMemo(lambda keys: _elements(node, [{name: key} for key in keys] if name else keys))
    key_of = itemgetter(name)

    def elements(value: list[JSON]) -> _Elements | None:
        try:
            return known[tuple(map(key_of, value) if name else value)]
        except KeyError:
            return _elements(node, value)

    return elements


def _elements(node: SchemaNode, value: Sequence[JSON]) -> _Elements | None:
    found = {item_element(node, index, each): index for index, each in enumerate(value)}
    has_indexes = sum(element.startswith("i:") for element in found) > 1  # of items without keys
    return None if has_indexes or len(found) < len(value) else [*ordered_level(found).items()]


# -- objects -----------------------------------------------------------------------------------------------------


@dataclass(slots=True, frozen=True)
class _ObjectShape:
    """The checks for objects with certain keys, in this order."""

    defaults: dict[str, JSON]  # to set; the other attributes are of the object with them
    has_plain_defaults: bool  # which need not be copied
    fields: FieldSet | None  # of the object, without those of its values; None if a key is unknown or missing
    scalars: list[tuple[str, Container[JSON], Callable[[JSON], bool]]]  # keys of strings and integers to check
    leaves: list[tuple[str, FastDecoder]]  # keys of other values to decode that have one owner
    parts: list[tuple[str, str, FastDecoder]]  # keys of those whose parts have owners, also as path elements


class _CompiledObject:
    """A compiled object node with its cache of shapes."""

    __slots__ = ("_decoders", "_implicit", "_itself", "_node", "_other", "_properties", "_shapes")

    def __init__(self, node: SchemaNode, *, is_whole: bool = False) -> None:
        self._node = node
        self._implicit = _IMPLICIT if is_whole else frozenset[str]()
        self._itself: FieldSet = {} if is_whole else {".": _LEAF}
        self._properties = {key: child for key, child in node.properties.items() if key not in self._implicit}
        self._decoders = {key: _decoder(child) for key, child in self._properties.items()}
        self._other = _other_decoder(node)
        self._shapes = ShapeMemo(self._shape_of)

    def decode(self, value: JSON) -> FieldSet | None:
        shape = self._shapes[tuple(value)]
        if shape.defaults:
            value.update(shape.defaults if shape.has_plain_defaults else copied(shape.defaults))
        for key, known, check in shape.scalars:
            if value[key] not in known and not check(value[key]):
                return None
        for key, decode in shape.leaves:
            if decode(value[key]) is None:
                return None
        if not shape.parts or shape.fields is None:
            return shape.fields
        fields = shape.fields.copy()
        for key, element, decode in shape.parts:
            below = fields[element] = decode(value[key])
            if below is None:
                return None
        return fields

    def _shape_of(self, keys: tuple[str, ...]) -> _ObjectShape:
        own = [key for key in keys if key not in self._implicit]
        missing = {key: each.default for key, each in self._properties.items() if key not in own}
        defaults = {key: default for key, default in missing.items() if default is not NO_DEFAULT}
        return self._shape([*own, *defaults], defaults)

    def _shape(self, keys: Sequence[str], defaults: dict[str, JSON]) -> _ObjectShape:
        nodes = {key: self._properties.get(key, self._node.additional) for key in keys}
        rules = {key: rule for key in keys if (rule := _check_of(nodes[key]))}
        decoders = {key: self._decoders.get(key, self._other) for key in keys if key not in rules}
        is_plain = not any(type(each) in (dict, list) for each in defaults.values())
        if not self._has_all(keys) or _undecided in decoders.values():
            return _ObjectShape(defaults, is_plain, None, [], [], [])
        fields = {**self._itself, **{"f:" + key: _LEAF for key in sorted(keys)}}
        leaves = {key for key in decoders if self._node.atomic or _is_leaf(nodes[key])}
        return _ObjectShape(
            defaults,
            is_plain,
            fields=_LEAF if self._node.atomic or not keys else fields,
            scalars=[(key, *rule) for key, rule in rules.items() if rule is not _ANY],
            leaves=[(key, decode) for key, decode in decoders.items() if key in leaves],
            parts=[(key, "f:" + key, decode) for key, decode in decoders.items() if key not in leaves],
        )

    def _has_all(self, keys: Collection[str]) -> bool:
        checks = self._node.checks or NO_CHECKS
        most = sys.maxsize if checks.max_properties is None else checks.max_properties
        required = (key for key in self._node.required if key not in self._implicit)
        return (checks.min_properties or 0) <= len(keys) <= most and all(key in keys for key in required)


def _is_leaf(node: SchemaNode | None) -> bool:
    """Return whether no value of a node has parts with separate owners."""
    if node is None:
        return False
    is_atomic = node.atomic or (node.type == "array" and node.list_type == "atomic")
    return is_atomic or node.int_or_string or node.type not in ("array", "object", None)


def _other_decoder(node: SchemaNode) -> FastDecoder:
    """Compile the values of keys that are not properties; the default is that there are none."""
    if node.additional is not None:
        return _decoder(node.additional)
    return _untyped if node.preserve and not node.closed else _undecided


def _untyped(value: JSON) -> FieldSet:
    return whole_value(None, value)


# -- strings, numbers, booleans ----------------------------------------------------------------------------------

NO_CHECKS = ValueValidations()

_NOTHING: frozenset[JSON] = frozenset()
_SHORT = 64  # maximum length of cached strings, in characters
_TEXTS = 512  # maximum number of cached strings of a node


class ValueCheck(NamedTuple):
    """The check of a node's values, which are of the declared type, with a cache of valid strings.

    Objects of one kind repeat names, quantities and the like, and matching patterns is slow.
    """

    known: set[JSON] | frozenset[JSON]
    check: Callable[[JSON], bool]  # of any value; may add it to `known`


_ANY = ValueCheck(_NOTHING, lambda _value: True)


def _check_of(node: SchemaNode | None) -> ValueCheck | None:
    """Return the check of a node's values; None if they need more than a check."""
    if node is None or node.nullable or node.embedded or _has_branches(node):
        return None
    if node.properties or node.additional is not None or node.items is not None:
        return None
    return _scalar_check(node)


def _scalar_check(node: SchemaNode) -> ValueCheck | None:
    """Return the check of a node without parts; None if its values need the full walk."""
    checks = node.checks or NO_CHECKS
    if node.type == "boolean" and node.checks is None:
        return _ANY
    if node.type == "string" and not node.int_or_string:
        return string_check(checks)
    bounds = (checks.minimum, checks.maximum)
    if (
        checks.multiple_of
        or checks.enum is not None
        or any(bound and not float(bound).is_integer() for bound in bounds)
    ):
        return None
    texts, is_integer = string_check(checks), _range(checks).__contains__
    if node.int_or_string:
        return ValueCheck(texts.known, lambda value: is_integer(value) if type(value) is int else texts.check(value))
    return ValueCheck(_NOTHING, is_integer) if node.type == "integer" else None


def string_check(checks: ValueValidations) -> ValueCheck:
    """Compile the validations of strings."""
    patterns: list[Callable[[str], object]] = []
    if checks.pattern is not None:
        patterns.append(checks.pattern.matches)
    if checks.format:
        patterns.append(partial(is_of_format, checks.format))
    if checks.enum is not None:
        allowed = frozenset(each for each in checks.enum if type(each) is str)
        known = frozenset(filter(_MemoizedCheck(checks, patterns).is_valid, allowed))
        return ValueCheck(known, known.__contains__)
    if not patterns and checks.min_length is None and checks.max_length is None:
        return _ANY
    memoized = _MemoizedCheck(checks, patterns)
    return ValueCheck(memoized.known, memoized.check)


class _MemoizedCheck:
    """Check of strings that caches some of the valid ones."""

    __slots__ = ("_longest", "_patterns", "_shortest", "known")

    def __init__(self, checks: ValueValidations, patterns: list[Callable[[str], object]]) -> None:
        self._shortest = checks.min_length or 0
        self._longest = sys.maxsize if checks.max_length is None else checks.max_length
        self._patterns = patterns
        self.known: set[JSON] = set()

    def is_valid(self, text: str) -> bool:
        return self._shortest <= len(text) <= self._longest and all(matches(text) for matches in self._patterns)

    def check(self, text: str) -> bool:
        if not self.is_valid(text):
            return False
        if len(text) <= _SHORT:
            if len(self.known) == _TEXTS:
                self.known.clear()
            self.known.add(text)
        return True


def _range(checks: ValueValidations) -> range:
    """Return the valid integers."""
    bound = 1 << (31 if checks.format == "int32" else 63)
    least, most = -bound, bound - 1
    if checks.minimum is not None:
        least = max(least, int(checks.minimum) + (1 if checks.exclusive_minimum else 0))
    if checks.maximum is not None:
        most = min(most, int(checks.maximum) - (1 if checks.exclusive_maximum else 0))
    return range(least, most + 1)


_SCALARS = frozenset({str, int, float, bool})


def _by_full_walk(node: SchemaNode, value: JSON) -> bool:
    return type(value) in _SCALARS and not validate(node, value)
