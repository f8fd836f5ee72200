"""Schemas of built-in kinds, compiled from the components of the OpenAPI documents at first use.

A component is compiled once and shared by all documents. Compiling a field compiles the components that it refers to,
so only used kinds of a group are compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from pyctrl.apiserver._schema.go_types import is_always_written, is_pointer, type_name
from pyctrl.apiserver._schema.schema import JSON, NO_DEFAULT, GoTypeInfo, SchemaNode

__all__ = ["OpenAPIComponents"]


_PREFIX = "#/components/schemas/"
_SCALARS = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": ("quantity", "resource.Quantity"),
    "io.k8s.apimachinery.pkg.apis.meta.v1.Time": ("time", "v1.Time"),
    "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": ("microtime", "v1.MicroTime"),
}
_EITHER = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1."
_STAND_INS = {  # union types: the component of one alternative, and the Python type of the other, which is kept as is
    f"{_EITHER}JSONSchemaPropsOrArray": (f"{_EITHER}JSONSchemaProps", list),
    f"{_EITHER}JSONSchemaPropsOrBool": (f"{_EITHER}JSONSchemaProps", bool),
    f"{_EITHER}JSONSchemaPropsOrStringArray": (f"{_EITHER}JSONSchemaProps", list),
}
_ZERO_SCALARS = {"string": "", "integer": 0, "number": 0, "boolean": False}


class OpenAPIComponents:
    """Schema nodes of built-in kinds by component name. `load` returns an OpenAPI v3 document by its name."""

    def __init__(self, load: Callable[[str], Mapping[str, JSON]]) -> None:
        self._load = load
        self._documents: dict[str, Mapping[str, JSON]] = {}
        self._nodes: dict[str, SchemaNode] = {}
        self._kinds: dict[str, dict[tuple[str, str, str], str]] = {}

    def document(self, name: str) -> Mapping[str, JSON]:
        """Return the components of one document, as on disk."""
        schemas: Mapping[str, JSON] = self._document(name)["schemas"]
        return schemas

    def columns(self, path: str) -> Sequence[Mapping[str, JSON]]:
        """Return the table columns of the resource at a path."""
        found: Sequence[Mapping[str, JSON]] = self._document("tables").get(path, ())
        return found

    def _document(self, name: str) -> Mapping[str, JSON]:
        if name not in self._documents:
            self._documents[name] = self._load(name)
        return self._documents[name]

    def kind(self, document: str, group: str, version: str, kind: str) -> SchemaNode | None:
        """Return the node of a kind in a document; None if it is not in there."""
        name = self.component_of(document, group, version, kind)
        return self.node(document, name) if name else None

    def component_of(self, document: str, group: str, version: str, kind: str) -> str | None:
        """Return the name of the component of a kind; None if the document has none."""
        if document not in self._kinds:
            self._kinds[document] = {
                (each.get("group", ""), each["version"], each["kind"]): name
                for name, component in self.document(document).items()
                for each in component.get("x-kubernetes-group-version-kind", ())
            }
        return self._kinds[document].get((group, version, kind))

    def node(self, document: str, name: str) -> SchemaNode:
        """Return the node of a component; it and the components that it refers to are compiled at first use."""
        if name in _STAND_INS:
            stand_in, also = _STAND_INS[name]
            node = self.node(document, stand_in)
            return replace(node, go=replace(node.go or GoTypeInfo(), also=also))
        if name not in self._nodes:
            self._nodes[name] = node = _empty(name)
            component = self.document(document)[name]
            if not (node.go and node.go.scalar) and not node.int_or_string:
                self._fill(document, name, node, component)
        return self._nodes[name]

    def _fill(self, document: str, name: str, node: SchemaNode, component: Mapping[str, JSON]) -> None:
        properties: Mapping[str, JSON] = component.get("properties") or {}
        node.type = component.get("type")
        node.required = tuple(component.get("required", ()))
        is_raw = name.endswith("runtime.RawExtension")  # one value, whatever its parts
        node.atomic = is_raw or component.get("x-kubernetes-map-type") == "atomic"
        node.open = not properties and "additionalProperties" not in component and node.type in (None, "object")
        facts = node.go or GoTypeInfo()
        for key, schema in properties.items():
            field = self._field(document, schema)
            if field.go and _reference(schema) is None and (printed := type_name(name, key)):
                field.go.name = printed
                if field.items is not None and field.items.go is not None:
                    field.items.go.name = printed.removeprefix("[]")
                if (
                    field.additional is not None
                    and field.additional.go is not None
                    and field.additional.type in _ZERO_SCALARS
                ):
                    field.additional.go.name = printed.partition("]")[2]
            if field.go and not field.go.scalar and field.type in _ZERO_SCALARS:
                field.go.drop_zero = not is_pointer(name, key) and not is_always_written(name, key)
            node.properties[key] = field
        facts.structs = tuple(key for key, schema in properties.items() if _is_struct(schema))
        facts.zeros = tuple(
            (key, zero)
            for key, each in node.properties.items()
            if key not in facts.structs
            for zero in _zero(name, key, each)
        )

    def _field(self, document: str, schema: Mapping[str, JSON]) -> SchemaNode:
        reference = _reference(schema)
        if reference is not None:
            return _with_merge_rules(self.node(document, reference), schema)
        node = SchemaNode(
            type=schema.get("type"),
            items=self._field(document, schema["items"]) if "items" in schema else None,
            additional=self._additional(document, schema.get("additionalProperties")),
            default=schema["default"] if _is_scalar(schema.get("default")) else NO_DEFAULT,  # of an absent list key
            go=GoTypeInfo(name=_go_name(schema)),
        )
        if schema.get("format") == "byte":
            node.go = GoTypeInfo(name="[]uint8", scalar="bytes")
        node.open = node.type in (None, "object") and node.additional is None
        node.list_type = schema.get("x-kubernetes-list-type", "atomic")
        node.map_keys = tuple(schema.get("x-kubernetes-list-map-keys", ()))
        node.atomic = schema.get("x-kubernetes-map-type") == "atomic"
        node.merge = "merge" in schema.get("x-kubernetes-patch-strategy", "")
        node.merge_key = schema.get("x-kubernetes-patch-merge-key", "")
        return node

    def _additional(self, document: str, schema: JSON) -> SchemaNode | None:
        return self._field(document, schema) if isinstance(schema, Mapping) else None


def _empty(name: str) -> SchemaNode:
    """Return the node of a component without its fields, so that a component can refer to itself."""
    short = name.rpartition(".")[2]
    package = name.rpartition(".")[0].rpartition(".")[2]
    if name in _SCALARS:
        scalar, printed = _SCALARS[name]
        return SchemaNode(type="string", go=GoTypeInfo(scalar=scalar, name=printed))
    if name.endswith("intstr.IntOrString"):
        return SchemaNode(int_or_string=True, go=GoTypeInfo(name="intstr.IntOrString"))
    return SchemaNode(go=GoTypeInfo(struct=short, name=f"{package}.{short}"))


def _is_scalar(value: JSON) -> bool:
    return isinstance(value, str | int | float)


def _reference(schema: Mapping[str, JSON]) -> str | None:
    reference: str | None = schema.get("$ref")
    for each in schema.get("allOf", ()):
        reference = each.get("$ref", reference)
    return reference.removeprefix(_PREFIX) if reference else None


def _with_merge_rules(node: SchemaNode, schema: Mapping[str, JSON]) -> SchemaNode:
    is_replaced = schema.get("x-kubernetes-patch-strategy") == "replace"
    atomic = {"atomic": True, "granular": False}.get(schema.get("x-kubernetes-map-type", ""), node.atomic)
    if not node.properties:  # a raw value, which has no fields
        atomic = atomic or node.atomic
    if not is_replaced and atomic == node.atomic:
        return node
    return replace(node, replace=is_replaced, atomic=atomic)


def _is_struct(schema: Mapping[str, JSON]) -> bool:
    return schema.get("default") == {} and _reference(schema) not in (None, *_SCALARS)


def _zero(component: str, key: str, field: SchemaNode) -> tuple[JSON, ...]:
    """Return the zero value that Go writes for an absent field, in a tuple; () if it writes none."""
    if field.go and field.go.scalar in ("time", "microtime"):
        return () if is_pointer(component, key) else (None,)
    if not is_always_written(component, key):
        return ()
    if is_pointer(component, key):
        return (None,)
    if field.go and field.go.scalar == "quantity":
        return ("0",)
    if field.int_or_string:
        return (0,)
    if field.type in _ZERO_SCALARS and not (field.go and field.go.scalar):
        return (_ZERO_SCALARS[field.type],)
    return (None,)


_QUANTITIES = tuple(name for name, (scalar, _) in _SCALARS.items() if scalar == "quantity")
_GO_SCALARS = {"string": "string", "boolean": "bool", "number": "float64"}


def _go_name(schema: Mapping[str, JSON]) -> str:
    """Return the Go type of a field as in decoding errors."""
    kind = schema.get("type")
    if kind == "integer":
        return str(schema.get("format", "int64"))
    if schema.get("format") == "byte":
        return "[]uint8"
    if kind == "array":
        return f"[]{_go_name_below(schema.get('items', {}))}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), Mapping):
        if _reference(schema["additionalProperties"]) in _QUANTITIES:
            return "v1.ResourceList"
        return f"map[string]{_go_name_below(schema['additionalProperties'])}"
    return _GO_SCALARS.get(str(kind), "interface {}")


def _go_name_below(schema: Mapping[str, JSON]) -> str:
    reference = _reference(schema)
    if reference is None:
        return _go_name(schema)
    return _SCALARS[reference][1] if reference in _SCALARS else ".".join(reference.split(".")[-2:])
