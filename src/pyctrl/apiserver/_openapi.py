"""The OpenAPI documents: v3, one per group version, and v2 as one; what kubectl explains and validates by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ._builtin_type import BuiltinType
from ._custom_type import CustomType
from ._discovery import VERSION
from ._resources import Registry
from ._schema import JSON

_INFO = {"title": "Kubernetes", "version": VERSION["gitVersion"]}
_META = "io.k8s.apimachinery.pkg.apis.meta.v1."
_ACTIONS = (("get", "list"), ("post", "post"))
_ITEM_ACTIONS = (("get", "get"), ("put", "put"), ("patch", "patch"), ("delete", "delete"))
_V3, _V2 = "#/components/schemas/", "#/definitions/"


def openapi_answer(registry: Registry, path: str) -> dict[str, JSON] | None:
    """Answer a path below `/openapi/`, or None when nothing is there."""
    parts = [part for part in path.partition("?")[0].split("/") if part]
    if parts == ["openapi", "v2"]:
        return _everything(registry)
    if parts == ["openapi", "v3"]:
        return {"paths": dict(_index(registry))}
    if parts[:3] == ["openapi", "v3", "api"] and len(parts) == 4:
        return _document(registry, "", parts[3])
    if parts[:3] == ["openapi", "v3", "apis"] and len(parts) == 5:
        return _document(registry, parts[3], parts[4])
    return None


def _index(registry: Registry) -> Iterator[tuple[str, JSON]]:
    for group, versions in registry.group_versions.items():
        for version in versions:
            path = f"apis/{group}/{version}" if group else f"api/{version}"
            yield path, {"serverRelativeURL": f"/openapi/v3/{path}?hash={registry.epoch}"}


def _document(registry: Registry, group: str, version: str) -> dict[str, JSON] | None:
    types = registry.of_group(group, version)
    if not types:
        return None
    return {
        "openapi": "3.0.0",
        "info": _INFO,
        "paths": dict(_paths(types)),
        "components": {"schemas": _schemas(registry, types)},
    }


def _paths(types: list[BuiltinType | CustomType]) -> Iterator[tuple[str, JSON]]:
    for each in types:
        root = f"/apis/{each.group}/{each.version}" if each.group else f"/api/{each.version}"
        place = f"{root}/namespaces/{{namespace}}/{each.plural}" if each.namespaced else f"{root}/{each.plural}"
        if each.namespaced and "list" in each.verbs:
            yield f"{root}/{each.plural}", dict(_operations(each, (("get", "list"),)))
        yield place, dict(_operations(each, _ACTIONS))
        yield f"{place}/{{name}}", dict(_operations(each, _ITEM_ACTIONS))


def _operations(each: BuiltinType | CustomType, actions: tuple[tuple[str, str], ...]) -> Iterator[tuple[str, JSON]]:
    kind = {"group": each.group, "version": each.version, "kind": each.kind}
    for method, action in actions:
        yield (
            method,
            {
                "x-kubernetes-action": action,
                "x-kubernetes-group-version-kind": kind,
                "responses": {"200": {"description": "OK"}},
                "operationId": f"{action}{each.group.replace('.', '')}{each.version}{each.kind}{len(actions)}",
            },
        )


def _schemas(registry: Registry, types: list[BuiltinType | CustomType]) -> dict[str, JSON]:
    found: dict[str, JSON] = {}
    for each in types:
        if isinstance(each, BuiltinType):
            found.update(registry.components.document(each.document))
        else:
            found.update(_metadata_schemas(registry))
            found.update(_custom_schemas(each))
    return found


def _metadata_schemas(registry: Registry) -> Iterator[tuple[str, JSON]]:
    for name, component in registry.components.document("core_v1").items():
        if name.startswith(_META):
            yield name, component


def component_name(each: CustomType) -> str:
    """Name the component of a custom kind as kube-apiserver does: the group backwards, the version, the kind."""
    return ".".join((*reversed(each.group.split(".")), each.version, each.kind))


def _custom_schemas(each: CustomType) -> Iterator[tuple[str, JSON]]:
    name = component_name(each)
    kind = {"group": each.group, "version": each.version, "kind": each.kind}
    schema = dict((each.described.get("schema") or {}).get("openAPIV3Schema") or {"type": "object"})
    typed = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}}
    metadata = {"allOf": [{"$ref": f"{_V3}{_META}ObjectMeta"}]}
    schema["properties"] = {**typed, **(schema.get("properties") or {}), "metadata": metadata}
    yield name, {**schema, "x-kubernetes-group-version-kind": [kind]}
    items = {"type": "array", "items": {"allOf": [{"$ref": _V3 + name}]}}
    list_metadata = {"allOf": [{"$ref": f"{_V3}{_META}ListMeta"}]}
    yield (
        f"{name}List",
        {
            "type": "object",
            "required": ["items"],
            "properties": {**typed, "items": items, "metadata": list_metadata},
            "x-kubernetes-group-version-kind": [{**kind, "kind": each.list_kind}],
        },
    )


# -- v2 --------------------------------------------------------------------------------------------------------


def _everything(registry: Registry) -> dict[str, JSON]:
    types = list(registry)
    return {
        "swagger": "2.0",
        "info": _INFO,
        "paths": dict(_paths(types)),
        "definitions": {name: _as_v2(each) for name, each in _schemas(registry, types).items()},
    }


def _as_v2(schema: JSON) -> JSON:
    """Rewrite a schema for v2, which has its references elsewhere and no alternatives."""
    if isinstance(schema, list):
        return [_as_v2(each) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    reference = schema.get("$ref") or next((each["$ref"] for each in schema.get("allOf") or () if "$ref" in each), None)
    if isinstance(reference, str):
        return {"$ref": reference.replace(_V3, _V2)}
    dropped = ("oneOf", "anyOf", "allOf", "not", "nullable", "default")
    return {key: _as_v2(value) for key, value in schema.items() if key not in dropped}
