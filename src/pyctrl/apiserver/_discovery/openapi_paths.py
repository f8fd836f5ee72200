"""Paths of the OpenAPI documents: the operations of each resource, with parameters, bodies and responses.

kubectl reads in them whether the server validates fields, and which patch types it accepts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache

import msgspec

from pyctrl._schemas.openapi_documents import openapi_documents
from pyctrl.apiserver._registry.builtin_type import BuiltinResourceType
from pyctrl.apiserver._resources.resource_type import ResourceType
from pyctrl.apiserver._schema.components import OpenAPIComponents
from pyctrl.apiserver._schema.schema import JSON

__all__ = [
    "META",
    "SCALE",
    "SCHEMAS",
    "component_name",
    "parameter_key",
    "path_as_v2",
    "paths_of",
    "with_shared_parameters",
]

SCHEMAS = "#/components/schemas/"
META = "io.k8s.apimachinery.pkg.apis.meta.v1."
SCALE = "io.k8s.api.autoscaling.v1.Scale"

_BODIES = ("application/json", "application/yaml")
_APPLY = "application/apply-patch+yaml"
_PATCHES = (_APPLY, "application/json-patch+json", "application/merge-patch+json")
_STRATEGIC = "application/strategic-merge-patch+json"

_WRITE = {"dryRun": "string", "fieldManager": "string", "fieldValidation": "string"}
_DELETE = {"dryRun": "string", "gracePeriodSeconds": "integer", "orphanDependents": "boolean"}
_DELETE |= {"propagationPolicy": "string", "ignoreStoreReadErrorWithClusterBreakingPotential": "boolean"}
_SELECT = {"continue": "string", "fieldSelector": "string", "labelSelector": "string", "limit": "integer"}
_SELECT |= {"resourceVersion": "string", "resourceVersionMatch": "string", "shardSelector": "string"}
_WATCH = {"allowWatchBookmarks": "boolean", "sendInitialEvents": "boolean", "timeoutSeconds": "integer"}
_WATCH["watch"] = "boolean"

# verb -> method, `x-kubernetes-action`, prefix of the operationId, query parameters
_VERBS: dict[str, tuple[str, str, str, Mapping[str, str]]] = {
    "list": ("get", "list", "list", _SELECT | _WATCH),
    "create": ("post", "post", "create", _WRITE),
    "deletecollection": ("delete", "deletecollection", "delete", _SELECT | _DELETE),
    "get": ("get", "get", "read", {"resourceVersion": "string"}),
    "update": ("put", "put", "replace", _WRITE),
    "patch": ("patch", "patch", "patch", {**_WRITE, "force": "boolean"}),
    "delete": ("delete", "delete", "delete", _DELETE),
}
_OF_COLLECTION, _OF_OBJECT = ("list", "create", "deletecollection"), ("get", "update", "patch", "delete")
_SUBRESOURCES = frozenset(("status", "scale", "finalize", "binding", "eviction", "token"))  # no streams, no proxies
_CODES = {"create": (200, 201, 202), "update": (200, 201), "delete": (200, 202)}
_ANSWERS = {200: "OK", 201: "Created", 202: "Accepted"}
_DESCRIBED = {  # verb -> its words before and after a subresource
    "list": ("list", " objects of kind "),
    "create": ("create", ""),
    "deletecollection": ("delete collection of", " "),
    "get": ("read", " the specified "),
    "update": ("replace", " the specified "),
    "patch": ("partially update", " the specified "),
    "delete": ("delete", ""),
}


def paths_of(types: Iterable[ResourceType], components: OpenAPIComponents) -> Iterator[tuple[str, JSON]]:
    """Yield the paths of resources with their v3 path items."""
    for each in types:
        yield from _ResourcePaths(each, components).items()


def path_as_v2(item: Mapping[str, JSON]) -> dict[str, JSON]:
    """Rewrite a path item for v2: parameters have their type without a schema, and the body is a parameter."""
    return {
        key: [_parameter_as_v2(each) for each in value] if key == "parameters" else _operation_as_v2(value)
        for key, value in item.items()
    }


def with_shared_parameters(item: Mapping[str, JSON], shared: Mapping[bytes, str]) -> dict[str, JSON]:
    """Return a path item of v2 with references to the parameters that the document has in `parameters`.

    Args:
        shared: Names of parameters by `parameter_key`.
    """

    def referred(parameters: Iterable[JSON]) -> list[JSON]:
        names = ((each, shared.get(parameter_key(each))) for each in parameters)
        return [each if name is None else {"$ref": f"#/parameters/{name}"} for each, name in names]

    return {
        key: referred(value)
        if key == "parameters"
        else {**value, "parameters": referred(value["parameters"])}
        if "parameters" in value
        else value
        for key, value in item.items()
    }


def parameter_key(parameter: Mapping[str, JSON]) -> bytes:
    """Return a key that equal parameters share."""
    return msgspec.json.encode(parameter, order="deterministic")


@dataclass(frozen=True, slots=True)
class _OperationKind:
    """The kind that an operation reads or writes, and the component that describes it."""

    group: str
    version: str
    kind: str
    component: str | None

    @property
    def identity(self) -> dict[str, str]:
        return {"group": self.group, "version": self.version, "kind": self.kind}


class _ResourcePaths:
    """The paths of one resource."""

    def __init__(self, each: ResourceType, components: OpenAPIComponents) -> None:
        self._type, self._components = each, components
        self._kind = self._kind_of(each.group, each.version, each.kind)
        root = f"/apis/{each.group}/{each.version}" if each.group else f"/api/{each.version}"
        self._all_namespaces = f"{root}/{each.plural}"
        self._collection = f"{root}/namespaces/{{namespace}}/{each.plural}" if each.namespaced else self._all_namespaces

    def items(self) -> Iterator[tuple[str, JSON]]:
        if self._type.namespaced and "list" in self._type.verbs:
            operations = self._operations(("list",), self._kind, "", "ForAllNamespaces")
            parameters = [*operations["get"].pop("parameters"), _parameter("pretty", "string")]
            yield self._all_namespaces, {"parameters": sorted(parameters, key=_name), **operations}
        for path, possible in ((self._collection, _OF_COLLECTION), (f"{self._collection}/{{name}}", _OF_OBJECT)):
            verbs = [verb for verb in possible if verb in self._type.verbs]
            if verbs:
                yield path, {"parameters": self._path_parameters(path), **self._operations(verbs, self._kind)}
        for name, kind, verbs in self._subresources():
            path = f"{self._collection}/{{name}}/{name}"
            operations = self._operations(verbs, kind, suffix=name.capitalize())
            yield path, {"parameters": self._path_parameters(path), **operations}

    def _path_parameters(self, path: str) -> list[JSON]:
        texts = {"name": f"name of the {self._type.kind}", "namespace": _parameter_texts().get(("", "namespace"), "")}
        schema = {"type": "string", "uniqueItems": True}
        required: list[JSON] = [
            {"name": name, "in": "path", "description": text, "required": True, "schema": schema}
            for name, text in texts.items()
            if f"{{{name}}}" in path
        ]
        return [*required, _parameter("pretty", "string")]

    def _subresources(self) -> Iterator[tuple[str, _OperationKind, list[str]]]:
        each = self._type
        if isinstance(each, BuiltinResourceType):
            for found in each.described.get("subresources", ()):
                if found["subresource"] in _SUBRESOURCES:
                    kind = found["responseKind"]
                    own = (kind["group"] or each.group, kind["version"] or each.version)
                    yield found["subresource"], self._kind_of(*own, kind["kind"]), found["verbs"]
            return
        for name in sorted(each.subresources & _SUBRESOURCES):
            yield (
                name,
                replace(self._kind, component=SCALE) if name == "scale" else self._kind,
                [verb for verb in ("get", "patch", "update") if verb in each.verbs],
            )

    def _operations(
        self, verbs: Iterable[str], kind: _OperationKind, scope: str = "Namespaced", suffix: str = ""
    ) -> dict[str, JSON]:
        each = self._type
        prefix = _camel(each.group, custom=each.is_custom) + each.version.capitalize()
        subject = (scope if each.namespaced else "") + each.kind + suffix
        part = "" if suffix == "ForAllNamespaces" else suffix.lower()
        return {_VERBS[verb][0]: self._operation(verb, kind, (prefix, subject), part) for verb in verbs}

    def _operation(self, verb: str, kind: _OperationKind, subject: tuple[str, str], part: str) -> dict[str, JSON]:
        _, action, name, parameters = _VERBS[verb]
        if verb == "deletecollection" and self._type.is_custom:
            parameters = _SELECT | _WATCH  # as upstream documents it
        content = self._response(verb, kind)
        responses = {str(code): {"description": _ANSWERS[code], **content} for code in _CODES.get(verb, (200,))}
        infix = "Collection" if verb == "deletecollection" else ""
        return {
            "tags": [f"{_lower(_camel(self._type.group, custom=self._type.is_custom))}_{self._type.version}"],
            "description": _description(verb, self._type.kind, part),
            "operationId": infix.join((name + subject[0], subject[1])),
            "parameters": [_parameter(name, wire, action) for name, wire in sorted(parameters.items())],
            **self._body(verb, kind),
            "responses": {**responses, "401": {"description": "Unauthorized"}},
            "x-kubernetes-action": action,
            "x-kubernetes-group-version-kind": kind.identity,
        }

    def _body(self, verb: str, kind: _OperationKind) -> dict[str, JSON]:
        if verb == "delete" or (verb == "deletecollection" and not self._type.is_custom):
            return {"requestBody": {"content": _content(f"{META}DeleteOptions")}}
        if verb == "patch":
            media = _PATCHES if self._type.is_custom else (*_PATCHES, _STRATEGIC)
            return {"requestBody": {"content": _content(f"{META}Patch", media), "required": True}}
        if verb in ("create", "update"):
            return {"requestBody": {"content": _content(kind.component), "required": True}}
        return {}

    def _response(self, verb: str, kind: _OperationKind) -> dict[str, JSON]:
        if verb in ("delete", "deletecollection"):
            return {"content": _content(f"{META}Status")}
        if verb == "list":
            return {"content": _content(self._kind_of(kind.group, kind.version, self._type.list_kind).component)}
        return {"content": _content(kind.component)}

    def _kind_of(self, group: str, version: str, kind: str) -> _OperationKind:
        each = self._type
        if isinstance(each, BuiltinResourceType):
            return _OperationKind(
                group, version, kind, self._components.component_of(each.document, group, version, kind)
            )
        return _OperationKind(group, version, kind, component_name(group, version, kind))


def component_name(group: str, version: str, kind: str) -> str:
    """Return the component name of a custom kind, as in kube-apiserver: reversed group, version, kind."""
    return ".".join((*reversed(group.split(".")), version, kind))


def _camel(group: str, *, custom: bool) -> str:
    words = (group if custom else group.removesuffix(".k8s.io") or "core").replace("-", ".").split(".")
    return "".join(word[:1].upper() + word[1:] for word in words)


def _content(component: str | None, media: Iterable[str] = _BODIES) -> dict[str, JSON]:
    schema = {"$ref": SCHEMAS + component} if component else {"type": "object"}
    return {each: {"schema": schema} for each in media}


def _parameter(name: str, type: str, action: str = "") -> dict[str, JSON]:
    texts = _parameter_texts()
    text = texts.get((action, name)) or texts.get(("", name), "")
    return {"name": name, "in": "query", "description": text, "schema": {"type": type, "uniqueItems": True}}


@cache
def _parameter_texts() -> Mapping[tuple[str, str], str]:
    """Return the descriptions of parameters by action ("": any) and name: those of the built-in resources."""
    found: dict[tuple[str, str], str] = {}
    for item in openapi_documents().paths("apis/apps/v1").values():
        for method, value in item.items():
            for each in value if isinstance(value, list) else value.get("parameters", ()):
                for action in (method, ""):
                    found.setdefault((action, each["name"]), each.get("description", ""))
    return found


def _name(parameter: Mapping[str, JSON]) -> str:
    return str(parameter["name"])


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def _description(verb: str, kind: str, part: str) -> str:
    """Return what an operation does, as kube-apiserver describes it."""
    words, after = _DESCRIBED[verb]
    is_plural = kind.endswith("s") and not kind.endswith("ss")
    article = " " if is_plural else " an " if kind[:1] in "AEIOU" else " a "
    return f"{words}{f' {part} of' if part else ''}{after or article}{kind}"


# -- v2 --------------------------------------------------------------------------------------------------------


def _operation_as_v2(operation: Mapping[str, JSON]) -> dict[str, JSON]:
    found = {key: value for key, value in operation.items() if key not in ("requestBody", "parameters")}
    parameters = [_parameter_as_v2(each) for each in operation.get("parameters", ())]
    found |= {"produces": list(_BODIES), "consumes": list(_BODIES), "schemes": ["https"]}
    body = operation.get("requestBody")
    if body:
        found["consumes"] = sorted(body["content"], key=_APPLY.__eq__)  # the last one
        required = {"required": True} if body.get("required") else {}
        parameters.append({"name": "body", "in": "body", **required, **_first_schema(body)})
    if parameters:
        found["parameters"] = sorted(parameters, key=_name)
    found["responses"] = {
        code: {"description": answer["description"], **_first_schema(answer)}
        for code, answer in operation["responses"].items()
    }
    return found


def _first_schema(described: Mapping[str, JSON]) -> dict[str, JSON]:
    contents = list(described.get("content", {}).values())
    return {"schema": contents[0]["schema"]} if contents else {}


def _parameter_as_v2(parameter: Mapping[str, JSON]) -> dict[str, JSON]:
    rest = {key: value for key, value in parameter.items() if key != "schema"}
    return {**rest, **parameter["schema"]}
