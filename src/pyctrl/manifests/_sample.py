"""A sample object generated from a schema: required fields, and fields with a default or an example."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

__all__ = ["sample"]

Object = dict[str, Any]
Schema = Mapping[str, Any]

#: Values of formats that the API server checks.
_FORMATS = {
    "date-time": "2030-01-01T00:00:00Z",
    "date": "2030-01-01",
    "duration": "1h",
    "email": "jane@example.com",
    "hostname": "example.com",
    "uri": "https://example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "cidr": "192.0.2.0/24",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "byte": "c2FtcGxl",
    "mac": "00:00:5e:00:53:01",
}

#: Strings that are tried for patterns.
_TEXTS = (
    *("sample", "Sample", "SAMPLE", "a", "1", "10", "1Gi", "100m", "1h", "1.0.0", "v1.0.0", "example.com"),
    *("https://example.com", "registry.example/sample:1.0.0", "* * * * *", "*/5 * * * *", "192.0.2.1", "/sample"),
    *("2030-01-01", "2030-01-01T00:00:00Z", "jane@example.com", "#ffffff", "a/b", "key=value", "10:00"),
)


def sample(definition: Mapping[str, Any], *, version: str | None = None) -> Object:
    """Return a sample object of a kind, named after the kind.

    Types, limits, enums, formats and common patterns are respected. CEL rules and unusual patterns are not: use a
    `Validator` to check whether the API server would accept the object.

    Args:
        definition: a CustomResourceDefinition, as JSON.
        version: the version of the sample; by default the storage version.
    """
    spec = definition["spec"]
    found = next(each for each in spec["versions"] if (each["name"] == version if version else each["storage"]))
    metadata = {"name": f"{spec['names']['singular']}-sample"}
    if spec["scope"] == "Namespaced":
        metadata["namespace"] = "default"
    api_version = f"{spec['group']}/{found['name']}"
    made: Object = {"apiVersion": api_version, "kind": spec["names"]["kind"], "metadata": metadata}
    schema = found["schema"]["openAPIV3Schema"]
    for name, field in schema.get("properties", {}).items():
        if name not in ("apiVersion", "kind", "metadata", "status"):
            value = _value(field)
            if value or name in schema.get("required", ()):
                made[name] = value
    return made


def _value(schema: Schema) -> Any:
    """Return a value that a schema accepts, if one can be found without solving rules."""
    for key in ("example", "default"):
        if key in schema:
            return schema[key]
    if "enum" in schema:
        return schema["enum"][0]
    if schema.get("x-kubernetes-int-or-string"):
        return 1
    makers = {"object": _object, "array": _array, "integer": _number, "number": _number, "string": _text}
    if schema.get("type") in makers:
        return makers[schema["type"]](schema)
    return False if schema.get("type") == "boolean" else {}


def _object(schema: Schema) -> Object:
    required = schema.get("required", ())
    found = {
        name: _value(field)
        for name, field in schema.get("properties", {}).items()
        if name in required or "example" in field or "default" in field
    }
    if schema.get("x-kubernetes-embedded-resource"):
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "sample"}}
    values = schema.get("additionalProperties")
    if isinstance(values, Mapping) and len(found) < schema.get("minProperties", 0):
        missing = schema["minProperties"] - len(found)
        found |= {f"key{number}" if number else "key": _value(values) for number in range(missing)}
    return found


def _array(schema: Schema) -> list[Any]:
    return [_value(schema["items"]) for _ in range(schema.get("minItems", 0))]


def _number(schema: Schema) -> int | float:
    """Return 1, or the nearest allowed number."""
    step = schema.get("multipleOf") or 1
    low, high = schema.get("minimum"), schema.get("maximum")
    found = step
    if low is not None and found < low:
        found = -(-low // step) * step
    if high is not None and found > high:
        found = high // step * step
    if low is not None and schema.get("exclusiveMinimum") and found == low:
        found += step
    if high is not None and schema.get("exclusiveMaximum") and found == high:
        found -= step
    return int(found) if schema["type"] == "integer" else found


def _text(schema: Schema) -> str:
    if schema.get("format") in _FORMATS:
        return _FORMATS[schema["format"]]
    least, most = schema.get("minLength", 0), schema.get("maxLength")
    pattern = schema.get("pattern")
    if pattern is None:
        return "sample".ljust(least, "x")[:most]
    for text in (*_TEXTS, "a" * max(least, 1), "0" * max(least, 1)):
        if _matches(pattern, text) and least <= len(text) and (most is None or len(text) <= most):
            return text
    return "sample"


def _matches(pattern: str, text: str) -> bool:
    try:
        return re.search(pattern, text) is not None
    except re.error:  # the server uses RE2, which has syntax that Python lacks
        return False
