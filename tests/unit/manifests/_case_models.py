"""Models used as field types of the cases."""

from __future__ import annotations

import enum
from typing import Annotated, Any, Generic, Literal, NewType

from pydantic import (
    BaseModel,
    Field,
    GetCoreSchemaHandler,
    RootModel,
)
from pydantic_core import CoreSchema
from typing_extensions import TypeAliasType, TypeVar

from pyctrl.api import (
    AtLeastOneOf,
    AtMostOneOf,
    ExactlyOneOf,
    Immutable,
    Int32,
    MapType,
    Model,
    PreserveUnknownFields,
    PropertyCount,
    ValidationRule,
)


class Colour(enum.StrEnum):
    RED = "red"
    BLUE = "blue"


class Shape(enum.Enum):
    """What it looks like."""

    ROUND = "round"


class OwnText(str):
    """A text in Python, and a number to pydantic."""

    __slots__ = ()

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return handler(int)


class Percent(RootModel[Annotated[int, Field(ge=0, le=100)]]):
    pass


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Port(Model):
    name: str
    number: Int32 = 80


class Named(Model):
    """Something with a name."""

    name: str


class Loud(Named, marks=(MapType("atomic"),)):
    pass


class Range(Model, marks=(ValidationRule("self.low <= self.high", message="low is above high"),)):
    low: int
    high: int


class AtMost(Model, marks=(AtMostOneOf("by_name", "by_label"),)):
    by_name: str | None = None
    by_label: str | None = None


class Exactly(Model, marks=(ExactlyOneOf("by_name", "by_label"),)):
    by_name: str | None = None
    by_label: str | None = None


class AtLeast(Model, marks=(AtLeastOneOf("by_name", "namespace"),)):
    by_name: str | None = None
    namespace: str | None = None


class Counted(Model, marks=(PropertyCount(minimum=1, maximum=2),)):
    a: int | None = None
    b: int | None = None


class Open(Model, marks=(PreserveUnknownFields(),)):
    a: int | None = None


class OpenPlain(BaseModel, extra="allow"):
    a: int | None = None


class Fixed(Model):
    once: Annotated[str | None, Immutable()] = None
    ever: Annotated[str, Immutable()]


class File(Model):
    kind: Literal["file"]
    path: str


class Web(Model):
    kind: Literal["web", "secure-web"] = "web"
    url: str
    retries: int | None = None


class Zip(Model):
    kind: Literal["zip"]
    format: Literal["zip"]


class Tags(RootModel[list[str]]):
    """Some tags."""


class Settled(Model):
    speed: int = 3
    name: str | None = None


T = TypeVar("T")


class Box(Model, Generic[T]):
    content: T


UserName = NewType("UserName", str)
Even = Annotated[int, Field(multiple_of=2)]
Alias = TypeAliasType("Alias", Annotated[str, Field(max_length=9)])
Listed = TypeAliasType("Listed", list[T], type_params=(T,))
