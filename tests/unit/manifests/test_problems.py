"""Types without a CRD: each problem names the source line, the class, the field and the fix."""

from __future__ import annotations

import enum
import inspect
from collections.abc import Callable
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from pydantic import (
    AliasChoices,
    Discriminator,
    Field,
    Json,
    JsonValue,
    NaiveDatetime,
    PlainSerializer,
    Tag,
    computed_field,
    create_model,
    field_serializer,
    model_serializer,
)
from typing_extensions import TypedDict, TypeVar

from pyctrl.api import (
    AtMostOneOf,
    CustomResource,
    EmbeddedResource,
    Format,
    Immutable,
    ListType,
    MapType,
    Model,
    Nullable,
    Pattern,
    PreserveUnknownFields,
    PrinterColumn,
    PropertyCount,
    Required,
    ScaleSubresource,
    ServerDefault,
    ValidationRule,
)
from pyctrl.errors import DefinitionError
from pyctrl.kinds.apps.v1 import Deployment
from pyctrl.manifests import definition
from tests.unit.manifests._case_models import File, Port, Web
from tests.unit.manifests._cases import Case, sample_kind


class Loop(Model):
    inner: Loop | None = None


class Words(TypedDict):
    word: str


class Item(Model):
    name: str | None = None


T = TypeVar("T")


class Other(Model):
    kind: Literal["other"]
    path: int


class Flags(enum.Flag):
    READ = 1
    WRITE = 2


Written = Annotated[int, PlainSerializer(str, return_type=str)]


class WritesField(Model):
    size: int

    @field_serializer("size")
    def write(self, size: int) -> str:
        return str(size)


class WritesAll(Model):
    size: int

    @model_serializer
    def write(self) -> str:
        return str(self.size)


class Broken(Model):
    kind: Literal["broken"]
    mode: Annotated[str, Pattern("(")]


def tag(value: Any) -> str:
    return "file"


