"""Schemas of kinds with all references resolved: of built-in kinds from data of the package, of others from the server.

Upstream's resolvers (k8s.io/apiserver/pkg/cel/openapi/resolver) split the kinds in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import msgspec

from pyctrl._schemas import GROUP_VERSIONS, load
from pyctrl.api import GroupVersionKind
from pyctrl.client import Client, HttpRequest

__all__ = ["populate_refs", "resolve_schema"]

_Schema: TypeAlias = Mapping[str, Any]
_REFERENCE = "#/components/schemas/"


async def resolve_schema(live: Client, gvk: GroupVersionKind) -> _Schema | None:
    """Return the schema of a kind; None if the server publishes none."""
    name = f"{gvk.group or 'core'}_{gvk.version}"
    if name in GROUP_VERSIONS:
        found = _schema_of(gvk, load(name)["schemas"])
        if found is not None:
            return found
    path = f"/openapi/v3/apis/{gvk.group}/{gvk.version}" if gvk.group else f"/openapi/v3/api/{gvk.version}"
    response = await live.transport.request(HttpRequest(method="GET", path=path))
    if response.status != 200:
        return None
    return _schema_of(gvk, msgspec.json.decode(response.body).get("components", {}).get("schemas", {}))


def _schema_of(gvk: GroupVersionKind, schemas: Mapping[str, _Schema]) -> _Schema | None:
    wanted = {"group": gvk.group, "version": gvk.version, "kind": gvk.kind}
    for name, schema in schemas.items():
        if wanted in schema.get("x-kubernetes-group-version-kind", ()):
            return populate_refs(lambda name: schemas.get(name, {}), name)
    return None


def populate_refs(schema_of: Callable[[str], _Schema], root: str) -> _Schema:
    """Return a schema in which each reference is replaced; one to a schema that contains it becomes an empty object."""
    return _populated(schema_of, frozenset((root,)), schema_of(root))


def _populated(schema_of: Callable[[str], _Schema], visited: frozenset[str], schema: _Schema) -> _Schema:
    name = _reference(schema)
    if name is not None:
        if name in visited:
            return {"type": "object"}
        return _populated(schema_of, visited | {name}, schema_of(name))
    found = dict(schema)
    if schema.get("format") == "int-or-string":  # as built-in kinds declare it
        found["x-kubernetes-int-or-string"] = True
    for slot in ("items", "additionalProperties"):
        if isinstance(schema.get(slot), Mapping):
            found[slot] = _populated(schema_of, visited, schema[slot])
    if schema.get("properties"):
        found["properties"] = {key: _populated(schema_of, visited, each) for key, each in schema["properties"].items()}
    return found


def _reference(schema: _Schema) -> str | None:
    """Return the name that a schema refers to. A reference with a description or a default is within `allOf`."""
    for each in (schema, *schema.get("allOf", ())):
        if "$ref" in each:
            return str(each["$ref"]).removeprefix(_REFERENCE)
    return None
