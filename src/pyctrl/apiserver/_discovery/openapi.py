"""OpenAPI documents: v3, one per group version, and v2, one for all. kubectl explain and validation read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import sha512

import msgspec

from pyctrl._schemas import Descriptions, descriptions
from pyctrl._schemas.openapi_documents import openapi_documents
from pyctrl.apiserver._apiextensions.custom_type import CustomResourceType
from pyctrl.apiserver._discovery.discovery import VERSION
from pyctrl.apiserver._discovery.openapi_paths import (
    META,
    SCALE,
    SCHEMAS,
    component_name,
    parameter_key,
    path_as_v2,
    paths_of,
    with_shared_parameters,
)
from pyctrl.apiserver._registry.builtin_type import BuiltinResourceType
from pyctrl.apiserver._resources.resource_type import ResourceType
from pyctrl.apiserver._resources.served_resources import ServedResources
from pyctrl.apiserver._resources.unserved_kinds import UNSERVED_KINDS
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["definitions_v2", "openapi_response"]

_INFO = {"title": "Kubernetes", "version": f"{VERSION['major']}.{VERSION['minor']}"}
_CUSTOM_INFO = {"title": "Kubernetes CRD Swagger", "version": "v0.1.0"}
_TOKEN = {"type": "apiKey", "description": "Bearer Token authentication", "name": "authorization", "in": "header"}
_ZEROS = {"string": "", "integer": 0, "boolean": False}
_V2 = "#/definitions/"
_OPEN = "x-kubernetes-preserve-unknown-fields"
# A kind and a list with the texts that all kinds and all lists have.
_KIND, _LIST = "io.k8s.api.core.v1.Pod", "io.k8s.api.core.v1.PodList"
_CONVENTIONS = "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md"
_EMBEDDED = {
    "apiVersion": "apiVersion defines the versioned schema of this representation of an object. "
    f"More info: {_CONVENTIONS}#resources",
    "kind": "kind is a string value representing the type of this object. In CamelCase. "
    f"More info: {_CONVENTIONS}#types-kinds",
}


def openapi_response(registry: ServedResources, path: str) -> dict[str, JSON] | None:
    """Return the document of a path below `/openapi/`, or None when the path does not exist."""
    parts = path.partition("?")[0].split("/")[1:]
    if parts == ["openapi", "v2"]:
        return _document_v2(registry)
    if parts == ["openapi", "v3"]:
        return {"paths": dict(_index(registry))}
    if parts[:2] == ["openapi", "v3"] and _is_kube_apiserver(registry):
        own = openapi_documents().document("/".join(parts[2:]))
        if own:
            return own
    if parts[:3] == ["openapi", "v3", "api"] and len(parts) == 4:
        return _document(registry, "", parts[3])
    if parts[:3] == ["openapi", "v3", "apis"] and len(parts) == 5:
        return _document(registry, parts[3], parts[4])
    return None


def _is_kube_apiserver(registry: ServedResources) -> bool:
    return "" in registry.group_versions


_DELETE_OPTIONS = "DeleteOptions"
_WITHOUT_OPTIONS = ("admission.k8s.io", "imagepolicy.k8s.io")  # groups that the server only sends


def _index(registry: ServedResources) -> Iterator[tuple[str, JSON]]:
    """Yield the path of each document with its URL. The hash by which clients cache it follows from its contents."""
    hashes = dict(openapi_documents().hashes()) if _is_kube_apiserver(registry) else {}
    for group, versions in registry.group_versions.items():
        for version in versions:
            path = _path_of(group, version)
            if path not in hashes or any(each.is_custom for each in registry.of_group(group, version)):
                types = [_identity(each) for each in registry.of_group(group, version)]
                hashes[path] = sha512(msgspec.json.encode([hashes.get(path, ""), types])).hexdigest().upper()
    for path in sorted(hashes):
        yield path, {"serverRelativeURL": f"/openapi/v3/{path}?hash={hashes[path]}"}


def _path_of(group: str, version: str) -> str:
    return f"apis/{group}/{version}" if group else f"api/{version}"


def _identity(each: ResourceType) -> list[JSON]:
    """Return what a document says about a type."""
    described = each.described if isinstance(each, CustomResourceType) else {}
    return [each.plural, each.kind, each.namespaced, each.verbs, sorted(each.subresources), described]


def _document(registry: ServedResources, group: str, version: str) -> dict[str, JSON] | None:
    types = registry.of_group(group, version)
    if not types:
        return None
    paths = _paths(registry, types, openapi_documents().paths(_path_of(group, version)))
    schemas = _schemas(registry, types)
    if all(each.is_custom for each in types):
        return {"openapi": "3.0.0", "info": _CUSTOM_INFO, "paths": paths, "components": _used(paths, schemas)}
    components = {"schemas": schemas, "securitySchemes": {"BearerToken": _TOKEN}}
    return {"openapi": "3.0.0", "info": _INFO, "paths": paths, "components": components}


def _used(paths: JSON, schemas: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return the components that paths refer to, and those that these refer to."""
    found, pending = dict[str, JSON](), [*_references(paths)]
    while pending:
        name = pending.pop()
        if name not in found and name in schemas:
            found[name] = schemas[name]
            pending += _references(schemas[name])
    return {"schemas": dict(sorted(found.items()))}