UNTOLD: dict[str, tuple[Any, str]] = {
    "any": (Any, r"Any has no schema; use a specific type, or keep any value with Annotated\[Any, Preserve"),
    "object": (object, "object has no schema"),
    "bare list": (list, r"SampleSpec\.x\[\]: Any has no schema"),
    "bare dict": (dict, r"SampleSpec\.x\{\}: Any has no schema"),
    "any inside": (dict[str, list[Any]], r"SampleSpec\.x\{\}\[\]: Any has no schema"),
    "tuple": (tuple[int, str], r"a tuple\[int, str\] has no schema: its items differ; use a Model, or list"),
    "open union": (int | bool, r"the union int \| bool has no schema; use one type"),
    "model or text": (Item | str, r"the union Item \| str has no schema"),
    "models": (File | Web, r"the union File \| Web has no discriminator; give it Field\(discrim"),
    "told by a function": (
        Annotated[Annotated[File, Tag("file")] | Annotated[Web, Tag("web")], Discriminator(tag)],
        "has a function as discriminator; give it Field",
    ),
    "one name, two types": (
        Annotated[File | Other, Field(discriminator="kind")],
        "path differs between File and Other; give the fields other names",
    ),
    "recursion": (Loop, r"Loop\.inner: Loop → Loop is recursive, which a schema cannot express; let the field be"),
    "type variable": (T, "the type variable T is not bound; bind it"),
    "bytes": (bytes, "bytes are UTF-8 text on pydantic's wire; use pydantic.Base64Bytes"),
    "keys": (dict[int, str], r"keys of a map on the wire are strings, not int; use dict\[str, …\]"),
    "typed dict": (Words, "Words has no schema"),
    "function": (Callable[[], int], "has no schema"),
    "mixed literal": (Literal["a", True], "the values 'a', True do not have one type on the wire"),
    "null in a literal": (Literal["a", None], "a value of an enum is never null; give the field the default None"),  # noqa: PYI061
    "one and true": (Literal["a", 1, True], "the values 'a', 1, True do not have one type"),
    "flags": (Flags, "combined flags are not values of the enum; use set"),
    "any json": (JsonValue, "JsonValue has no schema; use a specific type, or keep any value with"),
    "json in a text": (Json[list[int]], "Json is read as a string, but written as the decoded value"),
    "naive time": (NaiveDatetime, "the server rejects a time without a zone; use pyctrl.api.Time, or AwareDatetime"),
    "written otherwise": (Written, "it is read as integer and written as string; set the type with Schema"),
    "field written otherwise": (WritesField, "WritesField.size: it is read as integer and written as string"),
    "object written otherwise": (WritesAll, "WritesAll: a model_serializer writes the object, but the schema is"),
    "keys of many maps": (
        list[dict[Literal["a"], int]],
        r"SampleSpec.x\[\]: checking the keys of a map inside of a list",
    ),
    "null in an enum": (list[Literal["a"] | None], "a value of an enum is never null"),
    "bound of a text": (Annotated[Decimal, Field(ge=1)], "ge does not apply to a string on the wire"),
    "digits": (Annotated[Decimal, Field(max_digits=3)], "max_digits does not apply to a string on the wire"),
}
REFUSED: dict[str, tuple[Any, Any, str]] = {
    "default": (
        Annotated[int, Field(ge=5)],
        3,
        r"  SampleSpec.x: the API server would reject it: .* or equal to 5; give the field a valid default",
    ),
    "rule": (
        list[Annotated[int, ValidationRule("self")]],
        ...,
        r"  SampleSpec.x\[\]: the API .* a bool; fix the Valid",
    ),
    "pattern": (dict[str, Annotated[str, Pattern("(?=a)")]], ..., r"  SampleSpec.x\{\}: the API .*; write it for Go"),
    "field of a member": (
        list[Annotated[File | Broken, Field(discriminator="kind")]],
        ...,
        r"test_problems.py:\d+ Broken.mode: the API server would reject it: .*; write it for Go",
    ),
    "infinite": (
        float,
        float("inf"),
        r"  SampleSpec.x: default is inf, which JSON cannot represent; give the field a valid default",
    ),
    "too large": (int, 2**63, r"SampleSpec.x: default is 9223372036854775808, which does not fit into 64 bits"),
    "no bound": (
        Annotated[float, Field(le=float("inf"))],
        ...,
        r"SampleSpec.x: maximum is inf, which JSON cannot represent",
    ),
}
MISAPPLIED: dict[str, tuple[Any, str]] = {
    "format of a list": (Annotated[list[str], Format("ipv4")], "Format is for string and integer and number"),
    "list type of a map": (Annotated[dict[str, str], ListType("set")], "ListType is for array, and this is object"),
    "keys of a set": (Annotated[list[str], ListType("set", keys=("a",))], "has keys if and only if its type is map"),
    "no keys": (Annotated[list[Port], ListType("map")], "has keys if and only if its type is map"),
    "keys of texts": (Annotated[list[str], ListType("map", keys=("a",))], "has keys, but the items are not models"),
    "unknown key": (
        Annotated[list[Port], ListType("map", keys=("nme",))],
        "has the key 'nme', and Port has no such field: it has name, number",
    ),
    "map type of a text": (Annotated[str, MapType("atomic")], "MapType is for object, and this is string"),
    "wrong word": (Annotated[list[str], ListType("sett")], "has the type 'sett'; it is atomic, set or map"),  # type: ignore[arg-type]
    "preserved text": (Annotated[str, PreserveUnknownFields()], "PreserveUnknownFields is for object, and this is str"),
    "embedded text": (Annotated[str, EmbeddedResource()], "EmbeddedResource is for object, and this is string"),
    "count of a text": (Annotated[str, PropertyCount(minimum=1)], "PropertyCount is for object, and this is string"),
    "nullable enum": (Annotated[Literal["a"], Nullable()], "Nullable has no effect on an enum"),
    "required item": (list[Annotated[str, Required()]], r"x\[\]: Required is for whole fields or for classes"),
    "immutable item": (list[Annotated[str, Immutable()]], "Immutable is for whole fields or for classes"),
    "default of an item": (list[Annotated[str, ServerDefault("a")]], "ServerDefault is for whole fields"),
    "choice of a field": (Annotated[str, AtMostOneOf("a", "b")], "AtMostOneOf is for whole fields or for classes"),
    "not called": (Annotated[str, Immutable], r"which is not a marker; write Immutable\(…\)"),
    "a comment": (Annotated[int, "minimum: 3"], "its metadata has 'minimum: 3', which is not a marker; remove it"),
    "extra words": (Annotated[int, Field(json_schema_extra={"minimum": 3})], "json_schema_extra is not supported"),
    "two names": (Annotated[int, Field(validation_alias="a", serialization_alias="b")], "written as b and read as a"),
    "choices of names": (
        Annotated[int, Field(validation_alias=AliasChoices("a", "b"))],
        "a field has one name on the server",
    ),
}


