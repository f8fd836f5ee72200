"""Every type and every constraint with its schema."""

from __future__ import annotations

import ipaddress
import re
import uuid
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal

import annotated_types as at
from pydantic import (
    UUID4,
    AnyUrl,
    AwareDatetime,
    Base64Bytes,
    Field,
    HttpUrl,
    JsonValue,
    PositiveInt,
    PostgresDsn,
    SecretStr,
    StringConstraints,
    conint,
)

from pyctrl.api import (
    Duration,
    Int32,
    Int64,
    IntOrString,
    MicroTime,
    NoServerDefault,
    ObjectMeta,
    Pattern,
    PreserveUnknownFields,
    Quantity,
    Required,
    ServerDefault,
    Time,
)
from pyctrl.kinds.core.v1 import LocalObjectReference
from pyctrl.kinds.meta.v1 import LabelSelector
from tests.unit.manifests._case import (
    ANYTHING,
    DURATION,
    INT_OR_STRING,
    INTEGER,
    MAP,
    QUANTITY,
    SELECTOR,
    SETTLED,
    TEXT,
    TEXTS,
    Case,
)
from tests.unit.manifests._case_models import (
    Alias,
    Box,
    Colour,
    Even,
    File,
    Level,
    Listed,
    Open,
    OwnText,
    Percent,
    Settled,
    Shape,
    Tags,
    UserName,
    Web,
    Zip,
)

CONSTRAINTS = [
    Case("minimum", Annotated[int, Field(ge=1)], {"type": "integer", "minimum": 1}),
    Case("maximum", Annotated[int, Field(le=9)], {"type": "integer", "maximum": 9}),
    Case("above", Annotated[int, Field(gt=1)], {"type": "integer", "minimum": 1, "exclusiveMinimum": True}),
    Case("below", Annotated[float, Field(lt=9.5)], {"type": "number", "maximum": 9.5, "exclusiveMaximum": True}),
    Case("narrower", Annotated[PositiveInt, Field(ge=5)], {"type": "integer", "minimum": 5}),
    Case("multiple", Even, {"type": "integer", "multipleOf": 2}),
    Case(
        "multiples",
        Annotated[Even, Field(multiple_of=3)],
        {"type": "integer", "multipleOf": 2, "allOf": [{"multipleOf": 3}]},
    ),
    Case(
        "text",
        Annotated[str, Field(min_length=1, max_length=5, pattern="^a+$")],
        {"type": "string", "minLength": 1, "maxLength": 5, "pattern": "^a+$"},
    ),
    Case(
        "patterns",
        Annotated[Annotated[str, StringConstraints(pattern="^a")], StringConstraints(pattern="b$")],
        {"type": "string", "pattern": "^a", "allOf": [{"pattern": "b$"}]},
    ),
    Case("items", Annotated[list[str], Field(min_length=1, max_length=5)], {**TEXTS, "minItems": 1, "maxItems": 5}),
    Case("entries", Annotated[dict[str, str], at.Len(1, 5)], {**MAP, "minProperties": 1, "maxProperties": 5}),
    Case("in_items", list[Annotated[int, Field(ge=1)]], {"type": "array", "items": {"type": "integer", "minimum": 1}}),
    Case("optional_bound", Annotated[int | None, Field(ge=1)], {"type": "integer", "minimum": 1}, default=None),
    Case("by_call", conint(gt=0, le=5), {"type": "integer", "minimum": 0, "exclusiveMinimum": True, "maximum": 5}),
    Case("either_pattern", Annotated[IntOrString, Pattern("^[0-9]+%$")], {**INT_OR_STRING, "pattern": "^[0-9]+%$"}),
]

