"""Classes of oddities.example.com.

Written by `pyctrl crd import` from the definition.
"""

from typing import Annotated, Any, Literal

from pyctrl.api import (
    CustomResource,
    EmbeddedResource,
    ExternalDocs,
    Format,
    Int32,
    IntOrString,
    ListType,
    MapType,
    MetadataName,
    Model,
    Nullable,
    Pattern,
    PreserveUnknownFields,
    PropertyCount,
    Quantity,
    Required,
    ScaleSubresource,
    ServerDefault,
    Time,
    ValidationRule,
)
from pydantic import Field

__all__ = [
    "OddityAtomic",
    "OddityEmpty",
    "OddityLimit",
    "OddityPart",
    "OddityPort",
    "OdditySpec",
    "OdditySpecV1",
    "OddityStatus",
    "OddityV1",
    "OddityV2",
    "OddityWithDefaults",
    "OddityWithNeeds",
]


class OddityEmpty(Model):
    pass


class OddityAtomic(Model, marks=(MapType("atomic"), PropertyCount(minimum=1))):
    a: str | None = None
    b: str | None = None


class OddityLimit(Model):
    rate: int = Field(ge=1)


class OddityPort(Model):
    container_port: int
    protocol: Literal["TCP", "UDP"] = "TCP"


class OddityWithDefaults(Model):
    a: int = 1


class OddityWithNeeds(Model):
    a: int


class OdditySpec(Model, marks=(PreserveUnknownFields(),)):
    nullable_required: str | None
    required_and_default: Annotated[str, Required()] = "x"
    from_: str | None = Field(default=None, validation_alias="from", serialization_alias="from")
    class_: Literal[
        "a",
        "b",
        'a "quoted" one',
        "it's",
    ] = Field(default="a", validation_alias="class", serialization_alias="class")
    ref: str | None = Field(default=None, validation_alias="$ref", serialization_alias="$ref")
    x_foo: str | None = Field(
        default=None,
        validation_alias="x-foo",
        serialization_alias="x-foo",
        title="An X.",
        examples=[{"a": [1]}],
    )
    field_1st: str | None = Field(default=None, validation_alias="1st", serialization_alias="1st")
    foo_bar: str | None = None
    foo_bar_: str | None = Field(default=None, validation_alias="foo_bar", serialization_alias="foo_bar")
    copy_: bool = Field(default=False, validation_alias="copy", serialization_alias="copy")
    int_: int = Field(default=0, validation_alias="int", serialization_alias="int")
    list_: list[int] = Field(default_factory=lambda: [1, 2], validation_alias="list", serialization_alias="list")
    str_: Annotated[
        str | None,
        ServerDefault(""),
    ] = Field(default=None, validation_alias="str", serialization_alias="str")
    model_config_: str | None = Field(default=None, validation_alias="modelConfig", serialization_alias="modelConfig")
    cluster_ip: Annotated[
        str | None,
        Format("ipv4"),
    ] = Field(default=None, validation_alias="clusterIP", serialization_alias="clusterIP")
    url: Annotated[str | None, ExternalDocs("https://example.com", description="More.")] = None
    ratio: float = Field(default=0.5, gt=0, le=1.5, multiple_of=0.25)
    replicas: Annotated[Int32 | None, Nullable()] = 1
    nullable_items: list[str | None] = Field(default_factory=list)
    quantity: Annotated[Quantity | None, ServerDefault("1Gi")] = None
    port: Annotated[IntOrString | None, Pattern("^[a-z0-9]+$")] = None
    when: Annotated[Time | None, ServerDefault("2026-01-01T00:00:00Z")] = None
    day: Annotated[str | None, Format("date")] = None
    data: Annotated[str | None, Format("byte")] = None
    lookaround: str | None = Field(default=None, pattern="^\\pL+$")
    anything: Annotated[Any | None, PreserveUnknownFields(), ServerDefault({"a": 1})] = None
    bag: Annotated[dict[str, Any], PreserveUnknownFields()] = Field(default_factory=lambda: {"a": {"b": [1, None]}})
    object: Annotated[dict[str, Any], EmbeddedResource(), PreserveUnknownFields()] = Field(default_factory=dict)
    empty: OddityEmpty | None = None
    atomic: OddityAtomic | None = None
    limits: Annotated[dict[str, OddityLimit], MapType("granular")] = Field(default_factory=dict, max_length=3)
    matrix: list[list[Annotated[Int32, Field(le=9)]]] = Field(default_factory=list)
    immutable: Annotated[
        str | None,
        ValidationRule("self == oldSelf", message="frozen"),
    ] = Field(default=None, max_length=10)
    ports: Annotated[
        list[OddityPort],
        ListType("map", keys=("container_port", "protocol")),
    ] = Field(default_factory=list)
    with_defaults: OddityWithDefaults = Field(default_factory=OddityWithDefaults)
    with_needs: Annotated[OddityWithNeeds | None, ServerDefault({"a": 2})] = None

    long_words: str | None = None
    """The words of this one are long, have a backslash \\ and three quotes \"\"\" in them, and a line that goes on and
    on for more than any line should, which is wrapped.

    - and a list
      with a second line
    ends with "quotes\"
    """


class OddityPart(Model):
    a: str | None = None


class OddityStatus(Model):
    count: Annotated[int | None, Required()] = None
    phase: Annotated[Literal["Up", "Down"] | None, Required()] = None
    nodes: Annotated[list[str], Required()] = Field(default_factory=list)
    part: Annotated[OddityPart | None, Required()] = None
    replicas: int | None = None
    selector: str | None = None


class OddityV2(
    CustomResource[OdditySpec, OddityStatus],
    group="example.com",
    version="v2",
    kind="Oddity",
    singular="odd",
    scope="Cluster",
    scale=ScaleSubresource(".spec.replicas", ".status.replicas", ".status.selector"),
    selectable_fields=(".spec.from",),
    stored=True,
    marks=(
        ValidationRule("self.metadata.name.startsWith('odd')", reason="FieldValueForbidden"),
        MetadataName(pattern="^[a-z]+$", max_length=20),
    ),
):
    spec: Annotated[OdditySpec, ServerDefault({"nullableRequired": "x", "requiredAndDefault": "x"}), Required()]
    status: Annotated[OddityStatus, Required()] = Field(default_factory=OddityStatus)


class OdditySpecV1(Model):
    size: int | None = None


class OddityV1(
    CustomResource[OdditySpecV1],
    group="example.com",
    version="v1",
    kind="Oddity",
    singular="odd",
    scope="Cluster",
    subresources=(),
    served=False,
):
    pass
