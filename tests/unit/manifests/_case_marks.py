"""Every mark with its schema."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    Field,
    WithJsonSchema,
)
from typing_extensions import Doc

from pyctrl.api import (
    Condition,
    EmbeddedResource,
    ExternalDocs,
    Format,
    ListType,
    MapType,
    Nullable,
    Pattern,
    PreserveUnknownFields,
    Required,
    Schemaless,
    SchemaType,
    ValidationRule,
)
from tests.unit.manifests._case import ANYTHING, CONDITION, INTEGER, MAP, OPEN, PORT, TEXT, TEXTS, Case
from tests.unit.manifests._case_models import (
    AtLeast,
    AtMost,
    Counted,
    Exactly,
    Fixed,
    Loud,
    Named,
    Open,
    OpenPlain,
    Port,
    Range,
)

RULE = ValidationRule(
    "self.startsWith('a')",
    message_expression="'not ' + self",
    reason="FieldValueForbidden",
)

MARKS = [
    Case("format", Annotated[str, Format("hostname")], {"type": "string", "format": "hostname"}),
    Case("list_atomic", Annotated[list[str], ListType("atomic")], {**TEXTS, "x-kubernetes-list-type": "atomic"}),
    Case("list_set", Annotated[list[str], ListType("set")], {**TEXTS, "x-kubernetes-list-type": "set"}),
    Case(
        "list_map",
        Annotated[list[Port], ListType("map", keys=("name", "number"))],
        {
            "type": "array",
            "items": PORT,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name", "number"],
        },
    ),
    Case("map_atomic", Annotated[dict[str, str], MapType("atomic")], {**MAP, "x-kubernetes-map-type": "atomic"}),
    Case("map_granular", Annotated[dict[str, str], MapType("granular")], {**MAP, "x-kubernetes-map-type": "granular"}),
    Case(
        "atomic",
        Loud,
        {
            "type": "object",
            "description": "Something with a name.",
            "properties": {"name": TEXT},
            "required": ["name"],
            "x-kubernetes-map-type": "atomic",
        },
    ),
    Case(
        "rule",
        Annotated[str, RULE],
        {
            "type": "string",
            "x-kubernetes-validations": [
                {"rule": "self.startsWith('a')", "messageExpression": "'not ' + self", "reason": "FieldValueForbidden"}
            ],
        },
    ),
    Case(
        "rule_of_changes",
        Annotated[
            str,
            ValidationRule("!oldSelf.hasValue() || oldSelf.value() != self", message="same", optional_old_self=True),
        ],
        {
            "type": "string",
            "x-kubernetes-validations": [
                {"rule": "!oldSelf.hasValue() || oldSelf.value() != self", "message": "same", "optionalOldSelf": True}
            ],
        },
    ),
    Case(
        "rules",
        Annotated[Range, ValidationRule("self.low > 0", message="low", field_path=".low")],
        {
            "type": "object",
            "properties": {"high": INTEGER, "low": INTEGER},
            "required": ["high", "low"],
            "x-kubernetes-validations": [
                {"rule": "self.low > 0", "message": "low", "fieldPath": ".low"},
                {"rule": "self.low <= self.high", "message": "low is above high"},
            ],
        },
    ),
    Case(
        "at_most",
        AtMost,
        {
            "type": "object",
            "properties": {"byLabel": TEXT, "byName": TEXT},
            "x-kubernetes-validations": [
                {
                    "rule": "(has(self.byName) ? 1 : 0) + (has(self.byLabel) ? 1 : 0) <= 1",
                    "message": "at most one of the fields in [byName byLabel] may be set",
                }
            ],
        },
    ),
    Case(
        "exactly",
        Exactly,
        {
            "type": "object",
            "properties": {"byLabel": TEXT, "byName": TEXT},
            "x-kubernetes-validations": [
                {
                    "rule": "(has(self.byName) ? 1 : 0) + (has(self.byLabel) ? 1 : 0) == 1",
                    "message": "exactly one of the fields in [byName byLabel] must be set",
                }
            ],
        },
    ),
    Case(
        "at_least",
        AtLeast,
        {
            "type": "object",
            "properties": {"byName": TEXT, "namespace": TEXT},
            "x-kubernetes-validations": [
                {
                    "rule": "has(self.byName) || has(self.__namespace__)",
                    "message": "at least one of the fields in [byName namespace] must be set",
                }
            ],
        },
    ),
    Case(
        "fixed",
        Fixed,
        {
            "type": "object",
            "properties": {
                "ever": {
                    "type": "string",
                    "x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "field is immutable"}],
                },
                "once": {
                    "type": "string",
                    "x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "field is immutable"}],
                },
            },
            "required": ["ever"],
            "x-kubernetes-validations": [
                {"rule": "!has(oldSelf.once) || has(self.once)", "message": "field once is immutable once set"}
            ],
        },
    ),
    Case("nullable", Annotated[str | None, Nullable()], {"type": "string", "nullable": True}, default=None),
    Case("null_or_text", str | None, {"type": "string", "nullable": True}),
    Case("insisted", Annotated[str, Required()], TEXT, default="", is_required=True),
    Case("let_go", Annotated[str, Required(False)], TEXT, is_required=False),
    Case(
        "docs",
        Annotated[str, ExternalDocs("https://a.example", "More")],
        {**TEXT, "externalDocs": {"url": "https://a.example", "description": "More"}},
    ),
    Case(
        "embedded",
        Annotated[dict[str, Any], EmbeddedResource(), PreserveUnknownFields()],
        {"type": "object", "x-kubernetes-embedded-resource": True, **ANYTHING},
    ),
    Case("any", Annotated[Any, PreserveUnknownFields()], ANYTHING),
    Case("any_object", Annotated[object, PreserveUnknownFields()], ANYTHING),
    Case("any_map", Annotated[dict[str, Any], PreserveUnknownFields()], {"type": "object", **ANYTHING}),
    Case("any_list", Annotated[list[Any], PreserveUnknownFields()], {"type": "array", "items": ANYTHING}),
    Case(
        "any_values",
        dict[str, Annotated[Any, PreserveUnknownFields()]],
        {"type": "object", "additionalProperties": ANYTHING},
    ),
    Case("open", Open, OPEN),
    Case("open_plain", OpenPlain, OPEN),
    Case("said_anew", Annotated[Range, Schemaless(), SchemaType("string")], TEXT),
    Case("schemaless", Annotated[Range, Schemaless(), PreserveUnknownFields()], ANYTHING),
    Case("said", Annotated[complex, SchemaType("string"), Pattern("^[0-9j+]+$")], {**TEXT, "pattern": "^[0-9j+]+$"}),
    Case("json_schema", Annotated[Path, WithJsonSchema({"type": "string", "minLength": 1})], {**TEXT, "minLength": 1}),
    Case(
        "counted",
        Counted,
        {"type": "object", "properties": {"a": INTEGER, "b": INTEGER}, "minProperties": 1, "maxProperties": 2},
    ),
    Case(
        "conditions",
        list[Condition],
        {
            "type": "array",
            "items": CONDITION,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["type"],
        },
    ),
]

TOLD = [
    Case("described", Annotated[str, Field(description="What it is.")], {**TEXT, "description": "What it is."}),
    Case(
        "documented",
        Annotated[list[Annotated[str, Doc("An item.")]], Field()],
        {"type": "array", "items": {**TEXT, "description": "An item."}},
    ),
    Case(
        "deprecated",
        Annotated[str, Field(description="It was.", deprecated="use titled")],
        {**TEXT, "description": "It was.\n\nDeprecated: use titled"},
    ),
    Case("titled", Annotated[str, Field(title="A title")], {**TEXT, "title": "A title"}),
    Case(
        "example", Annotated[list[int], Field(examples=[[1], [2]])], {"type": "array", "items": INTEGER, "example": [1]}
    ),
    Case(
        "own_words",
        Annotated[Named, Field(description="Who.")],
        {"type": "object", "properties": {"name": TEXT}, "required": ["name"], "description": "Who."},
    ),
]
