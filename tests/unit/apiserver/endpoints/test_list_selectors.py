"""Label and field selectors that do not parse or are not supported."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyctrl.api import LabelSelector
from pyctrl.apiserver._endpoints.list_selectors import label_selector_problem
from pyctrl.errors import SelectorError
from tests.unit.apiserver._kit import CONFIGMAPS, Asker

NO_INTEGER = "for 'Gt', 'Lt' operators, the value must be an integer"


@given(st.text("ab,=!()<> in", max_size=12))
def test_a_label_selector_is_parsed_or_has_a_problem(text: str) -> None:
    """A selector that parses has no error message, and every other selector has one."""
    try:
        LabelSelector.parse(text)
    except SelectorError:
        return
    assert label_selector_problem(text) == ""


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a,", "found '', expected: identifier after ','"),
        ("a in x", "unable to parse requirement: found 'x' expected: '('"),
        ("a in (x", "unable to parse requirement: found '', expected: ',' or ')'"),
        ("=x", "found '=', expected: !, identifier, or 'end of string'"),
        ("a=b,!c,d notin (e,f),g,h in (),i=,j>5", ""),
        ("", ""),
        ("a>x", 'unable to parse requirement: values[0]: Invalid value: "x": ' + NO_INTEGER),
        ("a/b/c", 'unable to parse requirement: <nil>: Invalid value: "a/b/c": a valid label key must consist of '),
        ("a=" + "x" * 64, f'unable to parse requirement: values[0][a]: Invalid value: "{"x" * 64}": must be no more '),
    ],
)
def test_label_selectors_that_do_not_parse(text: str, problem: str) -> None:
    """A malformed selector has the error message of apimachinery's parser; a valid one has none."""
    found = label_selector_problem(text)
    assert found.startswith(problem)
    assert bool(found) == bool(problem)


def test_a_field_that_cannot_be_selected_is_refused(ask: Asker) -> None:
    """A field label that the kind does not support is 400, not an empty list."""
    assert ask("GET", CONFIGMAPS, fieldSelector="data.k=1")[0] == 400
    assert ask("GET", "/api/v1/pods", fieldSelector="spec.nodeName=x")[0] == 200
    assert ask("GET", "/api/v1/pods", fieldSelector="spec.hostname=x")[1]["message"] == (
        "field label not supported: spec.hostname"
    )


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/apis/batch/v1/jobs", 'field label "x" not supported for Job'),
        (
            "/apis/resource.k8s.io/v1/resourceslices",
            "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: x",
        ),
        (
            "/apis/apps/v1/replicasets",
            '"x" is not a known field selector: only "metadata.name", "metadata.namespace"',
        ),
        ("/api/v1/pods", "field label not supported: x"),
    ],
)
def test_an_unknown_field_is_refused_in_the_words_of_its_kind(ask: Asker, path: str, message: str) -> None:
    """Kinds with fields of their own have different messages."""
    code, status = ask("GET", path, fieldSelector="x=1")
    assert (code, message in status["message"]) == (400, True), status["message"]


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ("metadata.name=a\\,b", []),
        ("=", ["a"]),
        ("metadata.name=a,=", ["a"]),
        ("metadata.name=a\\", "invalid field selector: invalid escape sequence: \\"),
        ("metadata.name=a\\b", "invalid field selector: invalid escape sequence: \\b"),
        ("metadata.name=a=b", "invalid field selector: unescaped character in value: 61"),
        ("metadata.name", "invalid selector: 'metadata.name'; can't understand 'metadata.name'"),
    ],
)
def test_terms_of_a_field_selector(ask: Asker, selector: str, found: list[str] | str) -> None:
    """A backslash escapes commas and equals signs, and a term without field and value selects everything."""
    ask.make("a")
    code, answer = ask("GET", CONFIGMAPS, fieldSelector=selector)
    names = [each["metadata"]["name"] for each in answer.get("items", ())]
    assert (answer["message"] if code == 400 else names) == found


def test_a_list_of_one_name_has_one_page(ask: Asker) -> None:
    """There is no token for more objects, because no other object can have the name."""
    for name in ("a", "b"):
        ask.make(name)
    found = ask("GET", CONFIGMAPS, fieldSelector="metadata.name=a", limit="1")[1]
    assert "continue" not in found["metadata"]


@pytest.mark.parametrize("path", ["/api/v1/namespaces", "/api/v1/nodes"])
def test_a_kind_with_field_labels_of_its_own_has_no_others(ask: Asker, path: str) -> None:
    """A cluster-scoped kind that declares field labels is not selected by namespace; others are."""
    refused = ask("GET", path, fieldSelector="metadata.namespace=a")
    assert (refused[0], refused[1]["message"]) == (400, "field label not supported: metadata.namespace")
    assert ask("GET", "/api/v1/persistentvolumes", fieldSelector="metadata.namespace=a")[0] == 200
