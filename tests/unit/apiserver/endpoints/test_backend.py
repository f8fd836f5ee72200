"""Tests of the checks of request bodies that verbs share."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._endpoints.backend import (
    check_kind,
    check_name_and_namespace,
    check_namespace_matches,
    metadata_of,
)
from pyctrl.apiserver._errors import StatusError
from tests.unit.apiserver._requests import REGISTRY, resource_request

REQUEST = resource_request("ConfigMap", "/api/v1/namespaces/default/configmaps/a", method="PUT")


def test_a_namespace_that_is_left_out_is_that_of_the_url() -> None:
    """A body without a namespace gets that of the URL, and one of cluster scope loses its own."""
    metadata: dict[str, Any] = {"name": "a"}
    check_name_and_namespace(metadata, REQUEST)
    assert metadata == {"name": "a", "namespace": "default"}
    cluster = resource_request("Namespace", "/api/v1/namespaces")
    metadata = {"name": "a", "namespace": "default"}
    check_namespace_matches(metadata, cluster)
    assert metadata == {"name": "a"}


@pytest.mark.parametrize(
    ("metadata", "why"),
    [
        ({"name": "a", "namespace": "other"}, "the namespace of the provided object does not match"),
        ({"name": "b"}, r"the name of the object \(b\) does not match the name on the URL \(a\)"),
        ({}, "name must be provided"),
    ],
)
def test_a_body_of_another_object_than_the_url_is_refused(metadata: dict[str, Any], why: str) -> None:
    """A body is refused with 400 when its name or namespace is not the URL's."""
    with pytest.raises(StatusError, match=why) as refused:
        check_name_and_namespace(metadata, REQUEST)
    assert refused.value.code == 400


def test_a_built_in_body_may_leave_out_its_kind() -> None:
    """A body of a built-in kind may leave out kind and apiVersion, but not name another kind."""
    check_kind({}, REQUEST.resource, REGISTRY)
    with pytest.raises(StatusError, match="cannot be handled as a ConfigMap"):
        check_kind({"kind": "Secret", "apiVersion": "v1"}, REQUEST.resource, REGISTRY)


def test_absent_metadata_is_added() -> None:
    """A body without metadata gets an empty one, and metadata that is no object is refused with 400."""
    obj: dict[str, Any] = {}
    metadata_of(obj, REQUEST.resource)["name"] = "a"
    assert obj == {"metadata": {"name": "a"}}
    with pytest.raises(StatusError, match="cannot unmarshal string into Go struct field ConfigMap.metadata"):
        metadata_of({"metadata": "a"}, REQUEST.resource)
