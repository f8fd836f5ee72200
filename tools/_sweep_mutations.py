"""Mutations of an object by its schema: every field off by one."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, TypeAlias

from pyctrl.apiserver._schema.schema import SchemaNode
from tests.conformance._sweep import Mutation

JSON: TypeAlias = Any
_Place: TypeAlias = tuple[str | int, ...]

TEXTS = ("", "Bogus_!", "x" * 64, "a/b", " x")
LONG_TEXTS = ("x" * 254,)
NUMBERS = (0, -1, 1, 65536, 2147483647, 2147483648)
QUANTITIES = ("0", "-1", "1.5", "abc", "100Gi", 3)
TIMES = ("", "yesterday", "2021-01-01T00:00:00Z")
ADDED_DEPTH = 2  # of fields that the base object does not have
NEVER_CHANGED = (("status",), ("metadata", "managedFields"), ("metadata", "namespace"), ("metadata", "selfLink"))


def mutations(node: SchemaNode, base: JSON, skipped: Collection[_Place] = NEVER_CHANGED) -> Iterator[Mutation]:
    """Yield every mutation of an object, but not of the skipped fields."""
    for path, value in _mutations(node, base, ()):
        if path[:1] not in skipped and path[:2] not in skipped:
            yield Mutation(path, value)


def _mutations(node: SchemaNode, value: JSON, path: _Place) -> Iterator[tuple[_Place, tuple[JSON, ...]]]:
    if path:
        yield from ((path, each) for each in _replacements(node, value))
    if isinstance(value, dict):
        yield from _of_object(node, value, path)
    elif isinstance(value, list) and node.items is not None:
        for index, item in enumerate(value):
            yield from _mutations(node.items, item, (*path, index))
        added: list[JSON] = [value[0], None, *_new_values(node.items)][:6] if value else []
        for item in added:
            yield (*path, len(value)), (item,)
        if len(value) > 1:
            yield path, (value[1:],)
            yield path, (value[::-1],)


def _of_object(node: SchemaNode, value: JSON, path: _Place) -> Iterator[tuple[_Place, tuple[JSON, ...]]]:
    for key, each in value.items():
        if path == () and key in ("apiVersion", "kind"):
            continue
        if (child := node.child(key)) is not None:
            yield (*path, key), ()
            yield from _mutations(child, each, (*path, key))
    if node.properties:
        yield (*path, "bogus"), ("x",)
    elif node.additional is not None:
        for key in ("", "Bad key!", "x/y/z", "a" * 64, "new"):
            for each in list(_new_values(node.additional))[:3]:
                yield (*path, key), (each,)
    for key, child in node.properties.items():
        if key not in value and key not in ("apiVersion", "kind"):
            yield from (((*path, key), (each,)) for each in _new_values(child))


def _replacements(node: SchemaNode, value: JSON) -> Iterator[tuple[JSON, ...]]:
    yield (None,)
    others: list[JSON] = [{}, [], 7, "text", True]
    for each in others:
        if type(each) is not type(value):
            yield (each,)
    if isinstance(value, dict | list):
        yield (type(value)(),)
        return
    for each in _scalars(node):
        if each != value:
            yield (each,)


def _scalars(node: SchemaNode) -> Iterator[JSON]:
    scalar = node.go.scalar if node.go else ""
    if scalar == "quantity":
        yield from QUANTITIES
    elif scalar in ("time", "microtime"):
        yield from TIMES
    elif scalar == "bytes":
        yield from ("", "eA==", "!")
    elif node.int_or_string:
        yield from (0, -1, 65536, "", "x", "10%", "101%", "a_b", "Bogus-" + "x" * 16)
    elif node.type == "string":
        yield from (*TEXTS, *LONG_TEXTS)
    elif node.type in ("integer", "number"):
        yield from (*NUMBERS, 1.5)
    elif node.type == "boolean":
        yield from (True, False)


def _new_values(node: SchemaNode, depth: int = ADDED_DEPTH) -> Iterator[JSON]:
    """Yield values of a field that the base object does not have."""
    if node.properties or (node.type == "object" and node.additional is None and not (node.go and node.go.scalar)):
        yield {}
        for key, child in node.properties.items() if depth else ():
            yield from ({key: each} for each in list(_new_values(child, depth - 1))[:3])
    elif node.additional is not None:
        yield {}
        yield from ({"k": each} for each in list(_new_values(node.additional, depth - 1))[:2]) if depth else ()
    elif node.type == "array":
        yield []
        if node.items is not None and depth:
            yield from ([each] for each in list(_new_values(node.items, depth - 1))[:8])
    else:
        yield from _scalars(node)
