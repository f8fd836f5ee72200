"""Reviews: questions that look like objects. They are answered and never stored."""

from __future__ import annotations

from typing import Any

from pyctrl.api import RequestTarget
from pyctrl.apiserver._access_reviews import AccessReviews
from pyctrl.apiserver._admission import CREATE, Admission, Attributes
from pyctrl.apiserver._answers import Answer, bad_request, method_not_allowed, no_such_resource
from pyctrl.apiserver._authentication import Authenticator, user_info
from pyctrl.apiserver._authorization import Authorizer
from pyctrl.apiserver._backend import check_kind, check_namespace_matches, metadata_of
from pyctrl.apiserver._bodies import decode_object, duplicates_in
from pyctrl.apiserver._forms import answer_value, typed_first
from pyctrl.apiserver._identity import tidy, timestamp
from pyctrl.apiserver._managed_fields import track
from pyctrl.apiserver._options import write_options
from pyctrl.apiserver._request import Request
from pyctrl.apiserver._resources import Registry
from pyctrl.apiserver._storage import api_version

_AUTHENTICATION, _AUTHORIZATION = "authentication.k8s.io", "authorization.k8s.io"


class Reviews:
    """Who somebody is, and what they may do."""

    def __init__(
        self, authenticator: Authenticator, authorizer: Authorizer, admission: Admission, registry: Registry
    ) -> None:
        self._registry = registry
        self._authenticator = authenticator
        self._admission = admission
        self._access = AccessReviews(authorizer)

    @staticmethod
    def answers(target: RequestTarget) -> bool:
        """Whether a resource is one of questions."""
        return target.group in (_AUTHENTICATION, _AUTHORIZATION)

    async def answer(self, request: Request) -> Answer:
        """Answer a POST."""
        resource = request.resource
        if request.target.name or (resource.namespaced and not request.target.namespace):
            raise no_such_resource()
        if request.method != "POST":
            raise method_not_allowed()
        options = write_options(request.query, "CreateOptions")
        review = decode_object(request.body, request.headers, resource.kind)
        duplicates = duplicates_in(request.body, review)
        check_kind(review, resource, self._registry)
        metadata_of(review, resource)
        validation, warnings = options.field_validation, request.warnings
        resource.decode(review, field_validation=validation, warnings=warnings, duplicates=duplicates)
        check_namespace_matches(review["metadata"], request)
        tidy(review["metadata"])
        self._track(request, review)
        attributes = Attributes(operation=CREATE, request=request, object=review, name="", options=options)
        await self._admission.mutate(attributes)
        await self._admission.validate(attributes)
        review = attributes.object or review
        return answer_value(typed_first(self._answered(request, review), resource), request.form, 201)

    @staticmethod
    def _track(request: Request, review: dict[str, Any]) -> None:
        track(
            review,
            None,
            manager=request.manager,
            operation="Update",
            api_version=api_version(request.resource),
            subresource=None,
            type=request.resource,
        )

    def _answered(self, request: Request, review: dict[str, Any]) -> dict[str, Any]:
        plural, user = request.resource.plural, request.user
        if plural == "selfsubjectreviews":
            return {"metadata": {"creationTimestamp": timestamp()}, "status": {"userInfo": user_info(user)}}
        if plural == "selfsubjectrulesreviews":
            status = self._access.rules((review.get("spec") or {}).get("namespace", ""), user)
            return {"metadata": {}, "spec": {}, "status": status}
        if plural == "tokenreviews":
            return {**review, "status": self._token(review.get("spec") or {})}
        return {**review, "status": self._access.review(plural, review, user)}

    def _token(self, spec: dict[str, Any]) -> dict[str, Any]:
        token = spec.get("token", "")
        if not token:
            raise bad_request("token is required for TokenReview in authentication")
        found = self._authenticator.review(token, spec.get("audiences") or ())
        if found.user is None:
            return {"user": {}, "error": found.error}
        return {"authenticated": True, "user": user_info(found.user), "audiences": list(found.audiences)}
