"""TokenReviews and SelfSubjectReviews: which user a token authenticates, and which user sends the request."""

from __future__ import annotations

from typing import Any, Final

from pyctrl.apiserver._authn import user_info
from pyctrl.apiserver._errors import bad_request
from pyctrl.apiserver._meta.system_fields import timestamp
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.reviews import ReviewREST
from pyctrl.apiserver._request.request import ResourceRequest

__all__ = ["RESOURCES"]

_GROUP: Final = "authentication.k8s.io"


class _TokenReviewREST(ReviewREST):
    """Authenticates the token of a review."""

    def answer(self, review: dict[str, Any], request: ResourceRequest) -> dict[str, Any]:
        """Return the review with the user of the token, or the error."""
        spec = review.get("spec") or {}
        token = spec.get("token", "")
        if not token:
            raise bad_request("token is required for TokenReview in authentication")
        found = self._authenticator.review(token, spec.get("audiences") or ())
        status: dict[str, Any] = {"user": {}, "error": found.error}
        if found.user is not None:
            status = {"authenticated": True, "user": user_info(found.user), "audiences": list(found.audiences)}
        return {**review, "status": status}


class _SelfSubjectReviewREST(ReviewREST):
    """Returns the user who sends the request."""

    def answer(self, review: dict[str, Any], request: ResourceRequest) -> dict[str, Any]:
        """Return a review of the user."""
        return {"metadata": {"creationTimestamp": timestamp()}, "status": {"userInfo": user_info(request.user)}}


RESOURCES: Final = (
    BuiltinResource(group=_GROUP, kind="TokenReview", rest={"": _TokenReviewREST}),
    BuiltinResource(group=_GROUP, kind="SelfSubjectReview", rest={"": _SelfSubjectReviewREST}),
)
