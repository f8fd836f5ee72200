"""Tests of requests for resources: their paths and query parameters."""

from __future__ import annotations

import pytest

from pyctrl.apiserver._request.request import QueryParameters, parse_target


def test_the_path_of_an_object_is_parsed() -> None:
    """The path of an object names its group, version, namespace, resource and subresource."""
    target = parse_target("/apis/apps/v1/namespaces/default/deployments/web/scale")
    assert target is not None
    assert (target.group, target.version, target.namespace) == ("apps", "v1", "default")
    assert (target.resource, target.name, target.subresource) == ("deployments", "web", "scale")


def test_a_path_of_no_resource_has_no_target() -> None:
    """A path outside of the API groups, as that of a health check, is not a request for a resource."""
    assert parse_target("/healthz") is None


def test_a_path_with_an_empty_segment_names_no_resource() -> None:
    """A path with an empty segment is in its group, but names a resource that no server has."""
    target = parse_target("/api/v1/namespaces/default/configmaps//status")
    assert target is not None
    assert (target.version, target.resource, target.name) == ("v1", "", "")


def test_the_first_value_of_a_repeated_parameter_counts() -> None:
    """The first value of a repeated query parameter counts, and all values are available in their order."""
    query = QueryParameters([("dryRun", "All"), ("limit", "1"), ("dryRun", "None")])
    assert query.get("dryRun") == "All"
    assert query.every("dryRun") == ["All", "None"]
    assert (query.get("absent"), query.has("absent"), query.every("absent")) == ("", False, [])


@pytest.mark.parametrize(
    ("text", "expected"), [("true", True), ("", True), ("yes", True), ("0", False), ("False", False)]
)
def test_a_flag_is_true_unless_it_is_zero_or_false(text: str, expected: bool) -> None:
    """A boolean parameter is true with every value except 0 and false, and None when it is absent."""
    query = QueryParameters([("watch", text)])
    assert query.flag("watch") is expected
    assert query.flag("force") is None
