"""Python and the server agree on objects: what one takes, the other takes, and both read the same.

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

#: How many models are tried, each with several objects: always the same few, or as many new ones as one asks for.
WANTED = os.environ.get("PYCTRL_AGREEMENT_EXAMPLES", "")
EXAMPLES = int(WANTED or "40")

#: Complaints of the server about what Python lets in, and docs/definitions.md tells of.
DOCUMENTED = (
    "Duplicate value",
    'must be of type integer,string: "number"',
    'must be of type integer: "boolean"',
    "int32",
)

VALIDATOR = OfflineValidator()


def read(cls: type[CustomResource[Any, Any]], obj: Any) -> Any:
    """Read the spec of an object as pyctrl does; a text is why it cannot be read."""
    try:
        return known(cls.from_wire(obj).model_dump(mode="json")["spec"])
    except DecodeError as error:
        return str(error)


def is_right(cls: type[CustomResource[Any, Any]], obj: Any) -> bool:
    """Say whether an object is right by its types, without pydantic's leniency: 1 is no text, "1" is no number."""
    try:
        cls.__pydantic_validator__.validate_json(msgspec.json.encode(obj), strict=True, by_alias=True, by_name=False)
    except ValidationError:
        return False
    return True


def known(value: Any) -> Any:
    """Return JSON without the field that no class names: Python keeps it, the server drops it."""
    if isinstance(value, dict):
        return {key: known(item) for key, item in value.items() if key != "unknown"}
    return [known(item) for item in value] if isinstance(value, list) else value


def has_null(value: Any) -> bool:
    """Say whether there is a null somewhere in JSON."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return value is None or any(map(has_null, inside))


@settings(max_examples=EXAMPLES, derandomize=not WANTED, suppress_health_check=list(HealthCheck))
@given(kinds(), st.data())
def test_the_server_takes_what_python_takes(kind: Kind, data: st.DataObject) -> None:
    """What the server lets in, Python reads, with the same defaults; what is right by its types, the server lets in."""
    try:
        made = definition(kind.cls)
    except DefinitionError as error:
        # a default that breaks the constraints of its own field; keys of maps, in lists without a bound
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
        assert ", got [" in there, f"the server takes it, Python does not: {there}"  # a list where a format is
        return
    assert here == there or has_null(spec), "they read different things"
