"""Approval of definitions in the groups of the Kubernetes project."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver import ResourceRegistry
from pyctrl.apiserver._apiextensions.definitions import condition, updated_status
from pyctrl.apiserver._errors import StatusError
from tests.unit.apiserver._objects import complaints, create, definition, update

ANNOTATION = "api-approved.kubernetes.io"
FIELD = f"metadata.annotations[{ANNOTATION}]"
REQUIRED = f'protected groups must have approval annotation "{ANNOTATION}"'
START = 'starting with "unapproved"'
POLICY = "see https://github.com/kubernetes/enhancements/pull/1111"


def _definition(approval: str | None, group: str = "things.k8s.io") -> dict[str, Any]:
    obj = definition({"type": "object"})
    obj["metadata"]["name"], obj["spec"]["group"] = f"things.{group}", group
    if approval is not None:
        obj["metadata"]["annotations"] = {ANNOTATION: approval}
    return obj


@pytest.mark.parametrize(
    ("approval", "expected"),
    [
        ("https://example.com/pull/1", ("True", "ApprovedAnnotation", "approved in https://example.com/pull/1")),
        ("unapproved, a test", ("False", "UnapprovedAnnotation", 'not approved: "unapproved, a test"')),
    ],
)
def test_the_condition_says_whether_the_api_is_approved(approval: str, expected: tuple[str, str, str]) -> None:
    """Definitions of groups of the Kubernetes project have the condition; a second run changes nothing."""
    registry = ResourceRegistry()
    created, _ = create(registry, _definition(approval))
    updated = updated_status(created, [])
    assert updated is not None
    found = condition(updated, "KubernetesAPIApprovalPolicyConformant")
    assert (found["status"], found["reason"], found["message"]) == expected
    registry.install(updated)
    assert updated_status(updated, []) is None


def test_other_groups_need_no_approval() -> None:
    """A group whose name only ends like that of the project has neither an error nor a condition."""
    registry = ResourceRegistry()
    created, _ = create(registry, _definition(None, "things.x-k8s.io"))
    updated = updated_status(created, [])
    assert updated is not None
    assert condition(updated, "KubernetesAPIApprovalPolicyConformant") == {}


@pytest.mark.parametrize(
    ("approval", "complaint"),
    [
        (None, f"{FIELD}: Required value: {REQUIRED}, {POLICY}"),
        (
            "yes",
            f'{FIELD}: Invalid value: "yes": {REQUIRED} with either a URL or a reason {START}, {POLICY}',
        ),
    ],
)
def test_a_definition_without_approval_is_refused(approval: str | None, complaint: str) -> None:
    """The annotation is a URL, or a reason that starts with unapproved."""
    with pytest.raises(StatusError) as refused:
        create(ResourceRegistry(), _definition(approval))
    assert complaints(refused.value) == [complaint]


def test_an_update_that_removes_the_approval_is_refused() -> None:
    """An update is not judged while the state of the approval stays as it is."""
    registry = ResourceRegistry()
    created, _ = create(registry, _definition("https://example.com/pull/1"))
    update(registry, _definition("https://example.com/pull/2"), created)
    with pytest.raises(StatusError) as refused:
        update(registry, _definition(None), created)
    assert complaints(refused.value) == [f"{FIELD}: Required value: {REQUIRED}, {POLICY}"]
    del created["metadata"]["annotations"]
    update(registry, _definition(None), created)
