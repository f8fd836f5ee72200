"""Random models, and objects that match them or nearly do."""

from __future__ import annotations

import enum
import ipaddress
import uuid
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from pydantic import Field, create_model

from pyctrl.api import (
    CustomResource,
    Duration,
    Int32,
    IntOrString,
    Model,
    PreserveUnknownFields,
    Quantity,
    Time,
)

__all__ = ["Kind", "kinds", "objects"]

JSON = Any
NAMES = ("a", "b_c", "d", "namespace")


class Colour(enum.StrEnum):
    RED = "red"
    BLUE = "blue"


NONE: SearchStrategy[Any] = st.none()


class Left(Model):
    kind: Literal["left"]


class Right(Model):
    kind: Literal["right"]


@dataclass(frozen=True)
class Shape:
    """A type, values that match it or nearly do, and a default for a field of it."""

    type: Any
    values: SearchStrategy[JSON]
    default: SearchStrategy[Any] = NONE


#: Unexpected values: every JSON type, and texts that look like other types.
ODD: SearchStrategy[JSON] = st.sampled_from(
    [
        *(None, True, False, 0, 1, -1, 3, 7, 2.5, 2**40),
        *("", "a", "aa", "abc", "7", "x" * 9),
        *([], [1], ["a", "a"], {}, {"a": 1}),
    ]
)


def nearly(values: SearchStrategy[JSON]) -> SearchStrategy[JSON]:
    """Return mostly values of a type, and sometimes any value."""
    return st.integers(0, 9).flatmap(lambda chance: ODD if chance == 0 else values)


def constrained(kind: Any, **constraints: Any) -> Any:
    """Return a type with constraints."""
    field: Any = Field
    return Annotated[kind, field(**constraints)]


texts = st.sampled_from(["", "a", "aa", "aaa", "abc", "b", "aaaaaa"])
numbers = st.integers(-3, 9)


@st.composite
def text(draw: DrawFn) -> Shape:
    low = draw(st.none() | st.integers(0, 2))
    high = draw(st.none() | st.integers(2, 4))
    pattern = draw(st.none() | st.sampled_from(["^a+$", "b", "^[a-c]{0,3}$"]))
    return Shape(constrained(str, min_length=low, max_length=high, pattern=pattern), texts, texts)


@st.composite
def whole(draw: DrawFn) -> Shape:
    bounds = {key: draw(st.integers(-1, 5)) for key in draw(st.sets(st.sampled_from(["ge", "gt", "le", "lt"])))}
    multiple = draw(st.none() | st.integers(2, 3))
    base: Any = draw(st.sampled_from([int, Int32]))
    near = sorted({bound + step for bound in bounds.values() for step in (-1, 0, 1)} or range(-3, 9))
    return Shape(constrained(base, multiple_of=multiple, **bounds), st.sampled_from(near) | numbers, numbers)


@st.composite
def real(draw: DrawFn) -> Shape:
    bounds = {key: draw(st.sampled_from([-1, 1, 2])) for key in draw(st.sets(st.sampled_from(["ge", "lt"])))}
    return Shape(constrained(float, **bounds), st.sampled_from([-1, 0, 0.5, 1.0, 2.5, 7]), st.just(1.5))


SCALARS: tuple[SearchStrategy[Shape], ...] = (
    text(),
    whole(),
    real(),
    st.just(Shape(bool, st.booleans(), st.booleans())),
    st.just(Shape(Literal["red", "blue"], st.sampled_from(["red", "blue", "green"]), st.just("red"))),
    st.just(Shape(Literal[1, 2], st.integers(0, 3), st.just(2))),
    st.just(Shape(Colour, st.sampled_from(["red", "blue", "green"]), st.just(Colour.BLUE))),
    st.just(Shape(IntOrString, st.sampled_from([1, 0, "", "80%", "http"]), st.sampled_from([1, "a"]))),
    st.just(Shape(Quantity, st.sampled_from(["1", "1.5Gi", 2, "100m", "1e3", "Gi", "1 Gi"]), st.just(Quantity("1Gi")))),
    st.just(Shape(Duration, st.sampled_from(["1h", "1h30m", "0", "-1.5s", "1d", "h"]))),
    st.just(Shape(Time, st.sampled_from(["2024-01-02T03:04:05Z", "2024-01-02T03:04:05+01:00", "tomorrow"]))),
    st.just(Shape(uuid.UUID, st.sampled_from([str(uuid.UUID(int=1)), "1"]))),
    st.just(Shape(ipaddress.IPv4Address, st.sampled_from(["10.0.0.1", "10.0.0.256", "::1"]))),
)


@dataclass(frozen=True)
class Kind:
    """A kind, and specs that match it or nearly do."""

    cls: type[CustomResource[Any, Any]]
    specs: SearchStrategy[JSON]


