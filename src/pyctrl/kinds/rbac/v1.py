# Written by tools/generate_kinds.py from pyctrl/_schemas; change the generator, not this file.
"""The kinds of rbac/v1 and their parts."""

from pydantic import Field

from pyctrl.kinds._builtin import Kind, Part
from pyctrl.kinds.meta.v1 import LabelSelector

__all__ = [
    "AggregationRule",
    "ClusterRole",
    "ClusterRoleBinding",
    "PolicyRule",
    "Role",
    "RoleBinding",
    "RoleRef",
    "Subject",
]


class AggregationRule(Part):
    """`aggregation_rule` of ClusterRole."""

    cluster_role_selectors: list[LabelSelector] = Field(default_factory=list)


class PolicyRule(Part):
    """`rules` of ClusterRole, `rules` of Role."""

    api_groups: list[str] = Field(default_factory=list)
    non_resource_urls: list[str] = Field(
        default_factory=list, validation_alias="nonResourceURLs", serialization_alias="nonResourceURLs"
    )
    resource_names: list[str] = Field(default_factory=list)
    resources: list[str] = Field(default_factory=list)
    verbs: list[str] = Field(default_factory=list)


class ClusterRole(Kind, group="rbac.authorization.k8s.io", version="v1", plural="clusterroles", scope="Cluster"):
    """ClusterRole of rbac.authorization.k8s.io/v1."""

    aggregation_rule: AggregationRule | None = None
    rules: list[PolicyRule] = Field(default_factory=list)


class RoleRef(Part):
    """`role_ref` of ClusterRoleBinding, `role_ref` of RoleBinding."""

    api_group: str = ""
    kind: str = ""
    name: str = ""


class Subject(Part):
    """`subjects` of ClusterRoleBinding, `subjects` of RoleBinding."""

    api_group: str | None = None
    kind: str = ""
    name: str = ""
    namespace: str | None = None


class ClusterRoleBinding(
    Kind, group="rbac.authorization.k8s.io", version="v1", plural="clusterrolebindings", scope="Cluster"
):
    """ClusterRoleBinding of rbac.authorization.k8s.io/v1."""

    role_ref: RoleRef = Field(default_factory=RoleRef)
    subjects: list[Subject] = Field(default_factory=list)


class Role(Kind, group="rbac.authorization.k8s.io", version="v1", plural="roles"):
    """Role of rbac.authorization.k8s.io/v1."""

    rules: list[PolicyRule] = Field(default_factory=list)


class RoleBinding(Kind, group="rbac.authorization.k8s.io", version="v1", plural="rolebindings"):
    """RoleBinding of rbac.authorization.k8s.io/v1."""

    role_ref: RoleRef = Field(default_factory=RoleRef)
    subjects: list[Subject] = Field(default_factory=list)