def _references(value: JSON) -> Iterator[str]:
    """Yield the names of the components that a part of a document refers to."""
    if isinstance(value, list):
        for each in value:
            yield from _references(each)
    elif isinstance(value, Mapping):
        for key, each in value.items():
            if key == "$ref" and isinstance(each, str):
                yield each.removeprefix(SCHEMAS)
            else:
                yield from _references(each)


def _paths(registry: ServedResources, types: list[ResourceType], known: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return the paths of types: those of built-in ones are known."""
    others = types if not known else [each for each in types if not isinstance(each, BuiltinResourceType)]
    return {**known, **dict(paths_of(others, registry.components))}


def _schemas(registry: ServedResources, types: list[ResourceType], *, is_v2: bool = False) -> dict[str, JSON]:
    """Return the schemas of resources. Descriptions are read for each document: few are requested, and kept encoded."""
    found: dict[str, JSON] = {}
    texts = descriptions()
    for document in dict.fromkeys(each.document for each in types if isinstance(each, BuiltinResourceType)):
        found.update(registry.components.document(document))
    custom = [each for each in types if isinstance(each, CustomResourceType)]
    if custom:
        found.update(_metadata_schemas(registry))
    found = {name: _described(_complete(component, found), texts.get(name, {})) for name, component in found.items()}
    for each in custom:
        found.update(_custom_schemas(each, texts, is_v2=is_v2))
    return found


def _complete(component: Mapping[str, JSON], components: Mapping[str, JSON]) -> Mapping[str, JSON]:
    """Return a component with the zero values of items, which the schemas of this package leave out."""
    properties = component.get("properties")
    if not properties:
        return component
    return {
        **component,
        "properties": {name: _with_zeros(schema, components) for name, schema in properties.items()},
    }


def _with_zeros(schema: Mapping[str, JSON], components: Mapping[str, JSON]) -> Mapping[str, JSON]:
    for slot in ("items", "additionalProperties"):
        item = schema.get(slot)
        if isinstance(item, Mapping):
            return {**schema, slot: _with_zero(_with_zeros(item, components), components)}
    return schema


def _with_zero(item: Mapping[str, JSON], components: Mapping[str, JSON]) -> Mapping[str, JSON]:
    """Return the schema of an item with the zero value of its Go type: a struct, or a number, text or boolean."""
    reference = item.get("$ref")
    if reference is not None:
        is_struct = components[reference.removeprefix(SCHEMAS)].get("type") == "object"
        return {"allOf": [{"$ref": reference}], "default": {}} if is_struct else item
    if item.get("type") in _ZEROS and item.get("format") != "byte":
        return {**item, "default": _ZEROS[item["type"]]}
    return item


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
        if name == f"{META}DeleteOptions":
            yield name, {**component, "x-kubernetes-group-version-kind": [*_kinds_of_delete_options(registry)]}
        elif name.startswith((META, SCALE)):
            yield name, component


def _kinds_of_delete_options(registry: ServedResources) -> Iterator[JSON]:
    """Yield DeleteOptions of each group version of kube-apiserver's scheme."""
    served = {(group, version) for group, versions in registry.group_versions.items() for version in versions}
    known = {
        pair
        for pair in served
        if any(registry.is_registered(each.api_version, each.kind) for each in registry.of_group(*pair))
    }
    unserved = {(each.partition("/")[0], each.partition("/")[2]) for each in UNSERVED_KINDS}
    for group, version in sorted(known | {pair for pair in unserved if pair[0] not in _WITHOUT_OPTIONS}):
        yield {"group": group, "kind": _DELETE_OPTIONS, "version": version}


def _custom_schemas(each: CustomResourceType, texts: Descriptions, *, is_v2: bool) -> Iterator[tuple[str, JSON]]:
    name = component_name(each.group, each.version, each.kind)
    kind = {"group": each.group, "version": each.version, "kind": each.kind}
    declared = (each.described.get("schema") or {}).get("openAPIV3Schema") or {"type": "object"}
    if is_v2 and declared.get(_OPEN):
        published: dict[str, JSON] = {"type": "object"}
    else:
        published = _published(_structural_v2(declared) if is_v2 else declared, texts, is_v2=is_v2)
        own = _type_meta("ObjectMeta", texts[_KIND])
        published["properties"] = {**(published.get("properties") or {}), **own}
    fields = [
        {"fieldPath": found["jsonPath"].removeprefix(".")} for found in each.described.get("selectableFields") or ()
    ]
    selectable = {"x-kubernetes-selectable-fields": fields} if fields else {}
    yield (
        name,
        {
            **published,
            "x-kubernetes-group-version-kind": [kind],
            **selectable,
        },
    )
    items = {"type": "array", "items": {"$ref": SCHEMAS + name}}
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
            **selectable,
        },
    )


