"""Offline validation of objects in files: problems with line and column."""

from __future__ import annotations

import json
import sys
from functools import cache
from typing import Any

import pytest

from pyctrl.manifests import Document, ManifestValidator, ValidationResult, read_manifest_objects

WRONG_TYPE = 'spec.labels.a.b/c: Invalid value: "integer": spec.labels.a.b/c in body must be of type string: "integer"'
DEFINITION = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {plural: widgets, kind: Widget}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [size]
            properties:
              size: {type: integer, minimum: 0}
              colour: {type: string, default: red}
              labels: {type: object, additionalProperties: {type: string}}
              parts: {type: array, items: {type: object, properties: {name: {type: string, maxLength: 3}}}}
            x-kubernetes-validations: [{rule: "self.size < 5", message: too much}]
"""
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  template:
    spec:
      containers:
      - name: a
      - name: b
        resources: {limits: {cpu: much}}
"""


def documents(text: str) -> list[Document]:
    return list(read_manifest_objects(text.encode(), "file.yaml"))


@cache
def validator() -> ManifestValidator:
    """Return a validator that knows Widgets."""
    made = ManifestValidator()
    assert made.define(documents(DEFINITION)[0]).is_valid
    return made


def validated(text: str) -> list[ValidationResult]:
    return [validator().validate(document) for document in documents(text)]


def told(verdict: ValidationResult) -> list[tuple[int, int, str]]:
    return [(each.line, each.column, str(each)) for each in verdict.problems]


def test_where_things_are_wrong() -> None:
    """A problem has the position of the value, of an unknown or duplicate key, or of a missing field's parent."""
    (verdict,) = validated(
        """\
# a widget
apiVersion: example.com/v1
kind: Widget
metadata:
  name: w
spec:
  size: -1
  colur: red
  labels: {a.b/c: 3}
  parts:
  - name: abc
  - {name: abcd}
  labels:
    a.b/c: 3
"""
    )

    *first, last = told(verdict)
    assert first == [
        (7, 9, "spec.size: Invalid value: -1: spec.size in body should be greater than or equal to 0"),
        (8, 3, 'spec.colur: unknown field "spec.colur" (did you mean colour?)'),
        (12, 12, "spec.parts[1].name: Too long: may not be more than 3 bytes"),
        (13, 3, 'spec.labels: duplicate field "spec.labels"'),
        (14, 12, WRONG_TYPE),
    ]
    assert "some validation rules were not checked" in last[2]


def test_a_missing_field_is_where_it_should_be() -> None:
    """A missing field is reported at the key of its object."""
    (verdict,) = validated("apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\nspec: {}\n")

    assert told(verdict)[0] == (4, 1, "spec.size: Required value")


def test_a_valid_object() -> None:
    """A valid object has no problems, and its stored form has the defaults."""
    (verdict,) = validated("{apiVersion: example.com/v1, kind: Widget, metadata: {name: w}, spec: {size: 3}}")

    assert verdict.is_valid
    assert verdict.object["spec"] == {"size": 3, "colour": "red"}


def test_rules_are_checked() -> None:
    """A violated validation rule is reported with its message at its object."""
    (verdict,) = validated("apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\nspec:\n  size: 7\n")

    assert told(verdict) == [(4, 1, "spec: Invalid value: too much")]


def test_rules_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the extra `cel`, everything but rules is checked, and the validator reports that it skips rules."""
    monkeypatch.setitem(sys.modules, "cel_expr_python", None)
    without = ManifestValidator()
    assert without.define(documents(DEFINITION)[0]).is_valid

    found = without.validate(
        documents("{apiVersion: example.com/v1, kind: Widget, metadata: {name: w}, spec: {size: 7, a: 1}}")[0]
    )

    assert without.skips_rules
    assert [each.reason for each in found.problems] == ["FieldUnknown"]


@pytest.mark.parametrize(
    ("text", "line", "column", "path"),
    [
        ("kind: ConfigMap\ndata:\n  a: 1\napiVersion: v1\n", 3, 6, "data.a"),
        ('{"apiVersion": "v1",\n\t"kind": "ConfigMap",\n\t"data": {"a": 1}}', 3, 16, "data.a"),
        (
            "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData:\n  a: b\n  c: [1]\n",
            6,
            3,
            "stringData.c",
        ),
        (DEPLOYMENT, 10, 35, "spec.template.spec.containers[1].resources.limits.cpu"),
    ],
    ids=["YAML", "JSON with tabs", "a list for a text", "a quantity in a list"],
)
def test_what_cannot_be_read_as_its_kind(text: str, line: int, column: int, path: str) -> None:
    """A value of a wrong type is located, although the server's message has no position."""
    (verdict,) = validated(text)
    (problem,) = verdict.problems

    assert (problem.line, problem.column, problem.path, problem.reason) == (line, column, path, "DecodeFailed")


