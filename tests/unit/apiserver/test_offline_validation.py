"""Tests of validation without a server."""

from __future__ import annotations

from typing import Any

from pyctrl.apiserver._offline_validation import OfflineValidator, ValidationProblem


def config_map(**fields: Any) -> dict[str, Any]:
    """Return a ConfigMap with more fields."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, **fields}


def test_a_valid_object_is_returned_as_it_would_be_stored() -> None:
    """A valid object comes back with the server's defaults, and the argument is not changed."""
    obj = config_map(data={"key": "value"})
    result = OfflineValidator().validate(obj)
    assert result.problems == ()
    assert result.object is not None
    assert result.object["metadata"]["namespace"] == "default"
    assert obj == config_map(data={"key": "value"})


def test_an_unknown_field_is_a_problem_at_its_path() -> None:
    """A field that the kind does not have is reported with its path, as strict validation reports it."""
    (problem,) = OfflineValidator().validate(config_map(datas={})).problems
    assert (problem.field, problem.reason) == ("datas", "FieldUnknown")
    assert str(problem) == 'datas: unknown field "datas"'


def test_a_value_of_the_wrong_type_is_a_problem_at_its_path() -> None:
    """A value of the wrong type is reported at its path, and the object is not returned."""
    result = OfflineValidator().validate(config_map(data={"key": 1}))
    assert [(each.field, each.reason) for each in result.problems] == [("data.key", "DecodeFailed")]
    assert result.object is None


def test_an_unknown_kind_is_a_problem() -> None:
    """An object of a kind without a definition has the problem that its kind is not found."""
    validator = OfflineValidator()
    assert not validator.knows("example.com/v1", "Widget")
    assert validator.validate({"apiVersion": "example.com/v1", "kind": "Widget"}).problems == (
        ValidationProblem(
            field="kind", message='no matches for kind "Widget" in version "example.com/v1"', reason="NotFound"
        ),
    )


def test_the_fields_of_a_list_item_are_found_without_an_index() -> None:
    """The field names of a list's items are found by the keys alone, and an unknown path has none."""
    validator = OfflineValidator()
    assert {"name", "image"} <= set(validator.fields("v1", "Pod", ["spec", "containers"]))
    assert validator.fields("v1", "Pod", ["spec", "absent"]) == ()