def _published(schema: Mapping[str, JSON], texts: Descriptions, *, is_v2: bool) -> dict[str, JSON]:
    """Return a declared schema with the meaning of its extensions: numbers or texts, and fields of embedded objects."""
    found = dict(schema)
    for slot in ("items", "additionalProperties"):
        if isinstance(found.get(slot), Mapping):
            found[slot] = _published(found[slot], texts, is_v2=is_v2)
    if properties := found.get("properties"):
        found["properties"] = {name: _published(each, texts, is_v2=is_v2) for name, each in properties.items()}
    if found.get("x-kubernetes-int-or-string") and "anyOf" not in found:
        found["anyOf"] = [{"type": "integer"}, {"type": "string"}]
    if found.get("x-kubernetes-embedded-resource") and not (is_v2 and found.get(_OPEN)):
        own = _type_meta("ObjectMeta", {**texts[_KIND], **_EMBEDDED})
        found["properties"] = {**(found.get("properties") or {}), **own}
        required = found.get("required") or []
        found["required"] = [*required, *(each for each in ("kind", "apiVersion") if each not in required)]
    return found


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
    known = openapi_documents().version_2() if _is_kube_apiserver(registry) else {}
    types = [each for each in registry if not known or not isinstance(each, BuiltinResourceType)]
    shared = {parameter_key(each): name for name, each in known.get("parameters", {}).items()}
    items = ((path, _as_v2(path_as_v2(item))) for path, item in paths_of(types, registry.components))
    paths = {path: with_shared_parameters(item, shared) for path, item in items}
    return {
        "swagger": "2.0",
        "info": _INFO,
        **known,
        "paths": {**known.get("paths", {}), **paths},
        "definitions": dict(sorted({**definitions_v2(registry), **known.get("definitions", {})}.items())),
    }


def definitions_v2(registry: ServedResources) -> dict[str, JSON]:
    """Return the definitions of the v2 document, as far as they follow from the schemas of v3."""
    return {name: _schema_v2(each) for name, each in _schemas(registry, list(registry), is_v2=True).items()}


def _schema_v2(schema: Mapping[str, JSON]) -> JSON:
    """Rewrite a schema for v2. Its properties may have the names of keywords."""
    rewritten = _as_v2({key: value for key, value in schema.items() if key != "properties"})
    properties = schema.get("properties")
    if properties is not None and isinstance(rewritten, dict) and "$ref" not in rewritten:
        rewritten["properties"] = {name: _schema_v2(each) for name, each in properties.items()}
    return rewritten


def _structural_v2(schema: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return a declared schema without what v2 cannot say: clients would refuse null, and fields that are unknown."""
    found = dict(schema)
    is_open = found.get(_OPEN)
    if found.get("nullable") or is_open:
        found = {key: value for key, value in found.items() if key not in ("items", "properties")}
    no_type = ("array",) if "items" not in found else ()
    if found.get("nullable") or found.get("type") in ((*no_type, "object") if is_open else no_type):
        found.pop("type", None)
    fields, values = found.get("properties") or {}, found.get("additionalProperties")
    required = [each for each in found.pop("required", ()) if not (fields.get(each) or {}).get("nullable")]
    if required and not (isinstance(values, Mapping) and values.get("nullable")):
        found["required"] = required
    if fields:
        found["properties"] = {name: _structural_v2(each) for name, each in fields.items()}
    for slot in ("items", "additionalProperties"):
        if isinstance(found.get(slot), Mapping):
            found[slot] = _structural_v2(found[slot])
    return found


def _as_v2(schema: JSON) -> JSON:
    """Rewrite a schema for v2, which has other references and no oneOf, anyOf, allOf and not."""
    if isinstance(schema, list):
        return [_as_v2(each) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    reference = schema.get("$ref") or next((each["$ref"] for each in schema.get("allOf") or () if "$ref" in each), None)
    if isinstance(reference, str):
        kept = {key: value for key, value in schema.items() if key == "description" or key.startswith("x-kubernetes-")}
        return {**kept, "$ref": reference.replace(SCHEMAS, _V2)}
    dropped = ("oneOf", "anyOf", "allOf", "not", "nullable", "default")
    return {key: _as_v2(value) for key, value in schema.items() if key not in dropped}
