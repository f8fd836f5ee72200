# Written by tools/generate_kinds.py from pyctrl/_schemas; change the generator, not this file.
"""The kinds of authentication/v1 and their parts."""

from pydantic import Field

from pyctrl.api import Time
from pyctrl.kinds._builtin import Kind, Part

__all__ = [
    "BoundObjectReference",
    "SelfSubjectReview",
    "SelfSubjectReviewStatus",
    "TokenRequest",
    "TokenRequestSpec",
    "TokenRequestStatus",
    "TokenReview",
    "TokenReviewSpec",
    "TokenReviewStatus",
    "UserInfo",
]


class BoundObjectReference(Part):
    """`bound_object_ref` of TokenRequestSpec."""

    api_version: str | None = None
    kind: str | None = None
    name: str | None = None
    uid: str | None = None


class UserInfo(Part):
    """`user_info` of SelfSubjectReviewStatus, `user` of TokenReviewStatus."""

    extra: dict[str, list[str]] = Field(default_factory=dict)
    groups: list[str] = Field(default_factory=list)
    uid: str | None = None
    username: str | None = None


class SelfSubjectReviewStatus(Part):
    """`status` of SelfSubjectReview."""

    user_info: UserInfo = Field(default_factory=UserInfo)


class SelfSubjectReview(
    Kind, group="authentication.k8s.io", version="v1", plural="selfsubjectreviews", scope="Cluster"
):
    """SelfSubjectReview of authentication.k8s.io/v1."""

    status: SelfSubjectReviewStatus = Field(default_factory=SelfSubjectReviewStatus)


class TokenRequestSpec(Part):
    """`spec` of TokenRequest."""

    audiences: list[str] = Field(default_factory=list)
    bound_object_ref: BoundObjectReference | None = None
    expiration_seconds: int | None = None


class TokenRequestStatus(Part):
    """`status` of TokenRequest."""

    expiration_timestamp: Time | None = None
    token: str = ""


class TokenRequest(Kind, group="authentication.k8s.io", version="v1"):
    """TokenRequest of authentication.k8s.io/v1."""

    spec: TokenRequestSpec = Field(default_factory=TokenRequestSpec)
    status: TokenRequestStatus = Field(default_factory=TokenRequestStatus)


class TokenReviewSpec(Part):
    """`spec` of TokenReview."""

    audiences: list[str] = Field(default_factory=list)
    token: str = ""


class TokenReviewStatus(Part):
    """`status` of TokenReview."""

    audiences: list[str] = Field(default_factory=list)
    authenticated: bool | None = None
    error: str | None = None
    user: UserInfo = Field(default_factory=UserInfo)


class TokenReview(Kind, group="authentication.k8s.io", version="v1", plural="tokenreviews", scope="Cluster"):
    """TokenReview of authentication.k8s.io/v1."""

    spec: TokenReviewSpec = Field(default_factory=TokenReviewSpec)
    status: TokenReviewStatus = Field(default_factory=TokenReviewStatus)
