"""Reviews: questions that look like objects. They are answered and never stored."""

from __future__ import annotations

from typing import Any

from ._answers import Answer, method_not_allowed
from ._auth import Authenticator, User
from ._backend import check_kind, metadata_of
from ._bodies import decode_object
from ._forms import answer_value, typed_first
from ._identity import timestamp
from ._request import Request, Target
from ._tokens import ISSUER

_AUTHENTICATION, _AUTHORIZATION = "authentication.k8s.io", "authorization.k8s.io"
_ACCESS = ("selfsubjectaccessreviews", "subjectaccessreviews", "localsubjectaccessreviews")


class Reviews:
    """Who somebody is, and what they may do. Nothing is forbidden yet to a user who is known."""

    def __init__(self, authenticator: Authenticator) -> None:
        self._authenticator = authenticator

    @staticmethod
    def answers(target: Target) -> bool:
        """Whether a resource is one of questions."""
        return target.group in (_AUTHENTICATION, _AUTHORIZATION)

    def answer(self, request: Request) -> Answer:
        """Answer a POST."""
        if request.method != "POST" or request.target.name:
            raise method_not_allowed()
        resource = request.resource
        review = decode_object(request.body, request.headers, resource.kind)
        check_kind(review, resource)
        metadata_of(review, resource)
        resource.decode(review, field_validation="Warn", warnings=request.warnings)
        review["status"] = self._status(request, review)
        if resource.plural == "selfsubjectreviews":
            review["metadata"]["creationTimestamp"] = timestamp()
        return answer_value(typed_first(review, resource), request.form, 201)

    def _status(self, request: Request, review: dict[str, Any]) -> dict[str, Any]:
        plural = request.resource.plural
        if plural == "selfsubjectreviews":
            return {"userInfo": user_info(request.user)}
        if plural == "tokenreviews":
            return self._token(str((review.get("spec") or {}).get("token") or ""))
        if plural in _ACCESS:
            return {"allowed": True}
        everything = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
        anywhere = {"verbs": ["*"], "nonResourceURLs": ["*"]}
        return {"resourceRules": [everything], "nonResourceRules": [anywhere], "incomplete": False}

    def _token(self, token: str) -> dict[str, Any]:
        user = self._authenticator.find(token)
        if user is None:
            return {"user": {}, "error": "invalid bearer token"}
        return {"authenticated": True, "user": user_info(user), "audiences": [ISSUER]}


def user_info(user: User) -> dict[str, Any]:
    """Tell a user as `UserInfo`."""
    parts: dict[str, Any] = {"username": user.name, "uid": user.uid, "groups": list(user.groups)}
    return {name: value for name, value in parts.items() if value}
