"""Reviews: questions that look like objects. They are answered and never stored."""

from __future__ import annotations

from typing import Any

from pyctrl.api import RequestTarget
from pyctrl.apiserver._admission import CREATE, AdmissionChain, Attributes
from pyctrl.apiserver._authn import Authenticator, user_info
from pyctrl.apiserver._authz import Authorizer
from pyctrl.apiserver._endpoints.backend import check_kind, check_namespace_matches, metadata_of
from pyctrl.apiserver._endpoints.response_writers import value_response
from pyctrl.apiserver._errors import Response, bad_request, method_not_allowed, resource_not_served
from pyctrl.apiserver._fieldmanager.managed_fields import update_managed_fields
from pyctrl.apiserver._meta.system_fields import omit_empty, timestamp
from pyctrl.apiserver._registry.access_reviews import AccessReviews
from pyctrl.apiserver._request.options import write_options
from pyctrl.apiserver._request.request import ResourceRequest
from pyctrl.apiserver._resources.resource_type import with_type_meta
from pyctrl.apiserver._resources.served_resources import ServedResources
from pyctrl.apiserver._serializer.decoding import decode_object, duplicate_members

_AUTHENTICATION, _AUTHORIZATION = "authentication.k8s.io", "authorization.k8s.io"


class ReviewREST:
    """Who somebody is, and what they may do."""

    def __init__(
        self,
        authenticator: Authenticator,
        authorizer: Authorizer,
        admission: AdmissionChain,
        registry: ServedResources,
    ) -> None:
        self._registry = registry
        self._authenticator = authenticator
        self._admission = admission
        self._access = AccessReviews(authorizer)

    @staticmethod
    def answers(target: RequestTarget) -> bool:
        """Whether a resource is one of questions."""
        return target.group in (_AUTHENTICATION, _AUTHORIZATION)

    async def answer(self, request: ResourceRequest) -> Response:
        """Answer a POST."""
        resource = request.resource
        if request.target.name or (resource.namespaced and not request.target.namespace):
            raise resource_not_served()
        if request.method != "POST":
            raise method_not_allowed()
        options = write_options(request.query, "CreateOptions")
        review = decode_object(request.body, request.headers, resource.kind)
        duplicates = duplicate_members(request.body, review)
        check_kind(review, resource, self._registry)
        metadata_of(review, resource)
        validation, warnings = options.field_validation, request.warnings
        resource.decode(review, field_validation=validation, warnings=warnings, duplicates=duplicates)
        check_namespace_matches(review["metadata"], request)
        omit_empty(review["metadata"])
        self._track(request, review)
        attributes = Attributes(operation=CREATE, request=request, object=review, name="", options=options)
        await self._admission.mutate(attributes)
        await self._admission.validate(attributes)
        review = attributes.object or review
        return value_response(with_type_meta(self._answered(request, review), resource), request.form, 201)

    @staticmethod
    def _track(request: ResourceRequest, review: dict[str, Any]) -> None:
        update_managed_fields(
            review,
            None,
            manager=request.manager,
            operation="Update",
            api_version=request.resource.api_version,
            subresource=None,
            type=request.resource,
        )

    def _answered(self, request: ResourceRequest, review: dict[str, Any]) -> dict[str, Any]:
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
