"""OpenAPI documents: v3, one per group version, and v2, one for all. kubectl explain and validation read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pyctrl._schemas import Descriptions, descriptions
from pyctrl.apiserver._apiextensions.custom_type import CustomResourceType
from pyctrl.apiserver._discovery.discovery import VERSION
from pyctrl.apiserver._discovery.openapi_paths import META, SCHEMAS, component_name, path_as_v2, paths_of
from pyctrl.apiserver._registry.builtin_type import BuiltinResourceType
from pyctrl.apiserver._resources.resource_type import ResourceType
from pyctrl.apiserver._resources.served_resources import ServedResources
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["openapi_response"]

_INFO = {"title": "Kubernetes", "version": VERSION["gitVersion"]}
_V2 = "#/definitions/"
# A kind and a list with the texts that all kinds and all lists have.
_KIND, _LIST = "io.k8s.api.core.v1.Pod", "io.k8s.api.core.v1.PodList"
_CONVENTIONS = "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md"


def openapi_response(registry: ServedResources, path: str) -> dict[str, JSON] | None:
    """Return the document of a path below `/openapi/`, or None when the path does not exist."""
    parts = [part for part in path.partition("?")[0].split("/") if part]
    if parts == ["openapi", "v2"]:
        return _document_v2(registry)
    if parts == ["openapi", "v3"]:
        return {"paths": dict(_index(registry))}
    if parts[:3] == ["openapi", "v3", "api"] and len(parts) == 4:
        return _document(registry, "", parts[3])
    if parts[:3] == ["openapi", "v3", "apis"] and len(parts) == 5:
        return _document(registry, parts[3], parts[4])
    return None


def _index(registry: ServedResources) -> Iterator[tuple[str, JSON]]:
    for group, versions in registry.group_versions.items():
        for version in versions:
            path = f"apis/{group}/{version}" if group else f"api/{version}"
            yield path, {"serverRelativeURL": f"/openapi/v3/{path}?hash={registry.epoch}"}


def _document(registry: ServedResources, group: str, version: str) -> dict[str, JSON] | None:
    types = registry.of_group(group, version)
    if not types:
        return None
    return {
        "openapi": "3.0.0",
        "info": _INFO,
        "paths": dict(paths_of(types, registry.components)),
        "components": {"schemas": _schemas(registry, types)},
    }


def _schemas(registry: ServedResources, types: list[ResourceType]) -> dict[str, JSON]:
    """Return the schemas of resources. Descriptions are read for each document: few are requested, and kept encoded."""
    found: dict[str, JSON] = {}
    texts = descriptions()
    for document in dict.fromkeys(each.document for each in types if isinstance(each, BuiltinResourceType)):
        found.update(registry.components.document(document))
    custom = [each for each in types if isinstance(each, CustomResourceType)]
    if custom:
        found.update(_metadata_schemas(registry))
    found = {name: _described(component, texts.get(name, {})) for name, component in found.items()}
    for each in custom:
        found.update(_custom_schemas(each, texts))
    return found


def _described(component: Mapping[str, JSON], texts: Mapping[str, str]) -> dict[str, JSON]:
    """Return a component with texts: its own is under "", the others under the names of its properties."""
    found = {**component, "description": texts[""]} if "" in texts else dict(component)
    if properties := component.get("properties"):
        found["properties"] = {
            name: {**schema, "description": texts[name]} if name in texts else schema
            for name, schema in properties.items()
        }
    return found


def _metadata_schemas(registry: ServedResources) -> Iterator[tuple[str, JSON]]:
    for name, component in registry.components.document("core_v1").items():
        if name.startswith(META):
            yield name, component


def _custom_schemas(each: CustomResourceType, texts: Descriptions) -> Iterator[tuple[str, JSON]]:
    name = component_name(each.group, each.version, each.kind)
    kind = {"group": each.group, "version": each.version, "kind": each.kind}
    declared: Mapping[str, JSON] = (each.described.get("schema") or {}).get("openAPIV3Schema") or {"type": "object"}
    yield (
        name,
        {
            **declared,
            "properties": {**(declared.get("properties") or {}), **_type_meta("ObjectMeta", texts[_KIND])},
            "x-kubernetes-group-version-kind": [kind],
        },
    )
    items = {"type": "array", "items": {"allOf": [{"$ref": SCHEMAS + name}]}}
    yield (
        f"{name}List",
        {
            "type": "object",
            "description": f"{each.list_kind} is a list of {each.kind}",
            "required": ["items"],
            "properties": {
                **_type_meta("ListMeta", texts[_LIST]),
                "items": {**items, "description": f"List of {each.plural}. More info: {_CONVENTIONS}"},
            },
            "x-kubernetes-group-version-kind": [{**kind, "kind": each.list_kind}],
        },
    )


def _type_meta(metadata: str, texts: Mapping[str, str]) -> dict[str, JSON]:
    """Return the properties that every kind has, or every list; they replace those of a definition."""
    properties: dict[str, dict[str, JSON]] = {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": {"allOf": [{"$ref": f"{SCHEMAS}{META}{metadata}"}]},
    }
    return {name: {**schema, "description": texts[name]} for name, schema in properties.items()}


# -- v2 --------------------------------------------------------------------------------------------------------


def _document_v2(registry: ServedResources) -> dict[str, JSON]:
    types = list(registry)
    return {
        "swagger": "2.0",
        "info": {"title": _INFO["title"], "version": f"{VERSION['major']}.{VERSION['minor']}"},
        "paths": {path: _as_v2(path_as_v2(item)) for path, item in paths_of(types, registry.components)},
        "definitions": {name: _as_v2(each) for name, each in _schemas(registry, types).items()},
    }


def _as_v2(schema: JSON) -> JSON:
    """Rewrite a schema for v2, which has other references and no oneOf, anyOf, allOf and not."""
    if isinstance(schema, list):
        return [_as_v2(each) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    reference = schema.get("$ref") or next((each["$ref"] for each in schema.get("allOf") or () if "$ref" in each), None)
    if isinstance(reference, str):
        return {key: schema[key] for key in ("description",) if key in schema} | {
            "$ref": reference.replace(SCHEMAS, _V2)
        }
    dropped = ("oneOf", "anyOf", "allOf", "not", "nullable", "default")
    return {key: _as_v2(value) for key, value in schema.items() if key not in dropped}
