"""Changes of single fields of an object that its schema allows, for the default scenario."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from pyctrl.manifests import sample
from pyctrl.simulation._manifest_diff import ABSENT

__all__ = ["changed_objects"]

Json = dict[str, Any]
Schema = Mapping[str, Any]
Path = tuple[str | int, ...]

DEEPEST = 6  # levels below the object; a Pod's template in a field is changed down to its containers' images

NOT_AUTHORED = ("apiVersion", "kind", "metadata", "status")


@dataclass(frozen=True, slots=True)
class _Change:
    """A change of one field: the first of the values that the server accepts; `ABSENT` removes it.

    Changes of a lower rank come first: 0 another value, 1 a second one or a new field, 2 without the field.
    """

    path: Path
    values: tuple[Any, ...]
    rank: int


def changed_objects(obj: Json, schema: Schema, is_valid: Callable[[Json], bool], *, most: int) -> list[Json]:
    """Return copies of an object, each with one field changed.

    Each field that the object has is changed and, if it is optional, removed; a number goes up and down, a list gets
    and loses an item. Optional fields of the first level that it does not have are set. First comes one change of each
    field, by depth, then the others.

    Args:
        obj: The object.
        schema: Its OpenAPI schema; empty if unknown.
        is_valid: Whether the server would accept an object.
        most: How many are returned at most.
    """
    changes = [
        change
        for name in dict.fromkeys((*schema.get("properties", {}), *obj))
        if name not in NOT_AUTHORED
        for change in _of_root(obj.get(name, ABSENT), schema.get("properties", {}).get(name, {}), name)
    ]
    found: list[Json] = []
    for change in sorted(changes, key=lambda change: (change.rank, len(change.path))):
        if len(found) == most:
            break
        valid = next((each for each in _applied(obj, change) if is_valid(each)), None)
        if valid is not None:
            found.append(valid)
    return found


def _of_root(value: Any, schema: Schema, name: str) -> Iterator[_Change]:
    """Yield the changes of a field such as spec, which is not itself removed."""
    if value is ABSENT and schema.get("type") != "object":
        return
    present = {} if value is ABSENT else value
    yield from _changes(present, schema, (name,))
    if isinstance(present, dict):
        for inner, its_schema in schema.get("properties", {}).items():
            if inner not in present:
                yield _Change((name, inner), tuple(_new_values(its_schema)), 1)


def _changes(value: Any, schema: Schema, path: Path) -> Iterator[_Change]:
    if len(path) > DEEPEST:
        return
    if isinstance(value, dict) and "containers" in value:
        yield from _of_pod(value, path)
    elif isinstance(value, dict):
        yield from _of_mapping(value, schema, path)
    elif isinstance(value, list):
        yield from _of_list(value, schema.get("items", {}), path)
    else:
        for rank, values in enumerate(_other_values(value, schema)):
            yield _Change(path, tuple(values), min(rank, 1))


def _of_pod(value: Json, path: Path) -> Iterator[_Change]:
    """Yield the changes of a pod's spec: of its images. The schema of a custom kind rarely says what else is valid."""
    for place, container in enumerate(value["containers"] or ()):
        if isinstance(container, dict) and isinstance(container.get("image"), str):
            yield _Change((*path, "containers", place, "image"), tuple(_other_texts(container["image"])), 0)


def _of_mapping(value: Json, schema: Schema, path: Path) -> Iterator[_Change]:
    properties, required = schema.get("properties", {}), schema.get("required", ())
    rest = schema.get("additionalProperties")
    others = rest if isinstance(rest, Mapping) else {}
    for name, inner in value.items():
        yield from _changes(inner, properties.get(name, others), (*path, name))
        if name not in required and len(path) == 1:
            yield _Change((*path, name), (ABSENT,), 2)
    if not properties and all(isinstance(inner, str) for inner in value.values()):
        yield _Change((*path, "added"), ("added", *_new_values(others)), 1)


def _of_list(value: list[Any], schema: Schema, path: Path) -> Iterator[_Change]:
    items = _other_items(value[-1], schema) if value else _new_values(schema)
    yield _Change(path, tuple([*value, item] for item in items), 0)
    if value:
        yield _Change(path, (value[:-1],), 1)
        if isinstance(value[0], dict):
            yield from _changes(value[0], schema, (*path, 0))


def _other_items(item: Any, schema: Schema) -> Iterator[Any]:
    """Yield items that are like one: first with all of its texts changed, since some of them may have to be unique."""
    if isinstance(item, dict):
        texts = {name: next(_other_texts(value)) for name, value in item.items() if isinstance(value, str)}
        yield item | texts
        for name, text in texts.items():
            yield item | {name: text}
        yield item
    else:
        for values in _other_values(item, schema):
            yield from values


def _new_values(schema: Schema) -> Iterator[Any]:
    """Yield values for a field that is not set; those that differ from its default come first."""
    kind = schema.get("type")
    if "default" in schema:
        for values in _other_values(schema["default"], schema):
            yield from values
    if kind == "boolean":
        yield True
    elif kind == "array":
        yield [_sample(schema.get("items", {}))]
    elif isinstance(schema.get("additionalProperties"), Mapping):
        yield {"added": _sample(schema["additionalProperties"])}
    if kind or schema.get("x-kubernetes-int-or-string"):
        yield _sample(schema)


def _sample(schema: Schema) -> Any:
    """Return a value that a schema accepts."""
    root = {"properties": {"spec": {"type": "object", "required": ["x"], "properties": {"x": schema}}}}
    version = {"name": "v1", "storage": True, "schema": {"openAPIV3Schema": root}}
    names = {"kind": "X", "singular": "x"}
    made = sample({"spec": {"group": "x", "scope": "Cluster", "names": names, "versions": [version]}})
    return made["spec"]["x"]


def _other_values(value: Any, schema: Schema) -> Iterator[list[Any]]:
    """Yield lists of other values; of each list the first that is valid is meant."""
    if "enum" in schema:
        for other in [each for each in schema["enum"] if each != value][:2]:
            yield [other]
    elif isinstance(value, bool):
        yield [not value]
    elif isinstance(value, (int, float)):
        step = schema.get("multipleOf") or 1
        yield [value + step]
        yield [value - step]
    elif isinstance(value, str):
        yield [*_other_texts(value), *([_sample(schema)] if schema.get("type") == "string" else [])]


def _other_texts(text: str) -> Iterator[str]:
    """Yield texts that are like one, such as ``nginx:1.30`` for ``nginx:1.29`` and ``web-2`` for ``web``."""
    numbers = [*re.finditer(r"\d+", text)]
    for number in reversed(numbers):
        for other in (int(number[0]) + 1, int(number[0]) - 1):
            if other >= 0:
                yield f"{text[: number.start()]}{other:0{len(number[0])}}{text[number.end() :]}"
    word = re.match(r"[A-Za-z0-9-]+", text)
    if word:
        yield f"{word[0]}-2{text[word.end() :]}"
    yield from (f"{text}-2", f"{text}2", f"{text}x", f"{text}/2")


def _applied(obj: Json, change: _Change) -> Iterator[Json]:
    for value in change.values:
        copy = deepcopy(obj)
        place: Any = copy
        for key in change.path[:-1]:
            place = place.setdefault(key, {}) if isinstance(place, dict) else place[key]
        last = change.path[-1]
        if value is ABSENT:
            del place[last]
        elif place.get(last, ABSENT) == value if isinstance(place, dict) else place[last] == value:
            continue
        else:
            place[last] = deepcopy(value)
        yield copy
