# Written by tools/generate_kinds.py from pyctrl/_schemas; change the generator, not this file.
"""The kinds of flowcontrol/v1 and their parts."""

from pydantic import Field

from pyctrl.api import Time
from pyctrl.kinds._builtin import Kind, Part

__all__ = [
    "ExemptPriorityLevelConfiguration",
    "FlowDistinguisherMethod",
    "FlowSchema",
    "FlowSchemaCondition",
    "FlowSchemaSpec",
    "FlowSchemaStatus",
    "GroupSubject",
    "LimitResponse",
    "LimitedPriorityLevelConfiguration",
    "NonResourcePolicyRule",
    "PolicyRulesWithSubjects",
    "PriorityLevelConfiguration",
    "PriorityLevelConfigurationCondition",
    "PriorityLevelConfigurationReference",
    "PriorityLevelConfigurationSpec",
    "PriorityLevelConfigurationStatus",
    "QueuingConfiguration",
    "ResourcePolicyRule",
    "ServiceAccountSubject",
    "Subject",
    "UserSubject",
]


class ExemptPriorityLevelConfiguration(Part):
    """`exempt` of PriorityLevelConfigurationSpec."""

    lendable_percent: int | None = None
    nominal_concurrency_shares: int | None = None


class FlowDistinguisherMethod(Part):
    """`distinguisher_method` of FlowSchemaSpec."""

    type: str = ""


class NonResourcePolicyRule(Part):
    """`non_resource_rules` of PolicyRulesWithSubjects."""

    non_resource_urls: list[str] = Field(
        default_factory=list, validation_alias="nonResourceURLs", serialization_alias="nonResourceURLs"
    )
    verbs: list[str] = Field(default_factory=list)


class ResourcePolicyRule(Part):
    """`resource_rules` of PolicyRulesWithSubjects."""

    api_groups: list[str] = Field(default_factory=list)
    cluster_scope: bool | None = None
    namespaces: list[str] = Field(default_factory=list)
    resources: list[str] = Field(default_factory=list)
    verbs: list[str] = Field(default_factory=list)


class GroupSubject(Part):
    """`group` of Subject."""

    name: str = ""


class ServiceAccountSubject(Part):
    """`service_account` of Subject."""

    name: str = ""
    namespace: str = ""


class UserSubject(Part):
    """`user` of Subject."""

    name: str = ""


class Subject(Part):
    """`subjects` of PolicyRulesWithSubjects."""

    group: GroupSubject | None = None
    kind: str = ""
    service_account: ServiceAccountSubject | None = None
    user: UserSubject | None = None


class PolicyRulesWithSubjects(Part):
    """`rules` of FlowSchemaSpec."""

    non_resource_rules: list[NonResourcePolicyRule] = Field(default_factory=list)
    resource_rules: list[ResourcePolicyRule] = Field(default_factory=list)
    subjects: list[Subject] = Field(default_factory=list)


class PriorityLevelConfigurationReference(Part):
    """`priority_level_configuration` of FlowSchemaSpec."""

    name: str = ""


class FlowSchemaSpec(Part):
    """`spec` of FlowSchema."""

    distinguisher_method: FlowDistinguisherMethod | None = None
    matching_precedence: int = 0
    priority_level_configuration: PriorityLevelConfigurationReference = Field(
        default_factory=PriorityLevelConfigurationReference
    )
    rules: list[PolicyRulesWithSubjects] = Field(default_factory=list)


class FlowSchemaCondition(Part):
    """`conditions` of FlowSchemaStatus."""

    last_transition_time: Time | None = None
    message: str | None = None
    reason: str | None = None
    status: str | None = None
    type: str | None = None


class FlowSchemaStatus(Part):
    """`status` of FlowSchema."""

    conditions: list[FlowSchemaCondition] = Field(default_factory=list)


class FlowSchema(
    Kind,
    group="flowcontrol.apiserver.k8s.io",
    version="v1",
    plural="flowschemas",
    scope="Cluster",
    subresources=("status",),
):
    """FlowSchema of flowcontrol.apiserver.k8s.io/v1."""

    spec: FlowSchemaSpec = Field(default_factory=FlowSchemaSpec)
    status: FlowSchemaStatus = Field(default_factory=FlowSchemaStatus)


class QueuingConfiguration(Part):
    """`queuing` of LimitResponse."""

    hand_size: int = 0
    queue_length_limit: int = 0
    queues: int = 0


class LimitResponse(Part):
    """`limit_response` of LimitedPriorityLevelConfiguration."""

    queuing: QueuingConfiguration | None = None
    type: str = ""


class LimitedPriorityLevelConfiguration(Part):
    """`limited` of PriorityLevelConfigurationSpec."""

    borrowing_limit_percent: int | None = None
    lendable_percent: int | None = None
    limit_response: LimitResponse = Field(default_factory=LimitResponse)
    nominal_concurrency_shares: int | None = None


class PriorityLevelConfigurationSpec(Part):
    """`spec` of PriorityLevelConfiguration."""

    exempt: ExemptPriorityLevelConfiguration | None = None
    limited: LimitedPriorityLevelConfiguration | None = None
    type: str = ""


class PriorityLevelConfigurationCondition(Part):
    """`conditions` of PriorityLevelConfigurationStatus."""

    last_transition_time: Time | None = None
    message: str | None = None
    reason: str | None = None
    status: str | None = None
    type: str | None = None


class PriorityLevelConfigurationStatus(Part):
    """`status` of PriorityLevelConfiguration."""

    conditions: list[PriorityLevelConfigurationCondition] = Field(default_factory=list)


class PriorityLevelConfiguration(
    Kind,
    group="flowcontrol.apiserver.k8s.io",
    version="v1",
    plural="prioritylevelconfigurations",
    scope="Cluster",
    subresources=("status",),
):
    """PriorityLevelConfiguration of flowcontrol.apiserver.k8s.io/v1."""

    spec: PriorityLevelConfigurationSpec = Field(default_factory=PriorityLevelConfigurationSpec)
    status: PriorityLevelConfigurationStatus = Field(default_factory=PriorityLevelConfigurationStatus)