SCALARS = [
    Case("yes", bool, {"type": "boolean"}),
    Case("whole", int, INTEGER),
    Case("int32", Int32, {"type": "integer", "format": "int32"}),
    Case("int64", Int64, {"type": "integer", "format": "int64"}),
    Case("number", float, {"type": "number"}),
    Case("exact", Decimal, {"type": "string", "pattern": r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$"}),
    Case("data", Base64Bytes, {"type": "string", "format": "byte"}),
    Case("time", Time, {"type": "string", "format": "date-time"}),
    Case("micro", MicroTime, {"type": "string", "format": "date-time"}),
    Case("aware", AwareDatetime, {"type": "string", "format": "date-time"}),
    Case("moment", datetime, {"type": "string", "format": "date-time"}),
    Case("day", date, {"type": "string", "format": "date"}),
    Case("wait", Duration, {"type": "string", "pattern": DURATION}),
    Case("uuid", uuid.UUID, {"type": "string", "format": "uuid"}),
    Case("random", UUID4, {"type": "string", "format": "uuid4"}),
    Case("four", ipaddress.IPv4Address, {"type": "string", "format": "ipv4"}),
    Case("six", ipaddress.IPv6Address, {"type": "string", "format": "ipv6"}),
    Case("network", ipaddress.IPv4Network, {"type": "string", "format": "cidr"}),
    Case("interface", ipaddress.IPv4Interface, {"type": "string", "format": "cidr"}),
    Case("database", PostgresDsn, {"type": "string", "minLength": 1}),
    Case("pattern_of", re.Pattern[str], TEXT),
    Case("url", AnyUrl, {"type": "string", "format": "uri"}),
    Case("http", HttpUrl, {"type": "string", "format": "uri"}),
    Case("secret", SecretStr, {"type": "string", "format": "password"}),
    Case("path", Path, TEXT),
    Case("quantity", Quantity, {**INT_OR_STRING, "pattern": QUANTITY}),
    Case("port", IntOrString, INT_OR_STRING),
    Case("colour", Colour, {"type": "string", "enum": ["red", "blue"]}),
    Case("level", Level, {"type": "integer", "enum": [1, 2]}),
    Case("shape", Shape, {"type": "string", "enum": ["round"], "description": "What it looks like."}),
    Case("own_text", OwnText, INTEGER),
    Case("literal", Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
    Case("constant", Literal["a"], {"type": "string", "enum": ["a"]}),
    Case("literals", Literal["a", 1], {**INT_OR_STRING, "enum": ["a", 1]}),
    Case("alias", Alias, {"type": "string", "maxLength": 9}),
    Case("listed", Listed[int], {"type": "array", "items": INTEGER}),
    Case("new", UserName, TEXT),
]

COLLECTIONS = [
    Case("texts", list[str], TEXTS),
    Case("tuple_of", tuple[str, ...], TEXTS),
    Case("sequence", Sequence[str], TEXTS),
    Case("set_of", set[str], {**TEXTS, "x-kubernetes-list-type": "set"}),
    Case("frozen", frozenset[int], {"type": "array", "items": INTEGER, "x-kubernetes-list-type": "set"}),
    Case("map_of", dict[str, str], MAP),
    Case("mapping", Mapping[str, int], {"type": "object", "additionalProperties": INTEGER}),
    Case("nested", dict[str, list[str]], {"type": "object", "additionalProperties": TEXTS}),
    Case("holes", list[int | None], {"type": "array", "items": {"type": "integer", "nullable": True}}),
    Case("ordered", OrderedDict[str, int], {"type": "object", "additionalProperties": INTEGER}),
    Case("root", Tags, {**TEXTS, "description": "Some tags."}),
    Case("bound_root", Percent, {"type": "integer", "minimum": 0, "maximum": 100}),
    Case(
        "keys",
        Annotated[dict[Annotated[str, Field(pattern="^a")], int], Field(max_length=9)],
        {
            "type": "object",
            "additionalProperties": INTEGER,
            "maxProperties": 9,
            "x-kubernetes-validations": [
                {"rule": 'self.all(k, k.matches("^a"))', "message": "keys must match ^a"},
            ],
        },
    ),
    Case(
        "known_keys",
        Annotated[dict[Colour, int], Field(max_length=9)],
        {
            "type": "object",
            "additionalProperties": INTEGER,
            "maxProperties": 9,
            "x-kubernetes-validations": [
                {"rule": 'self.all(k, k in ["red", "blue"])', "message": "keys must be one of red, blue"},
            ],
        },
    ),
]

DEFAULTS = [
    Case("three", int, {**INTEGER, "default": 3}, default=3),
    Case("zero", int, {**INTEGER, "default": 0}, default=0),
    Case("no", bool, {"type": "boolean", "default": False}, default=False),
    Case("empty", str, TEXT, default=""),
    Case("nothing", list[str], TEXTS, default=Field(default_factory=list)),
    Case("none", int | None, INTEGER, default=None),
    Case("three_or_none", int | None, {**INTEGER, "default": 3}, default=3),
    Case("one", list[str], {**TEXTS, "default": ["a"]}, default=["a"]),
    Case(
        "letters",
        set[str],
        {**TEXTS, "x-kubernetes-list-type": "set", "default": list("abcdef")},
        default=set("fedcba"),
    ),
    Case("kept", Annotated[JsonValue, PreserveUnknownFields()], ANYTHING, default=None),
    Case("literal_or_none", Literal["a", None], {"type": "string", "enum": ["a"]}, default=None),  # noqa: PYI061
    Case("red", Colour, {"type": "string", "enum": ["red", "blue"], "default": "red"}, default=Colour.RED),
    Case("minute", Duration, {"type": "string", "pattern": DURATION, "default": "1m0s"}, default=timedelta(minutes=1)),
    Case("giga", Quantity, {**INT_OR_STRING, "pattern": QUANTITY, "default": "1Gi"}, default=Quantity("1Gi")),
    Case("each_time", str, TEXT, default=Field(default_factory=lambda: uuid.uuid4().hex)),
    Case("hidden", SecretStr, {"type": "string", "format": "password"}, default=SecretStr("secret")),
    Case("python_only", Annotated[int, NoServerDefault()], INTEGER, default=3),
    Case("server_only", Annotated[int, ServerDefault(3)], {**INTEGER, "default": 3}, is_required=False),
    Case("both", Annotated[int, Required()], {**INTEGER, "default": 3}, default=3, is_required=True),
    Case("parts", Settled, {**SETTLED, "default": {}}, default=Field(default_factory=Settled)),
    Case("given", Settled, {**SETTLED, "default": {"speed": 5}}, default=Settled(speed=5)),
    Case(
        "no_parts",
        Open,
        {"type": "object", "properties": {"a": INTEGER}, **ANYTHING},
        default=Field(default_factory=Open),
    ),
]

UNIONS = [
    Case("widened", int | float, {"type": "number"}),
    Case("merged", Literal["a"] | Colour, {"type": "string", "enum": ["a", "red", "blue"]}),
    Case("free_text", str | uuid.UUID, TEXT),
    Case(
        "address",
        ipaddress.IPv4Address | ipaddress.IPv6Address,
        {"type": "string", "anyOf": [{"format": "ipv4"}, {"format": "ipv6"}]},
    ),
    Case(
        "gap",
        Annotated[int, Field(lt=0)] | Annotated[int, Field(ge=10)],
        {"type": "integer", "anyOf": [{"maximum": 0, "exclusiveMaximum": True}, {"minimum": 10}]},
    ),
    Case(
        "share",
        Annotated[int, Field(ge=1)] | Annotated[str, Field(pattern="%$")],
        {**INT_OR_STRING, "minimum": 1, "pattern": "%$"},
    ),
    Case("auto", int | Literal["auto", "a.b"], {**INT_OR_STRING, "pattern": r"^(auto|a\.b)$"}),
    Case(
        "tagged",
        Annotated[File | Web, Field(discriminator="kind")],
        {
            "type": "object",
            "properties": {
                "kind": {"type": "string", "enum": ["file", "web", "secure-web"]},
                "path": TEXT,
                "retries": INTEGER,
                "url": TEXT,
            },
            "required": ["kind"],
            "x-kubernetes-validations": [
                {
                    "rule": 'self.kind != "file" || (has(self.path))',
                    "message": "path must be set when kind is file",
                    "reason": "FieldValueRequired",
                },
                {
                    "rule": '!(self.kind in ["web", "secure-web"]) || (has(self.url))',
                    "message": "url must be set when kind is web or secure-web",
                    "reason": "FieldValueRequired",
                },
            ],
        },
    ),
    Case(
        "nested_union",
        Annotated[Annotated[File | Web, Field(discriminator="kind")] | Zip, Field(discriminator="kind")],
        {
            "type": "object",
            "properties": {
                "kind": {"type": "string", "enum": ["file", "web", "secure-web", "zip"]},
                "format": {"type": "string", "enum": ["zip"]},
                "path": TEXT,
                "retries": INTEGER,
                "url": TEXT,
            },
            "required": ["kind"],
            "x-kubernetes-validations": [
                {
                    "rule": 'self.kind != "file" || (has(self.path))',
                    "message": "path must be set when kind is file",
                    "reason": "FieldValueRequired",
                },
                {
                    "rule": '!(self.kind in ["web", "secure-web"]) || (has(self.url))',
                    "message": "url must be set when kind is web or secure-web",
                    "reason": "FieldValueRequired",
                },
                {
                    "rule": 'self.kind != "zip" || (has(self.format))',
                    "message": "format must be set when kind is zip",
                    "reason": "FieldValueRequired",
                },
            ],
        },
    ),
]

MODELS = [
    Case("generic", Box[int], {"type": "object", "properties": {"content": INTEGER}, "required": ["content"]}),
    Case(
        "reference",
        LocalObjectReference,
        {"type": "object", "properties": {"name": {**TEXT, "default": ""}}, "x-kubernetes-map-type": "atomic"},
    ),
    Case(
        "metadata_of",
        ObjectMeta,
        {
            "type": "object",
            "properties": {"annotations": MAP, "finalizers": TEXTS, "labels": MAP, "name": TEXT, "namespace": TEXT},
        },
    ),
    Case("selector", LabelSelector, SELECTOR),
]
