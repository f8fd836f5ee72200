"""Random structural schemas, similar schemas, and values; faster than Hypothesis strategies."""

from __future__ import annotations

import copy
from random import Random
from typing import Any

Schema = dict[str, Any]

KEYS = ("a", "b", "c")
TEXTS = ("", "a", "b", "ab", "10.0.0.1", "x" * 5)
NUMBERS = (-1, 0, 1, 2, 3, 4, 6, 1.5, 1 << 40)
EITHER = {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]}
_BARE: Schema = {}  # what `additionalProperties: true` permits as values

_KEYWORDS: dict[str, dict[str, tuple[Any, ...]]] = {
    "string": {
        "enum": (["a"], ["a", "b"], ["", "b", "ab"]),
        "minLength": (0, 1, 2),
        "maxLength": (1, 2, 4, 9),
        "pattern": ("^a", "b$", "^[ab]*$"),
        "format": ("ipv4", "hostname", "unheard-of"),
        "nullable": (True,),
        "default": ("a", "ab"),
    },
    "integer": {
        "enum": ([1], [0, 1, 2], [2, 4]),
        "minimum": (-1, 0, 1, 2),
        "maximum": (1, 2, 4, 1 << 41),
        "exclusiveMinimum": (True,),
        "exclusiveMaximum": (True,),
        "multipleOf": (1, 2, 3, 4),
        "format": ("int32", "int64"),
        "nullable": (True,),
        "default": (1, 2),
    },
    "number": {"minimum": (-1, 0, 1.5), "maximum": (1.5, 4), "multipleOf": (0.5, 1), "nullable": (True,)},
    "boolean": {"default": (True, False), "nullable": (True,)},
    "object": {
        "minProperties": (0, 1, 2),
        "maxProperties": (1, 2, 3),
        "nullable": (True,),
        "default": ({},),
        "required": (["a"], ["b"], ["a", "b"]),
        "x-kubernetes-preserve-unknown-fields": (True,),
        "anyOf": ([{"required": ["a"]}, {"required": ["b"]}], [{"required": ["a"]}]),
        "oneOf": ([{"required": ["a"]}, {"required": ["b"]}],),
        "allOf": ([{"required": ["a"]}], [{"minProperties": 1}, {"required": ["b"]}]),
        "not": ({"required": ["a"]}, {"required": ["c"]}),
    },
    "array": {"minItems": (0, 1), "maxItems": (1, 2, 3), "nullable": (True,)},
}


def schema(random: Random, depth: int = 3) -> Schema:
    """Return a schema that is usually valid for a server."""
    kinds = ("string", "integer", "number", "boolean", "either", "anything")
    kind = random.choice((*kinds, "object", "object", "array", "map") if depth else kinds)
    if kind == "either":
        return copy.deepcopy(EITHER)
    if kind == "anything":
        return {"x-kubernetes-preserve-unknown-fields": True}
    if kind == "map":
        return {"type": "object", "additionalProperties": random.random() < 0.2 or schema(random, depth - 1)}
    made: Schema = {"type": kind, **_keywords(random, kind, share=0.15)}
    if kind == "object":
        made["properties"] = {key: schema(random, depth - 1) for key in KEYS if random.random() < 0.6}
    elif kind == "array":
        made |= {"items": schema(random, depth - 1), **_list_type(random)}
    return _sound(made)


def _keywords(random: Random, kind: str, share: float) -> Schema:
    return {
        key: copy.deepcopy(random.choice(values)) for key, values in _KEYWORDS[kind].items() if random.random() < share
    }


def _list_type(random: Random) -> Schema:
    return random.choice(
        (
            {},
            {"x-kubernetes-list-type": "set"},
            {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"]},
        )
    )


def _sound(made: Schema) -> Schema:
    """Remove the parts that make a schema invalid."""
    for flag, needed in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if needed not in made:
            made.pop(flag, None)
    items, kind = made.get("items", {}), made.get("x-kubernetes-list-type")
    scalar = items.get("type") in ("string", "integer", "number", "boolean") and not items.get("nullable")
    key = items.get("properties", {}).get("a", {})
    keyed = "a" in items.get("required", ()) and key.get("type") in ("string", "integer") and not key.get("nullable")
    if (kind == "set" and not scalar) or (kind == "map" and (not keyed or items.get("nullable"))):
        made.pop("x-kubernetes-list-type")
        made.pop("x-kubernetes-list-map-keys", None)
    return made


def near(random: Random, old: Schema) -> Schema:
    """Return a schema that differs from another in one or two keywords."""
    if random.random() < 0.05:
        return schema(random, 1)
    new = copy.deepcopy(old)
    for key in list(new.get("properties", ())):
        new["properties"][key] = near(random, new["properties"][key])
        if random.random() < 0.08:
            del new["properties"][key]
    if "properties" in new and random.random() < 0.2:
        new["properties"].setdefault(random.choice(KEYS), schema(random, 1))
    for key in ("items", "additionalProperties"):
        if key in new:
            new[key] = schema(random, 1) if new[key] is True else near(random, new[key])
    if "additionalProperties" in new and random.random() < 0.1:
        new["additionalProperties"] = True
    if new.get("type") in _KEYWORDS and "additionalProperties" not in new and random.random() < 0.3:
        key = random.choice(list(_KEYWORDS[new["type"]]))
        new.pop(key, None)
        if random.random() < 0.7:
            new[key] = copy.deepcopy(random.choice(_KEYWORDS[new["type"]][key]))
    if "items" in new and random.random() < 0.2:
        new.pop("x-kubernetes-list-type", None)
        new |= _list_type(random)
    return _sound(new)


def value(random: Random, of: Schema) -> Any:
    """Return a value that may match a schema."""
    kind = of.get("type")
    if of.get("nullable") and random.random() < 0.2:
        return None
    if of.get("enum"):
        return random.choice(of["enum"])
    if of is _BARE:
        return copy.deepcopy(random.choice((None, 0, "a", [], {}, [1, {}])))
    if kind == "array":
        return [value(random, of["items"]) for _ in range(random.randint(0, 3))]
    if kind == "object":
        return _object(random, of)
    choices: dict[str | None, tuple[Any, ...]] = {
        "string": TEXTS,
        "integer": NUMBERS[:-2],
        "number": NUMBERS,
        "boolean": (True, False),
    }
    return copy.deepcopy(random.choice(choices.get(kind, (0, 1, "a", "1"))))


def _object(random: Random, of: Schema) -> dict[str, Any]:
    found = {
        key: value(random, each)
        for key, each in of.get("properties", {}).items()
        if random.random() < 0.6 or key in of.get("required", ())
    }
    if "additionalProperties" in of:
        each = _BARE if of["additionalProperties"] is True else of["additionalProperties"]
        found |= {key: value(random, each) for key in KEYS if random.random() < 0.5}
    if of.get("x-kubernetes-preserve-unknown-fields"):
        for key in KEYS:
            if random.random() < 0.3:
                found.setdefault(key, random.choice((0, "a", {"a": 1})))
    return found
