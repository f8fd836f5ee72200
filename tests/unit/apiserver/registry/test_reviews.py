"""Creation of reviews."""

from __future__ import annotations

from typing import Any

from tests.unit.apiserver._kit import Asker

REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
SPEC: dict[str, Any] = {"resourceAttributes": {"verb": "get", "resource": "pods"}}


def test_a_review_is_answered_with_its_kind_and_spec(ask: Asker) -> None:
    """The response to a review is the review with its kind and a status."""
    code, review = ask("POST", REVIEWS, {"spec": SPEC})
    assert (code, review["kind"], review["apiVersion"]) == (201, "SelfSubjectAccessReview", "authorization.k8s.io/v1")
    assert review["spec"] == SPEC
    assert "allowed" in review["status"]


def test_a_review_of_another_kind_is_refused(ask: Asker) -> None:
    """The kind of the body must be the kind of the path."""
    body = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": SPEC}
    assert ask("POST", REVIEWS, body)[0] == 400


def test_an_unknown_field_is_refused_in_strict_validation(ask: Asker) -> None:
    """Field validation applies to reviews as to stored objects."""
    code, status = ask("POST", REVIEWS, {"spec": {**SPEC, "typo": 1}}, fieldValidation="Strict")
    assert code == 400
    assert 'unknown field "spec.typo"' in status["message"]


def test_reviews_cannot_be_listed(ask: Asker) -> None:
    """Reviews are not stored, so the server has no list of them."""
    assert ask("GET", REVIEWS)[0] == 405
