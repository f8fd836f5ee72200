"""Built-in kinds: decoding, and preparation for writes."""

from __future__ import annotations

import pytest

from pyctrl.apiserver import ResourceRegistry
from pyctrl.apiserver._errors import StatusError
from tests.unit.apiserver._objects import create, deployment, update


def test_generation_counts_changes_of_the_spec() -> None:
    """A new object has generation 1; a change of the spec increments it, a change of labels does not."""
    registry = ResourceRegistry()
    old, _ = create(registry, deployment())
    labelled = {**old, "metadata": {**old["metadata"], "labels": {"a": "b"}}}
    scaled = {**old, "spec": {**old["spec"], "replicas": 3}}
    written = [each["metadata"]["generation"] for each in (old, update(registry, labelled, old))]
    assert [*written, update(registry, scaled, old)["metadata"]["generation"]] == [1, 1, 2]


def test_a_status_is_written_only_by_its_subresource() -> None:
    """A write to the object keeps the old status, and a write to the status keeps the old spec."""
    registry = ResourceRegistry()
    old, _ = create(registry, {**deployment(), "status": {"replicas": 9}})
    assert "replicas" not in old["status"]

    new = {**old, "spec": {**old["spec"], "replicas": 3}, "status": {"replicas": 5}}
    whole, part = update(registry, new, old), update(registry, new, old, subresource="status")
    assert (whole["spec"]["replicas"], whole["status"].get("replicas")) == (3, None)
    assert (part["spec"]["replicas"], part["status"]["replicas"]) == (1, 5)


def test_an_unknown_field_is_dropped_with_a_warning_or_refused() -> None:
    """Field validation decides what an unknown field does."""
    made, warnings = create(ResourceRegistry(), deployment(typo=1))
    assert ("typo" in made["spec"], warnings) == (False, ['unknown field "spec.typo"'])
    with pytest.raises(StatusError, match="typo"):
        create(ResourceRegistry(), deployment(typo=1), field_validation="Strict")


def test_a_kind_of_the_core_group_has_a_version_without_group() -> None:
    """The API version is `v1` for the core group, and `GROUP/VERSION` for the others."""
    registry = ResourceRegistry()
    found = registry.require("", "v1", "pods"), registry.require("apps", "v1", "deployments")
    assert [each.api_version for each in found] == ["v1", "apps/v1"]