def shapes(depth: int) -> SearchStrategy[Shape]:
    """Return the type of a field: a scalar, or up to some depth a list, a map, a model, or a union of models."""
    scalar = st.one_of(*SCALARS)
    if not depth:
        return scalar
    below = shapes(depth - 1)
    return st.one_of(scalar, lists(below), sets(), maps(below), models(below), tagged(below), open_(), optional(below))


@st.composite
def lists(draw: DrawFn, below: SearchStrategy[Shape]) -> Shape:
    item: Any = draw(below)
    high = draw(st.none() | st.integers(1, 3))
    return Shape(constrained(list[item.type], max_length=high), st.lists(nearly(item.values), max_size=3))


@st.composite
def sets(draw: DrawFn) -> Shape:
    kind: Any
    kind, values = draw(st.sampled_from([(str, texts), (int, numbers)]))
    return Shape(set[kind], st.lists(values, max_size=3, unique=draw(st.booleans())))


@st.composite
def maps(draw: DrawFn, below: SearchStrategy[Shape]) -> Shape:
    item: Any = draw(below)
    low = draw(st.none() | st.integers(1, 2))
    key: Any = draw(st.sampled_from([str, Annotated[str, Field(pattern="^a")], Colour]))
    entries = st.dictionaries(st.sampled_from(["a", "aa", "b", "red"]), nearly(item.values), max_size=3)
    return Shape(constrained(dict[key, item.type], min_length=low), entries)


@st.composite
def optional(draw: DrawFn, below: SearchStrategy[Shape]) -> Shape:
    item: Any = draw(below)
    return Shape(list[item.type] | None, st.none() | st.lists(nearly(item.values), max_size=2))


def open_() -> SearchStrategy[Shape]:
    kind = Annotated[dict[str, Any], PreserveUnknownFields()]
    return st.just(Shape(kind, st.dictionaries(texts, ODD, max_size=2)))


@st.composite
def models(draw: DrawFn, below: SearchStrategy[Shape]) -> Shape:
    """Return a model with some fields: required, optional or with a default."""
    fields: dict[str, Any] = {}
    values: dict[str, SearchStrategy[JSON]] = {}
    for name in draw(st.sets(st.sampled_from(NAMES), min_size=1, max_size=3).map(sorted)):
        shape = draw(below)
        fields[name] = draw(fielded(shape))
        values[_alias(name)] = nearly(shape.values)
    cls = create_model("Part", __base__=Model, **fields)
    default = st.just(cls) if not any(info.is_required() for info in cls.model_fields.values()) else st.none()
    return Shape(cls, objects(values), default)


def fielded(shape: Shape) -> SearchStrategy[tuple[Any, Any]]:
    """Return the type of a field and its default."""
    return st.one_of(
        st.just((shape.type, ...)),
        st.just((shape.type | None, None)),
        shape.default.map(lambda value: _with_default(shape.type, value)),
    )


def _with_default(kind: Any, value: Any) -> tuple[Any, Any]:
    if value is None:
        return (kind | None, ...)
    return (kind, Field(default_factory=value) if isinstance(value, type) else value)


@st.composite
def tagged(draw: DrawFn, below: SearchStrategy[Shape]) -> Shape:
    """Return a union of two models with distinct ``kind`` values and no other common field.

    Its objects have fields of one model only, because the server also checks fields of the other and Python does not.
    """
    one, other = draw(below), draw(below)
    left: Any = create_model("Left", __base__=Left, one=draw(fielded(one)))
    right: Any = create_model("Right", __base__=Right, other=draw(fielded(other)))
    values = st.one_of(
        objects({"kind": st.sampled_from(["left", "left", "up"]), "one": nearly(one.values)}),
        objects({"kind": st.sampled_from(["right", "right", "up"]), "other": nearly(other.values)}),
    )
    return Shape(Annotated[left | right, Field(discriminator="kind")], values)


def objects(values: dict[str, SearchStrategy[JSON]]) -> SearchStrategy[JSON]:
    """Return objects with these fields, some of them left out, and sometimes an unknown one."""
    known = {name: st.one_of(st.just(...), value, value, value) for name, value in values.items()}
    made = st.fixed_dictionaries(known | {"unknown": st.sampled_from([..., ..., ..., 1])})
    return made.map(lambda obj: {name: value for name, value in obj.items() if value is not ...})


def _alias(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(map(str.capitalize, rest))


@st.composite
def kinds(draw: DrawFn) -> Kind:
    """Return a kind with a random spec."""
    spec: Any = draw(models(shapes(2)))

    class Random(CustomResource[spec.type], group="random.pyctrl.test", version="v1"):
        pass

    return Kind(Random, spec.values)
