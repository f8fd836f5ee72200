# Written by tools/generate_kinds.py from pyctrl/_schemas; change the generator, not this file.
"""The kinds of authorization/v1 and their parts."""

from pydantic import Field

from pyctrl.kinds._builtin import Kind, Part
from pyctrl.kinds.meta.v1 import FieldSelectorRequirement, LabelSelectorRequirement

__all__ = [
    "FieldSelectorAttributes",
    "LabelSelectorAttributes",
    "LocalSubjectAccessReview",
    "NonResourceAttributes",
    "NonResourceRule",
    "ResourceAttributes",
    "ResourceRule",
    "SelfSubjectAccessReview",
    "SelfSubjectAccessReviewSpec",
    "SelfSubjectRulesReview",
    "SelfSubjectRulesReviewSpec",
    "SubjectAccessReview",
    "SubjectAccessReviewSpec",
    "SubjectAccessReviewStatus",
    "SubjectRulesReviewStatus",
]


class FieldSelectorAttributes(Part):
    """`field_selector` of ResourceAttributes."""

    raw_selector: str | None = None
    requirements: list[FieldSelectorRequirement] = Field(default_factory=list)


class LabelSelectorAttributes(Part):
    """`label_selector` of ResourceAttributes."""

    raw_selector: str | None = None
    requirements: list[LabelSelectorRequirement] = Field(default_factory=list)


class NonResourceAttributes(Part):
    """`non_resource_attributes` of SelfSubjectAccessReviewSpec, `non_resource_attributes` of SubjectAccessReviewSpec."""

    path: str | None = None
    verb: str | None = None


class ResourceAttributes(Part):
    """`resource_attributes` of SelfSubjectAccessReviewSpec, `resource_attributes` of SubjectAccessReviewSpec."""

    field_selector: FieldSelectorAttributes | None = None
    group: str | None = None
    label_selector: LabelSelectorAttributes | None = None
    name: str | None = None
    namespace: str | None = None
    resource: str | None = None
    subresource: str | None = None
    verb: str | None = None
    version: str | None = None


class SubjectAccessReviewSpec(Part):
    """`spec` of LocalSubjectAccessReview, `spec` of SubjectAccessReview."""

    extra: dict[str, list[str]] = Field(default_factory=dict)
    groups: list[str] = Field(default_factory=list)
    non_resource_attributes: NonResourceAttributes | None = None
    resource_attributes: ResourceAttributes | None = None
    uid: str | None = None
    user: str | None = None


class SubjectAccessReviewStatus(Part):
    """`status` of LocalSubjectAccessReview, `status` of SelfSubjectAccessReview, `status` of SubjectAccessReview."""

    allowed: bool = False
    denied: bool | None = None
    evaluation_error: str | None = None
    reason: str | None = None


class LocalSubjectAccessReview(Kind, group="authorization.k8s.io", version="v1", plural="localsubjectaccessreviews"):
    """LocalSubjectAccessReview of authorization.k8s.io/v1."""

    spec: SubjectAccessReviewSpec = Field(default_factory=SubjectAccessReviewSpec)
    status: SubjectAccessReviewStatus = Field(default_factory=SubjectAccessReviewStatus)


class NonResourceRule(Part):
    """`non_resource_rules` of SubjectRulesReviewStatus."""

    non_resource_urls: list[str] = Field(
        default_factory=list, validation_alias="nonResourceURLs", serialization_alias="nonResourceURLs"
    )
    verbs: list[str] = Field(default_factory=list)


class ResourceRule(Part):
    """`resource_rules` of SubjectRulesReviewStatus."""

    api_groups: list[str] = Field(default_factory=list)
    resource_names: list[str] = Field(default_factory=list)
    resources: list[str] = Field(default_factory=list)
    verbs: list[str] = Field(default_factory=list)


class SelfSubjectAccessReviewSpec(Part):
    """`spec` of SelfSubjectAccessReview."""

    non_resource_attributes: NonResourceAttributes | None = None
    resource_attributes: ResourceAttributes | None = None


class SelfSubjectAccessReview(
    Kind, group="authorization.k8s.io", version="v1", plural="selfsubjectaccessreviews", scope="Cluster"
):
    """SelfSubjectAccessReview of authorization.k8s.io/v1."""

    spec: SelfSubjectAccessReviewSpec = Field(default_factory=SelfSubjectAccessReviewSpec)
    status: SubjectAccessReviewStatus = Field(default_factory=SubjectAccessReviewStatus)


class SelfSubjectRulesReviewSpec(Part):
    """`spec` of SelfSubjectRulesReview."""

    namespace: str | None = None


class SubjectRulesReviewStatus(Part):
    """`status` of SelfSubjectRulesReview."""

    evaluation_error: str | None = None
    incomplete: bool = False
    non_resource_rules: list[NonResourceRule] = Field(default_factory=list)
    resource_rules: list[ResourceRule] = Field(default_factory=list)


class SelfSubjectRulesReview(
    Kind, group="authorization.k8s.io", version="v1", plural="selfsubjectrulesreviews", scope="Cluster"
):
    """SelfSubjectRulesReview of authorization.k8s.io/v1."""

    spec: SelfSubjectRulesReviewSpec = Field(default_factory=SelfSubjectRulesReviewSpec)
    status: SubjectRulesReviewStatus = Field(default_factory=SubjectRulesReviewStatus)


class SubjectAccessReview(
    Kind, group="authorization.k8s.io", version="v1", plural="subjectaccessreviews", scope="Cluster"
):
    """SubjectAccessReview of authorization.k8s.io/v1."""

    spec: SubjectAccessReviewSpec = Field(default_factory=SubjectAccessReviewSpec)
    status: SubjectAccessReviewStatus = Field(default_factory=SubjectAccessReviewStatus)
