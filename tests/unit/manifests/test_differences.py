"""Differences between Python and the server, as listed in docs/definitions.md."""

from __future__ import annotations

from ipaddress import IPv4Network
from typing import Annotated, Any, Literal

import pytest
from pydantic import AfterValidator, Base64Bytes, Field, StringConstraints, create_model

from pyctrl.api import CustomResource, ExactlyOneOf, Int32, Model, PreserveUnknownFields, Quantity, Time, ValidationRule
from pyctrl.apiserver import OfflineValidator
from pyctrl.errors import DecodeError
from pyctrl.manifests import definition
from tests.unit.manifests._case_models import File, Web


def kind_of(annotation: Any, default: Any = ...) -> type[CustomResource[Any, Any]]:
    spec = create_model("Spec", __base__=Model, x=(annotation, default))

    class Thing(CustomResource[spec], group="differences.pyctrl.test", version="v1"):  # type: ignore[valid-type]
        pass

    return Thing


def server_says(cls: type[CustomResource[Any, Any]], spec: dict[str, Any]) -> tuple[str, Any]:
    """Return the server's complaints and the spec that it would store."""
    validator = OfflineValidator()
    assert validator.define(definition(cls)).problems == ()
    found = validator.validate(object_of(cls, spec))
    complaints = [each for each in found.problems if each.reason != "FieldUnknown"]
    return "; ".join(map(str, complaints)), found.object["spec"] if found.object else None


def object_of(cls: type[CustomResource[Any, Any]], spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": cls.gvk.api_version, "kind": cls.gvk.kind, "metadata": {"name": "a"}, "spec": spec}


def python_reads(cls: type[CustomResource[Any, Any]], spec: dict[str, Any]) -> Any:
    try:
        return cls.from_wire(object_of(cls, spec)).spec.x
    except DecodeError:
        return DecodeError


def even(value: int) -> int:
    if value % 2:
        raise ValueError("is odd")
    return value


Stripped = Annotated[str, StringConstraints(min_length=2, strip_whitespace=True)]


class Either(Model, marks=(ExactlyOneOf("a", "b"),)):
    a: int | None = None
    b: int | None = None


@pytest.mark.parametrize(
    ("annotation", "value", "complaint"),
    [
        pytest.param(int, "5", "must be of type integer", id="a number in quotes"),
        pytest.param(bool, "yes", "must be of type boolean", id="a word for true"),
        pytest.param(Literal[1, 2], True, 'must be of type integer: "boolean"', id="true where 1 is meant"),
        pytest.param(Int32, 2**40, "int32", id="a number beyond 32 bits"),
        pytest.param(Quantity, 1.5, "must be of type integer,string", id="a fraction as quantity"),
        pytest.param(Time, 5, "must be of type date-time", id="seconds as a time"),
        pytest.param(Time, "2024-01-02T03:04:05", "must be of type date-time", id="a time without zone"),
        pytest.param(Base64Bytes, "", "must be of type byte", id="no data"),
        pytest.param(Annotated[float, Field(lt=2.5)], 2, "should be less than 2", id="a bound with a fraction"),
        pytest.param(Annotated[float, Field(multiple_of=0.5)], 7, "must be positive: 0", id="a part of one"),
        pytest.param(Annotated[Any, PreserveUnknownFields()], None, "Required value", id="null for anything"),
        pytest.param(set[str], ["a", "a"], "Duplicate value", id="twice in a set"),
        pytest.param(Annotated[int, ValidationRule("self > 3")], 3, "failed rule: self > 3", id="a rule"),
        pytest.param(Either, {"a": 1, "b": 2}, "exactly one of the fields in", id="a choice"),
        pytest.param(
            Annotated[File | Web, Field(discriminator="kind")],
            {"kind": "file", "path": "a", "retries": "many"},
            "must be of type integer",
            id="a field of the other member of a union",
        ),
    ],
)
def test_python_takes_what_the_server_refuses(annotation: Any, value: Any, complaint: str) -> None:
    """Python decodes leniently and does not check rules that only the server has."""
    kind = kind_of(annotation)
    assert python_reads(kind, {"x": value}) is not DecodeError
    assert complaint in server_says(kind, {"x": value})[0]


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        pytest.param(Annotated[int, AfterValidator(even)], 3, id="a validator in Python"),
        pytest.param(Time, [], id="a list where a format is"),
        pytest.param(Annotated[float, Field(ge=0.5)], 0, id="a bound with a fraction"),
        pytest.param(IPv4Network, "10.0.0.1/24", id="an address with a prefix for a network"),
        pytest.param(
            Annotated[str, StringConstraints(min_length=2, strip_whitespace=True)], "a ", id="blanks that are stripped"
        ),
    ],
)
def test_the_server_takes_what_python_refuses(annotation: Any, value: Any) -> None:
    """The server accepts values that only Python code refuses, and a few invalid ones."""
    kind = kind_of(annotation)
    assert python_reads(kind, {"x": value}) is DecodeError
    assert server_says(kind, {"x": value})[0] == ""


def test_the_server_puts_the_default_in_the_place_of_a_null() -> None:
    """A null for an optional field with a default is None in Python and the default on the server."""
    kind = kind_of(int | None, 3)
    assert python_reads(kind, {"x": None}) is None
    assert server_says(kind, {"x": None}) == ("", {"x": 3})


def test_the_server_drops_what_no_class_names() -> None:
    """Python keeps unknown fields, for other versions of the class; the server drops them."""
    kind = kind_of(int)
    assert kind.from_wire(object_of(kind, {"x": 1, "y": 2})).to_wire()["spec"] == {"x": 1, "y": 2}
    assert server_says(kind, {"x": 1, "y": 2}) == ("", {"x": 1})
