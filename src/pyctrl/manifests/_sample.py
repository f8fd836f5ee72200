"""A sample of a kind: an object that its definition allows, made of what the schema says."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from pyctrl.apiserver import Examiner

__all__ = ["sample"]

#: What texts may have to look like; the first that a pattern allows is taken.
_TEXTS = (
    *("sample", "example.com", "10.0.0.1", "10.0.0.0/24", "1", "1Gi", "100m", "1m", "5s", "Sample", "SAMPLE", "1.0.0"),
    *("https://example.com", "a@example.com", "/sample", "* * * * *", "registry.example.com/sample:1.0.0"),
)
_FORMATS = {
    "date-time": "2026-01-01T00:00:00Z",
    "date": "2026-01-01",
    "duration": "1m",
    "byte": "c2FtcGxl",
    "uuid": "12345678-1234-4234-8234-123456789abc",
    "ipv4": "10.0.0.1",
    "ipv6": "fd00::1",
    "cidr": "10.0.0.0/24",
    "email": "a@example.com",
    "uri": "https://example.com",
    "hostname": "example.com",
}

Schema = Mapping[str, Any]


def sample(definition: Mapping[str, Any], *, version: str | None = None) -> dict[str, Any] | None:
    """Return an object that a definition allows, named after its kind; None when one cannot be made up.

    It has what is required, and what has a default or an example: what people want to see and change. It has been
    examined as the API server examines objects, so that it is not merely likely to be taken. Patterns and rules that
    none of a few usual values fits are beyond it.

    Args:
        definition: a CustomResourceDefinition, as JSON.
        version: of the sample; by default the version that is stored.
    """
    spec = definition["spec"]
    found = next(each for each in spec["versions"] if (each["name"] == version if version else each["storage"]))
    metadata = {"name": f"{spec['names']['singular']}-sample"}
    if spec["scope"] == "Namespaced":
        metadata["namespace"] = "default"
    made: dict[str, Any] = {
        "apiVersion": f"{spec['group']}/{found['name']}",
        "kind": spec["names"]["kind"],
        "metadata": metadata,
    }
    schema = found["schema"]["openAPIV3Schema"]
    skipped = {"apiVersion", "kind", "metadata", "status"}
    parts = {name: part for name, part in schema.get("properties", {}).items() if name not in skipped}
    made |= {name: _value(part) for name, part in parts.items()}
    examiner = Examiner()
    if examiner.define(definition).complaints or examiner.examine(made).complaints:
        return None
    return made


def _value(schema: Schema) -> Any:
    """Make a value of a schema; whether it fits is examined afterwards."""
    for key in ("example", "default"):
        if key in schema:
            return schema[key]
    if schema.get("enum"):
        return schema["enum"][0]
    match schema.get("type"):
        case "object":
            return _object(schema)
        case "array":
            return [_value(schema.get("items") or {}) for _ in range(max(1, schema.get("minItems", 0)))]
        case "integer" | "number":
            return _number(schema)
        case "boolean":
            return False
        case "string":
            return _text(schema)
        case _:  # int-or-string, and whatever is not said to be of a type
            return 1 if schema.get("x-kubernetes-int-or-string") else {}


def _object(schema: Schema) -> dict[str, Any]:
    required = set(schema.get("required") or ())
    return {
        name: _value(part)
        for name, part in (schema.get("properties") or {}).items()
        if name in required or "default" in part or "example" in part
    }


def _number(schema: Schema) -> float:
    """Return 1 or, if that is not allowed, what is next to a limit or a multiple that lies within them."""
    least, most, step = schema.get("minimum"), schema.get("maximum"), schema.get("multipleOf")
    guesses: list[float] = [1, 0]
    if step:
        guesses.append(step)
    if least is not None:
        guesses += [least, least + 1, *([math.ceil(least / step) * step] if step else [])]
    if most is not None:
        guesses += [most, most - 1, *([math.floor(most / step) * step] if step else [])]
    return next((guess for guess in guesses if _fits(guess, schema)), 1)


def _fits(number: float, schema: Schema) -> bool:
    least, most, step = schema.get("minimum"), schema.get("maximum"), schema.get("multipleOf")
    if least is not None and (number < least or (number == least and schema.get("exclusiveMinimum"))):
        return False
    if most is not None and (number > most or (number == most and schema.get("exclusiveMaximum"))):
        return False
    return not step or number % step == 0


def _text(schema: Schema) -> str:
    least, most = schema.get("minLength", 0), schema.get("maxLength")
    texts = (
        [_FORMATS[schema["format"]]]
        if schema.get("format") in _FORMATS
        else [each.ljust(least, "a") for each in _TEXTS]
    )
    pattern = schema.get("pattern")
    fitting = (text for text in texts if _matches(pattern, text) and (most is None or len(text) <= most))
    return next(fitting, texts[0][:most])


def _matches(pattern: str | None, text: str) -> bool:
    if pattern is None:
        return True
    try:
        return re.search(pattern, text) is not None
    except re.error:  # RE2 knows a few things that Python does not
        return False
