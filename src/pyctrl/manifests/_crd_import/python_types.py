"""Python types and their markers from the schema of a place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field, PydanticSchemaGenerationError, TypeAdapter
from pydantic_core import SchemaError

from pyctrl.manifests._crd_import.classes import ITEM, KEY, Classes, rule_marker
from pyctrl.manifests._crd_import.known_types import known_type
from pyctrl.manifests._crd_import.python_names import field_names
from pyctrl.manifests._crd_import.source_layout import Expression, call, literal, sequence, subscript, union

__all__ = ["TypedField", "note_unsupported_of_object", "type_of", "with_markers"]

Schema = Mapping[str, Any]
ClassMaker = Callable[[Schema, tuple[str, ...], Classes], str]

_INT_OR_STRING = [{"type": "integer"}, {"type": "string"}]
_QUANTITY = "numkMGTPE"  # suffix letters in the pattern of a quantity, as generators write it
_PLAIN = ("string", "integer", "boolean")  # types whose values are JSON values, except times
_NUMBERS = {"minimum": "ge", "maximum": "le"}
_EXCLUSIVE = {"minimum": "gt", "maximum": "lt"}
#: Keywords of the place, or handled elsewhere.
_ELSEWHERE = frozenset(
    {
        *("type", "description", "default", "nullable", "title", "example", "externalDocs", "enum", "format"),
        *("properties", "required", "items", "additionalProperties", "x-kubernetes-int-or-string"),
        *("x-kubernetes-validations", "exclusiveMinimum", "exclusiveMaximum"),
    }
)
_OF_OBJECTS = frozenset(
    {
        *("minProperties", "maxProperties", "x-kubernetes-map-type", "x-kubernetes-preserve-unknown-fields"),
        "x-kubernetes-embedded-resource",
    }
)


@dataclass(slots=True)
class TypedField:
    """A type, its markers, and the arguments of its ``Field(…)``; ``empty`` is the factory of an absent value."""

    annotation: Expression
    marks: list[Expression] = field(default_factory=list)
    checks: dict[str, Expression] = field(default_factory=dict)
    empty: str = ""
    is_class: bool = False
    is_plain: bool = False  # JSON values are values of the type


def with_markers(annotation: Expression, marks: Iterable[Expression], classes: Classes) -> Expression:
    """Return the annotation with markers, if there are any."""
    beside = tuple(marks)
    return subscript(classes.use("Annotated"), annotation, *beside) if beside else annotation


def type_of(schema: Schema, path: tuple[str, ...], classes: Classes, make: ClassMaker) -> TypedField:
    """Return the type of a place; ``make`` creates the class of an object."""
    handled = set(_ELSEWHERE)
    name = path[-1] if path else ""
    if (known := known_type(schema, name=name)) is not None:
        return TypedField(classes.use(*known), is_class=True)
    if schema.get("x-kubernetes-int-or-string"):
        typed = _int_or_string(schema, classes, handled)
    elif schema.get("enum"):
        typed = _enum(schema, classes)
    else:
        typed = _of_type(schema, path, classes, make, handled)
    if not typed.is_class:
        typed.marks += [rule_marker(rule, classes) for rule in schema.get("x-kubernetes-validations") or ()]
    if not typed.is_class:  # a class reports its own notes
        _note_unsupported(schema, path, handled, classes)
    return typed


def _of_type(
    schema: Schema, path: tuple[str, ...], classes: Classes, make: ClassMaker, handled: set[str]
) -> TypedField:
    kind = schema.get("type")
    if kind in ("array", "object"):
        return (_array if kind == "array" else _object)(schema, path, classes, make, handled)
    return {"string": _string, "integer": _number, "number": _number}.get(str(kind), _other)(schema, classes, handled)


def note_unsupported_of_object(schema: Schema, path: tuple[str, ...], classes: Classes) -> None:
    """Note the keywords of an object that its class cannot express."""
    _note_unsupported(schema, path, {*_ELSEWHERE, *_OF_OBJECTS}, classes)


def _note_unsupported(schema: Schema, path: tuple[str, ...], handled: set[str], classes: Classes) -> None:
    for key, value in sorted(schema.items()):
        if key not in handled and value is not None and value is not False and value not in ([], {}):
            classes.note(key, path)


def _inner(schema: Schema, path: tuple[str, ...], classes: Classes, make: ClassMaker) -> Expression:
    """Return the type of a list's items or a map's values, with its markers and constraints."""
    typed = type_of(schema, path, classes, make)
    checks = [call(classes.use("Field"), **typed.checks)] if typed.checks else []
    if schema.get("default") is not None:
        classes.note("default", path)
    may_be_none = schema.get("nullable") and not schema.get("enum")
    annotation = union(typed.annotation, "None") if may_be_none else typed.annotation
    return with_markers(annotation, [*typed.marks, *checks], classes)


# -- scalars ---------------------------------------------------------------------------------------------------------


def _int_or_string(schema: Schema, classes: Classes, handled: set[str]) -> TypedField:
    handled |= {"pattern"}
    if schema.get("anyOf") == _INT_OR_STRING:
        handled.add("anyOf")
    if schema.get("allOf") == [{"anyOf": _INT_OR_STRING}]:
        handled.add("allOf")
    if schema.get("enum"):
        return _enum(schema, classes)
    pattern = schema.get("pattern") or ""
    if _QUANTITY in pattern:
        return TypedField(classes.use("Quantity"))
    marks: list[Expression] = [call(classes.use("Pattern"), literal(pattern))] if pattern else []
    return TypedField(classes.use("IntOrString"), marks, is_plain=True)


def _enum(schema: Schema, classes: Classes) -> TypedField:
    values = list(dict.fromkeys(each for each in schema["enum"] if each is not None))
    format_ = schema.get("format")
    marks: list[Expression] = [call(classes.use("Format"), literal(format_))] if format_ else []
    return TypedField(subscript(classes.use("Literal"), *map(literal, values)), marks, is_plain=True)


def _string(schema: Schema, classes: Classes, handled: set[str]) -> TypedField:
    handled |= {"minLength", "maxLength", "pattern"}
    words = {"min_length": schema.get("minLength"), "max_length": schema.get("maxLength")}
    checks = {key: literal(value) for key, value in words.items() if value is not None}
    format_, pattern = schema.get("format"), schema.get("pattern")
    if format_ == "date-time" and not checks and not pattern:
        return TypedField(classes.use("Time"))
    marks: list[Expression] = [call(classes.use("Format"), literal(format_))] if format_ else []
    if pattern and _can_check(pattern):
        checks["pattern"] = literal(pattern)
    elif pattern:
        marks.append(call(classes.use("Pattern"), literal(pattern)))
    return TypedField("str", marks, checks, is_plain=True)


def _can_check(pattern: str) -> bool:
    """Return whether pydantic, whose expressions are Rust's and not Go's, accepts a pattern."""
    try:
        TypeAdapter(Annotated[str, Field(pattern=pattern)])
    except (SchemaError, PydanticSchemaGenerationError):
        return False
    return True


def _number(schema: Schema, classes: Classes, handled: set[str]) -> TypedField:
    handled |= {"minimum", "maximum", "multipleOf"}
    checks: dict[str, Expression] = {}
    for key, word in _NUMBERS.items():
        if schema.get(key) is not None:
            is_exclusive = schema.get(f"exclusive{key.capitalize()}")
            checks[_EXCLUSIVE[key] if is_exclusive else word] = literal(schema[key])
    if schema.get("multipleOf") is not None:
        checks["multiple_of"] = literal(schema["multipleOf"])
    name, format_ = "int" if schema["type"] == "integer" else "float", schema.get("format")
    if name == "int" and format_ in ("int32", "int64"):
        return TypedField(classes.use(format_.capitalize()), [], checks, is_plain=True)
    marks: list[Expression] = [call(classes.use("Format"), literal(format_))] if format_ else []
    return TypedField(name, marks, checks, is_plain=True)


def _other(schema: Schema, classes: Classes, handled: set[str]) -> TypedField:
    if schema.get("type") == "boolean":
        return TypedField("bool", is_plain=True)
    handled.add("x-kubernetes-preserve-unknown-fields")
    return TypedField(classes.use("Any"), [call(classes.use("PreserveUnknownFields"))])


# -- lists, maps and objects
# --------------------------------------------------------------------------------------------------


def _array(schema: Schema, path: tuple[str, ...], classes: Classes, make: ClassMaker, handled: set[str]) -> TypedField:
    handled |= {"minItems", "maxItems", "x-kubernetes-list-type", "x-kubernetes-list-map-keys"}
    items = schema.get("items") or {"x-kubernetes-preserve-unknown-fields": True}
    words = {"min_length": schema.get("minItems"), "max_length": schema.get("maxItems")}
    checks = {key: literal(value) for key, value in words.items() if value is not None}
    kind = schema.get("x-kubernetes-list-type")
    marks: list[Expression] = []
    if kind == "map":
        names = field_names(items.get("properties") or ())
        keys = sequence(*(literal(names[key]) for key in schema["x-kubernetes-list-map-keys"]))
        marks.append(call(classes.use("ListType"), '"map"', keys=keys))
    elif kind or known_type(items) == ("Condition", "pyctrl.api"):
        marks.append(call(classes.use("ListType"), literal(kind or "atomic")))
    annotation = subscript("list", _inner(items, (*path, ITEM), classes, make))
    return TypedField(
        annotation, marks, checks, empty="list", is_plain=items.get("type") in ("string", "integer", "boolean")
    )


def _object(schema: Schema, path: tuple[str, ...], classes: Classes, make: ClassMaker, handled: set[str]) -> TypedField:
    handled |= _OF_OBJECTS
    embedded: list[Expression] = []
    if schema.get("x-kubernetes-embedded-resource"):
        embedded = [call(classes.use("EmbeddedResource"))]
    additional = schema.get("additionalProperties")
    is_open = bool(schema.get("x-kubernetes-preserve-unknown-fields"))
    if schema.get("properties") or not (additional or is_open):
        return TypedField(make(schema, path, classes), embedded, is_class=True)
    marks, checks = _of_map(schema, classes)
    for name in schema.get("required") or ():
        classes.note("that it is required, and described nowhere", (*path, name))
    if isinstance(additional, Mapping):
        return TypedField(
            subscript("dict", "str", _inner(additional, (*path, KEY), classes, make)),
            [*embedded, *marks],
            checks,
            empty="dict",
            is_plain=additional.get("type") in _PLAIN,
        )
    if additional:
        classes.note("that values keep none of their fields (additionalProperties: true)", path)
    annotation = subscript("dict", "str", classes.use("Any"))
    open_ = call(classes.use("PreserveUnknownFields"))
    return TypedField(annotation, [*embedded, open_, *marks], checks, empty="dict", is_plain=True)


def _of_map(schema: Schema, classes: Classes) -> tuple[list[Expression], dict[str, Expression]]:
    words = {"min_length": schema.get("minProperties"), "max_length": schema.get("maxProperties")}
    checks = {key: literal(value) for key, value in words.items() if value is not None}
    kind = schema.get("x-kubernetes-map-type")
    return ([call(classes.use("MapType"), literal(kind))] if kind else []), checks
