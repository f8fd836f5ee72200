# Written by tools/generate_kinds.py from pyctrl/_schemas; change the generator, not this file.
"""The kinds of admissionregistration/v1 and their parts."""

from pydantic import Field

from pyctrl.api import Condition
from pyctrl.kinds._builtin import Kind, Part
from pyctrl.kinds.meta.v1 import LabelSelector

__all__ = [
    "ApplyConfiguration",
    "AuditAnnotation",
    "ExpressionWarning",
    "JSONPatch",
    "MatchCondition",
    "MatchResources",
    "MutatingAdmissionPolicy",
    "MutatingAdmissionPolicyBinding",
    "MutatingAdmissionPolicyBindingSpec",
    "MutatingAdmissionPolicySpec",
    "MutatingWebhook",
    "MutatingWebhookConfiguration",
    "Mutation",
    "NamedRuleWithOperations",
    "ParamKind",
    "ParamRef",
    "RuleWithOperations",
    "ServiceReference",
    "TypeChecking",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "ValidatingAdmissionPolicyBindingSpec",
    "ValidatingAdmissionPolicySpec",
    "ValidatingAdmissionPolicyStatus",
    "ValidatingWebhook",
    "ValidatingWebhookConfiguration",
    "Validation",
    "Variable",
    "WebhookClientConfig",
]


class ApplyConfiguration(Part):
    """`apply_configuration` of Mutation."""

    expression: str | None = None


class AuditAnnotation(Part):
    """`audit_annotations` of ValidatingAdmissionPolicySpec."""

    key: str = ""
    value_expression: str = ""


class ExpressionWarning(Part):
    """`expression_warnings` of TypeChecking."""

    field_ref: str = ""
    warning: str = ""


class JSONPatch(Part):
    """`json_patch` of Mutation."""

    expression: str | None = None


class MatchCondition(Part):
    """`match_conditions` of MutatingAdmissionPolicySpec, `match_conditions` of MutatingWebhook, `match_conditions` of ValidatingAdmissionPolicySpec, …"""

    expression: str = ""
    name: str = ""


class NamedRuleWithOperations(Part):
    """`exclude_resource_rules` of MatchResources, `resource_rules` of MatchResources."""

    api_groups: list[str] = Field(default_factory=list)
    api_versions: list[str] = Field(default_factory=list)
    operations: list[str] = Field(default_factory=list)
    resource_names: list[str] = Field(default_factory=list)
    resources: list[str] = Field(default_factory=list)
    scope: str | None = None


class MatchResources(Part):
    """`match_resources` of MutatingAdmissionPolicyBindingSpec, `match_constraints` of MutatingAdmissionPolicySpec, `match_resources` of ValidatingAdmissionPolicyBindingSpec, …"""

    exclude_resource_rules: list[NamedRuleWithOperations] = Field(default_factory=list)
    match_policy: str | None = None
    namespace_selector: LabelSelector | None = None
    object_selector: LabelSelector | None = None
    resource_rules: list[NamedRuleWithOperations] = Field(default_factory=list)


class Mutation(Part):
    """`mutations` of MutatingAdmissionPolicySpec."""

    apply_configuration: ApplyConfiguration | None = None
    json_patch: JSONPatch | None = None
    patch_type: str = ""


class ParamKind(Part):
    """`param_kind` of MutatingAdmissionPolicySpec, `param_kind` of ValidatingAdmissionPolicySpec."""

    api_version: str | None = None
    kind: str | None = None


class Variable(Part):
    """`variables` of MutatingAdmissionPolicySpec, `variables` of ValidatingAdmissionPolicySpec."""

    expression: str = ""
    name: str = ""


class MutatingAdmissionPolicySpec(Part):
    """`spec` of MutatingAdmissionPolicy."""

    failure_policy: str | None = None
    match_conditions: list[MatchCondition] = Field(default_factory=list)
    match_constraints: MatchResources | None = None
    mutations: list[Mutation] = Field(default_factory=list)
    param_kind: ParamKind | None = None
    reinvocation_policy: str | None = None
    variables: list[Variable] = Field(default_factory=list)


class MutatingAdmissionPolicy(
    Kind,
    group="admissionregistration.k8s.io",
    version="v1",
    plural="mutatingadmissionpolicies",
    scope="Cluster",
    categories=("api-extensions",),
):
    """MutatingAdmissionPolicy of admissionregistration.k8s.io/v1."""

    spec: MutatingAdmissionPolicySpec = Field(default_factory=MutatingAdmissionPolicySpec)


class ParamRef(Part):
    """`param_ref` of MutatingAdmissionPolicyBindingSpec, `param_ref` of ValidatingAdmissionPolicyBindingSpec."""

    name: str | None = None
    namespace: str | None = None
    parameter_not_found_action: str | None = None
    selector: LabelSelector | None = None


class MutatingAdmissionPolicyBindingSpec(Part):
    """`spec` of MutatingAdmissionPolicyBinding."""

    match_resources: MatchResources | None = None
    param_ref: ParamRef | None = None
    policy_name: str | None = None


class MutatingAdmissionPolicyBinding(
    Kind,
    group="admissionregistration.k8s.io",
    version="v1",
    plural="mutatingadmissionpolicybindings",
    scope="Cluster",
    categories=("api-extensions",),
):
    """MutatingAdmissionPolicyBinding of admissionregistration.k8s.io/v1."""

    spec: MutatingAdmissionPolicyBindingSpec = Field(default_factory=MutatingAdmissionPolicyBindingSpec)


