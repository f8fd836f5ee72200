"""Tests of the attributes that plugins admit."""

from __future__ import annotations

from typing import Any

from pyctrl.apiserver._admission.attributes import CREATE, Attributes, Kind
from pyctrl.apiserver._request.options import WriteOptions
from tests.unit.apiserver._requests import resource_request


def attributes(kind: str, path: str, *, name: str = "", **fields: Any) -> Attributes:
    """Return the attributes of a create."""
    fields.setdefault("object", {})
    request = resource_request(kind, path)
    return Attributes(operation=CREATE, request=request, name=name, options=WriteOptions(), **fields)


PODS = "/api/v1/namespaces/default/pods"


def test_the_namespace_of_a_namespace_is_its_own_name() -> None:
    """A Namespace is admitted in the namespace of its own name, and another object in that of its URL."""
    assert attributes("Namespace", "/api/v1/namespaces", name="team").namespace == "team"
    assert attributes("Pod", PODS, name="a").namespace == "default"


def test_the_kind_of_a_subresource_may_be_its_own() -> None:
    """The kind is that of the resource, unless the subresource has its own."""
    eviction = Kind("policy", "v1", "Eviction")
    assert attributes("Pod", PODS).kind == Kind("", "v1", "Pod")
    assert attributes("Pod", f"{PODS}/a/eviction", own_kind=eviction).kind == eviction


def test_an_object_without_a_name_is_shown_by_its_generate_name() -> None:
    """An error message names the object by its name, else by its generateName, else as Unknown."""
    generated = attributes("Pod", PODS, object={"metadata": {"generateName": "web-"}})
    assert generated.shown_name == "web-"
    assert attributes("Pod", PODS).shown_name == "Unknown"
    refused = generated.forbidden("no more pods")
    assert (refused.code, str(refused)) == (403, 'pods "web-" is forbidden: no more pods')


def test_a_warning_that_a_header_cannot_carry_is_dropped() -> None:
    """A warning with a line break is dropped, and another one is added to the response."""
    admitted = attributes("Pod", PODS)
    admitted.warn("deprecated")
    admitted.warn("two\nlines")
    assert admitted.request.warnings == ["deprecated"]


def test_the_first_annotation_of_a_key_stays() -> None:
    """A second audit annotation of the same key does not replace the first."""
    admitted = attributes("Pod", PODS)
    admitted.annotate("policy", "first")
    admitted.annotate("policy", "second")
    assert admitted.request.annotations == {"policy": "first"}