@pytest.mark.parametrize("name", [*UNTOLD, *MISAPPLIED])
def test_what_has_no_schema_is_an_error_with_a_cure(name: str) -> None:
    """A type without a structural schema, or a misplaced mark, is an error with the field and the fix."""
    annotation, message = (UNTOLD | MISAPPLIED)[name]
    with pytest.raises(DefinitionError, match=message):
        definition(sample_kind([Case("x", annotation, {})]))


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_server_would_refuse_is_told_of_the_field(name: str) -> None:
    """A schema that the server would refuse is an error with class, field and fix."""
    annotation, default, message = REFUSED[name]
    with pytest.raises(DefinitionError, match=message):
        definition(sample_kind([Case("x", annotation, {}, default=default)]))


def test_types_that_are_nested_too_deep_are_told() -> None:
    """Types nested deeper than Python's stack are reported as one error of their kind."""
    inner = create_model("Deep", __base__=Model)
    for _ in range(250):
        inner = create_model("Deep", __base__=Model, inner=(inner, ...))
    with pytest.raises(DefinitionError, match="Sample: its types are nested too deeply"):
        definition(sample_kind([Case("x", inner, {})]))


def problems_of(*kinds: type[CustomResource[Any, Any]], **options: Any) -> str:
    with pytest.raises(DefinitionError) as raised:
        definition(*kinds, **options)
    return str(raised.value)


class Spec(Model):
    size: int = 1
    name: str = ""
    parts: list[str] = []


class V1(CustomResource[Spec], group="a.pyctrl.test", version="v1", kind="Thing"):
    pass


class V2(CustomResource[Spec], group="a.pyctrl.test", version="v2", kind="Thing"):
    pass


def test_all_problems_of_a_kind_are_told_at_once() -> None:
    """One error lists all problems of a kind, each with file and line of the field."""

    class TwiceSpec(Model):
        first: Any
        second: tuple[int, str]

    class Twice(CustomResource[TwiceSpec], group="a.pyctrl.test", version="v1"):
        pass

    told = problems_of(Twice)
    assert told.startswith("no CustomResourceDefinition can be generated from Twice:")
    lines = inspect.getsourcelines(TwiceSpec)[1]
    assert f"test_problems.py:{lines + 1} TwiceSpec.first: Any has no schema" in told
    assert f"test_problems.py:{lines + 2} TwiceSpec.second: a tuple[int, str] has no schema" in told


def test_what_is_no_kind_of_ones_own_has_no_definition() -> None:
    """A built-in kind, or a class without group and version, is refused by name."""

    class Nothing(CustomResource[Spec]):
        pass

    assert "Deployment: it is built into Kubernetes" in problems_of(Deployment)  # type: ignore[arg-type]
    assert "Nothing: it is not a kind; give the class group= and version=" in problems_of(Nothing)


def test_one_version_of_several_is_the_stored_one() -> None:
    """Of several versions exactly one must be marked as stored."""
    assert (
        "exactly one version must be the storage version, but found none; give its class the keyword stored=True"
        in problems_of(V1, V2)
    )

    class Said(CustomResource[Spec], group="a.pyctrl.test", version="v3", kind="Thing", stored=True):
        pass

    class SaidToo(CustomResource[Spec], group="a.pyctrl.test", version="v4", kind="Thing", stored=True):
        pass

    assert "but found v3, v4" in problems_of(V1, Said, SaidToo)
    assert "it is the storage version, but not one of the versions" in problems_of(V1, V2, stored=Said)