class RuleWithOperations(Part):
    """`rules` of MutatingWebhook, `rules` of ValidatingWebhook."""

    api_groups: list[str] = Field(default_factory=list)
    api_versions: list[str] = Field(default_factory=list)
    operations: list[str] = Field(default_factory=list)
    resources: list[str] = Field(default_factory=list)
    scope: str | None = None


class ServiceReference(Part):
    """`service` of WebhookClientConfig."""

    name: str = ""
    namespace: str = ""
    path: str | None = None
    port: int | None = None


class WebhookClientConfig(Part):
    """`client_config` of MutatingWebhook, `client_config` of ValidatingWebhook."""

    ca_bundle: str | None = None
    service: ServiceReference | None = None
    url: str | None = None


class MutatingWebhook(Part):
    """`webhooks` of MutatingWebhookConfiguration."""

    admission_review_versions: list[str] = Field(default_factory=list)
    client_config: WebhookClientConfig = Field(default_factory=WebhookClientConfig)
    failure_policy: str | None = None
    match_conditions: list[MatchCondition] = Field(default_factory=list)
    match_policy: str | None = None
    name: str = ""
    namespace_selector: LabelSelector | None = None
    object_selector: LabelSelector | None = None
    reinvocation_policy: str | None = None
    rules: list[RuleWithOperations] = Field(default_factory=list)
    side_effects: str = ""
    timeout_seconds: int | None = None


class MutatingWebhookConfiguration(
    Kind,
    group="admissionregistration.k8s.io",
    version="v1",
    plural="mutatingwebhookconfigurations",
    scope="Cluster",
    categories=("api-extensions",),
):
    """MutatingWebhookConfiguration of admissionregistration.k8s.io/v1."""

    webhooks: list[MutatingWebhook] = Field(default_factory=list)


class TypeChecking(Part):
    """`type_checking` of ValidatingAdmissionPolicyStatus."""

    expression_warnings: list[ExpressionWarning] = Field(default_factory=list)


class Validation(Part):
    """`validations` of ValidatingAdmissionPolicySpec."""

    expression: str = ""
    message: str | None = None
    message_expression: str | None = None
    reason: str | None = None


class ValidatingAdmissionPolicySpec(Part):
    """`spec` of ValidatingAdmissionPolicy."""

    audit_annotations: list[AuditAnnotation] = Field(default_factory=list)
    failure_policy: str | None = None
    match_conditions: list[MatchCondition] = Field(default_factory=list)
    match_constraints: MatchResources | None = None
    param_kind: ParamKind | None = None
    validations: list[Validation] = Field(default_factory=list)
    variables: list[Variable] = Field(default_factory=list)


class ValidatingAdmissionPolicyStatus(Part):
    """`status` of ValidatingAdmissionPolicy."""

    conditions: list[Condition] = Field(default_factory=list)
    observed_generation: int | None = None
    type_checking: TypeChecking | None = None


class ValidatingAdmissionPolicy(
    Kind,
    group="admissionregistration.k8s.io",
    version="v1",
    plural="validatingadmissionpolicies",
    scope="Cluster",
    categories=("api-extensions",),
    subresources=("status",),
):
    """ValidatingAdmissionPolicy of admissionregistration.k8s.io/v1."""

    spec: ValidatingAdmissionPolicySpec = Field(default_factory=ValidatingAdmissionPolicySpec)
    status: ValidatingAdmissionPolicyStatus = Field(default_factory=ValidatingAdmissionPolicyStatus)


class ValidatingAdmissionPolicyBindingSpec(Part):
    """`spec` of ValidatingAdmissionPolicyBinding."""

    match_resources: MatchResources | None = None
    param_ref: ParamRef | None = None
    policy_name: str = ""
    validation_actions: list[str] = Field(default_factory=list)


class ValidatingAdmissionPolicyBinding(
    Kind,
    group="admissionregistration.k8s.io",
    version="v1",
    plural="validatingadmissionpolicybindings",
    scope="Cluster",
    categories=("api-extensions",),
):
    """ValidatingAdmissionPolicyBinding of admissionregistration.k8s.io/v1."""

    spec: ValidatingAdmissionPolicyBindingSpec = Field(default_factory=ValidatingAdmissionPolicyBindingSpec)


class ValidatingWebhook(Part):
    """`webhooks` of ValidatingWebhookConfiguration."""

    admission_review_versions: list[str] = Field(default_factory=list)
    client_config: WebhookClientConfig = Field(default_factory=WebhookClientConfig)
    failure_policy: str | None = None
    match_conditions: list[MatchCondition] = Field(default_factory=list)
    match_policy: str | None = None
    name: str = ""
    namespace_selector: LabelSelector | None = None
    object_selector: LabelSelector | None = None
    rules: list[RuleWithOperations] = Field(default_factory=list)
    side_effects: str = ""
    timeout_seconds: int | None = None


class ValidatingWebhookConfiguration(
    Kind,
    group="admissionregistration.k8s.io",
    version="v1",
    plural="validatingwebhookconfigurations",
    scope="Cluster",
    categories=("api-extensions",),
):
    """ValidatingWebhookConfiguration of admissionregistration.k8s.io/v1."""

    webhooks: list[ValidatingWebhook] = Field(default_factory=list)