def test_documents_in_a_row() -> None:
    """Several YAML documents, Lists, and consecutive JSON objects are read as separate objects with their positions."""
    yaml = "kind: List\napiVersion: v1\nitems:\n- kind: A\n  apiVersion: v1\n---\n\n---\nkind: B\napiVersion: v1\n"
    rows = '{"kind": "C"}\n\n  {"kind": "D"} {"kind": "E"}'

    assert [(each.obj["kind"], each.number, *each.find("kind")) for each in documents(yaml)] == [
        ("A", 1, 4, 9),
        ("B", 3, 9, 7),
    ]
    assert [(each.obj["kind"], *each.find("kind")) for each in documents(rows)] == [
        ("C", 1, 10),
        ("D", 3, 12),
        ("E", 3, 26),
    ]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a: {{ .b }}", "found unhashable key (a template? make its objects first: helm template"),
        ("a: [", "yaml: line 1: did not find expected node content"),
        ("a: b\n c: d", "yaml: line 2: mapping values are not allowed in this context"),
        ("- a", "line 1: expected an object with apiVersion and kind, found list"),
        ("a: 1\n---\n3", "line 3: expected an object with apiVersion and kind, found int"),
        ('{"a": 1', "did not find expected ',' or '}'"),
        ("[" * 1_500, "exceeded max depth"),
        ('{"a":' * 300 + "1" + "}" * 300, "nested more than 200 levels deep"),
        ("a: &a [*a]", "anchor value contains itself"),
        ("? [a]\n: b", "found unhashable key"),
        ("a: !!timestamp x", "cannot decode !!str `x` as a !!timestamp"),
        ("a: !!set {b}", "JSON has no set"),
        ("\x00", "special characters are not allowed"),
    ],
)
def test_texts_that_are_no_objects(text: str, why: str) -> None:
    """A text without valid objects is refused with a one-line error."""
    with pytest.raises(ValueError, match=".") as refused:
        documents(text)

    assert why in str(refused.value)
    assert "\n" not in str(refused.value).strip()


@pytest.mark.parametrize(
    ("obj", "why"),
    [
        ({}, "apiVersion: Required value: an object has apiVersion"),
        ({"apiVersion": "v1"}, "kind: Required value: an object has kind"),
        ({"apiVersion": "v1", "kind": 3}, "kind: Required value: an object has kind"),
        ({"apiVersion": "a/v1", "kind": "B"}, 'no matches for kind "B" in version "a/v1"'),
        ({"apiVersion": "v1", "kind": "ConfigMap", "metadata": 3}, "cannot unmarshal number"),
        ({"apiVersion": "v1", "kind": "ConfigMap"}, "metadata.name: Required value: name or generateName is required"),
        ({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": []}, "cannot unmarshal array"),
        ({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": 3}}, "cannot unmarshal number"),
    ],
)
def test_objects_that_are_hardly_any(obj: dict[str, Any], why: str) -> None:
    """An object without its required parts, such as apiVersion or kind, has a problem that names the part."""
    (verdict,) = validated(json.dumps(obj))

    assert why in str(verdict.problems[0])


def test_definitions_are_validated() -> None:
    """An invalid CRD has problems with their position, and its kind stays unknown."""
    judge, text = ManifestValidator(), DEFINITION.replace("type: integer", "type: int")

    found = judge.define(documents(text)[0])

    assert (found.problems[0].line, found.problems[0].column) == (20, 28)
    assert found.problems[0].message.startswith('Unsupported value: "int"')
    assert judge.validate(documents("{apiVersion: example.com/v1, kind: Widget}")[0]).is_unknown


def test_deprecations_are_warnings() -> None:
    """A deprecated version is a warning, and the object is valid."""
    (verdict,) = validated("{apiVersion: v1, kind: Endpoints, metadata: {name: a}}")

    assert verdict.is_valid
    assert verdict.warnings == ("v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",)