def test_versions_of_a_kind_share_names_and_scope() -> None:
    """Versions that differ in kind, names or scope are refused."""

    class Other(CustomResource[Spec], group="a.pyctrl.test", version="v3", scope="Cluster", short_names=("o",)):
        pass

    told = problems_of(V1, Other, stored=V1)
    assert "its group and kind differ from those of V1" in told
    assert "its names differ from those of V1" in told
    assert "its scope differ from those of V1" in told


def kind_with(**keywords: Any) -> type[CustomResource[Any, Any]]:
    class Thing(CustomResource[Spec], group="a.pyctrl.test", version="v1", **keywords):
        pass

    return Thing


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        (
            {"columns": (PrinterColumn("Size", ".spec.sise"),)},
            ".spec.sise, which does not exist; did you mean .spec.size?",
        ),
        ({"columns": (PrinterColumn("Size", ".size"),)}, "the object has apiVersion, kind, metadata, spec, status"),
        (
            {"columns": (PrinterColumn("Size", "spec.size"),)},
            "which is not a path; write it from the root of the object: .spec.size",
        ),
        ({"scale": ScaleSubresource()}, "the path .spec.replicas, which does not exist; .spec has name, parts, size"),
        (
            {"scale": ScaleSubresource(".spec.size", ".spec.name")},
            "the path .spec.name, whose type is string, not integer",
        ),
        ({"subresources": ("status", "scale")}, "the sub-resource scale has no paths; pass scale=ScaleSubresource"),
        ({"subresources": ("logs",)}, "'logs' is not a sub-resource of definitions; use status or scale"),
        ({"selectable_fields": (".spec.nme",)}, "has .spec.nme, which does not exist; did you mean .spec.name?"),
        (
            {"marks": (PropertyCount(maximum=1),)},
            "PropertyCount does not apply to a whole object; put it on the class of",
        ),
        ({"marks": (Nullable(),)}, "Nullable is not a marker of classes; put it beside the type of a field"),
        ({"marks": (AtMostOneOf("spec", "size"),)}, "AtMostOneOf names size, which are not fields of the class"),
    ],
)
def test_what_the_definition_says_around_the_schema_is_checked(keywords: dict[str, Any], message: str) -> None:
    """Invalid paths, names and class marks are errors, by pyctrl's checks or the server's."""
    with pytest.raises(DefinitionError, match=message):
        definition(kind_with(**keywords))


def test_a_choice_is_between_optional_fields() -> None:
    """A choice of one of several fields requires all of them to be optional."""

    class Choice(Model, marks=(AtMostOneOf("a", "b"),)):
        a: str
        b: int = 3

    told = problems_of(sample_kind([Case("x", Choice, {})]))
    assert "AtMostOneOf names a, which is always set" in told
    assert "AtMostOneOf names b, which is always set" in told


def test_what_would_be_lost_on_the_way_to_the_server_is_an_error() -> None:
    """Computed fields and two fields of one name are errors, because they would be lost on the server."""

    class Clash(Model):
        one: int = Field(alias="x")
        two: int = Field(alias="x")

        @computed_field  # type: ignore[prop-decorator]
        @property
        def three(self) -> int:
            return 3

    told = problems_of(sample_kind([Case("x", Clash, {})]))
    assert "Clash.two: another field is x on the wire as well" in told
    assert "Clash.three: a computed field is written to the server, but is not in the schema" in told


def test_marks_of_a_class_are_a_tuple() -> None:
    """A single mark without a tuple is refused when the class is created."""
    with pytest.raises(TypeError, match=r"Wrong: marks= takes a tuple of markers: marks=\(MapType"):

        class Wrong(Model, marks=MapType("atomic")):
            pass
