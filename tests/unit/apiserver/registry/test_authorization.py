"""Access reviews."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.apiserver._kit import Asker
from tests.unit.apiserver.authz._rbac import Guarded

REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
RULES = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"
PODS = {"verb": "get", "resource": "pods", "namespace": "default"}


@pytest.mark.parametrize(("group", "is_allowed"), [("system:masters", True), ("visitors", False)])
def test_a_review_has_the_decision_about_the_named_user(group: str, is_allowed: bool) -> None:
    """A review decides for the user in its spec, not for the user who sends it."""
    ask = Guarded()
    code, review = ask("POST", REVIEWS, {"spec": {"user": "jane", "groups": [group], "resourceAttributes": PODS}})
    assert (code, review["status"]["allowed"]) == (201, is_allowed)


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"resourceAttributes": PODS}, "spec.user"),
        ({"user": "jane"}, "spec.resourceAttributes"),
        (
            {"user": "jane", "resourceAttributes": PODS, "nonResourceAttributes": {"path": "/x", "verb": "get"}},
            "spec.nonResourceAttributes",
        ),
        (
            {"user": "jane", "resourceAttributes": {**PODS, "labelSelector": {}}},
            "spec.resourceAttributes.labelSelector",
        ),
    ],
)
def test_a_review_that_describes_no_request_is_refused(ask: Asker, spec: dict[str, Any], field: str) -> None:
    """A review needs a user or a group, and exactly one request; the error names the field."""
    code, status = ask("POST", REVIEWS, {"spec": spec})
    assert code == 422
    assert [cause["field"].removesuffix(".requirements") for cause in status["details"]["causes"]] == [field]


def test_a_selector_that_does_not_parse_is_reported_beside_the_decision(ask: Asker) -> None:
    """A raw selector with a syntax error is ignored, and the status says so."""
    attributes = {**PODS, "labelSelector": {"rawSelector": "a in ("}}
    _, review = ask("POST", REVIEWS, {"spec": {"groups": ["system:masters"], "resourceAttributes": attributes}})
    assert review["status"]["allowed"]
    expected = "spec.resourceAttributes.labelSelector ignored due to parse error"
    assert review["status"]["evaluationError"] == expected


def test_a_rules_review_needs_a_namespace(ask: Asker) -> None:
    """A review of rules without a namespace is a bad request."""
    code, status = ask("POST", RULES, {"spec": {}})
    assert (code, status["message"]) == (400, "no namespace on request")
