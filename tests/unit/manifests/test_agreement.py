"""Python and the server agree on objects: they accept the same ones and decode them equally.

docs/definitions.md lists the differences; test_differences.py tests each of them.
"""

from __future__ import annotations

import os
from typing import Any

import msgspec
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from pyctrl.api import CustomResource
from pyctrl.apiserver import OfflineValidator
from pyctrl.errors import DecodeError, DefinitionError
from pyctrl.manifests import definition
from tests.unit.manifests._random_models import Kind, kinds

#: Number of models, each with several objects: a fixed few, or as many new ones as the variable demands.
WANTED = os.environ.get("PYCTRL_AGREEMENT_EXAMPLES", "")
EXAMPLES = int(WANTED or "40")

#: Complaints of the server about objects that Python accepts, listed in docs/definitions.md.
DOCUMENTED = (
    "Duplicate value",
    'must be of type integer,string: "number"',
    'must be of type integer: "boolean"',
    "int32",
)

VALIDATOR = OfflineValidator()


def read(cls: type[CustomResource[Any, Any]], obj: Any) -> Any:
    """Decode the spec of an object with pyctrl; a text is the error."""
    try:
        return known(cls.from_wire(obj).model_dump(mode="json")["spec"])
    except DecodeError as error:
        return str(error)


def is_right(cls: type[CustomResource[Any, Any]], obj: Any) -> bool:
    """Return whether an object is valid without pydantic's conversions: 1 is no text, "1" is no number."""
    try:
        cls.__pydantic_validator__.validate_json(msgspec.json.encode(obj), strict=True, by_alias=True, by_name=False)
    except ValidationError:
        return False
    return True


def known(value: Any) -> Any:
    """Return JSON without the unknown field, which Python keeps and the server drops."""
    if isinstance(value, dict):
        return {key: known(item) for key, item in value.items() if key != "unknown"}
    return [known(item) for item in value] if isinstance(value, list) else value


def has_null(value: Any) -> bool:
    """Return whether JSON contains a null."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return value is None or any(map(has_null, inside))


@settings(max_examples=EXAMPLES, derandomize=not WANTED, suppress_health_check=list(HealthCheck))
@given(kinds(), st.data())
def test_the_server_takes_what_python_takes(kind: Kind, data: st.DataObject) -> None:
    """Python decodes what the server accepts, with the same defaults; the server accepts what is strictly valid."""
    try:
        made = definition(kind.cls)
    except DefinitionError as error:
        # a default that violates the constraints of its own field; keys of maps in lists without a bound
        if "default: " not in str(error) and "costs the server too much" not in str(error):
            raise
        reject()
    assert VALIDATOR.define(made).problems == ()
    for _ in range(8):
        spec = data.draw(kind.specs)
        agree(kind.cls, spec)


def agree(cls: type[CustomResource[Any, Any]], spec: Any) -> None:
    obj = {"apiVersion": cls.gvk.api_version, "kind": cls.gvk.kind, "metadata": {"name": "a"}, "spec": spec}
    examination = VALIDATOR.validate(obj)
    complaints = [str(each) for each in examination.problems if each.reason != "FieldUnknown"]
    if complaints:
        is_documented = any(each in complaint for each in DOCUMENTED for complaint in complaints)
        assert is_documented or not is_right(cls, obj), f"Python takes it, the server does not: {complaints}"
        return
    here, there = read(cls, obj), read(cls, examination.object or obj)
    if isinstance(there, str):
        assert ", got [" in there, f"the server takes it, Python does not: {there}"  # a list in a field with a format
        return
    assert here == there or has_null(spec), "they read different things"
