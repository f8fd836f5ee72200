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
    """AggregationRule describes how to locate ClusterRoles to aggregate into the ClusterRole"""

    cluster_role_selectors: list[LabelSelector] = Field(default_factory=list)
    """ClusterRoleSelectors holds a list of selectors which will be used to find ClusterRoles and create the rules.
    If any of the selectors match, then the ClusterRole's permissions will be added
    """


class PolicyRule(Part):
    """PolicyRule holds information that describes a policy rule, but does not contain information about who the rule
    applies to or which namespace the rule applies to.
    """

    api_groups: list[str] = Field(default_factory=list)
    """APIGroups is the name of the APIGroup that contains the resources.  If multiple API groups are specified, any
    action requested against one of the enumerated resources in any API group will be allowed. "" represents the
    core API group and "*" represents all API groups.
    """
    non_resource_urls: list[str] = Field(
        default_factory=list, validation_alias="nonResourceURLs", serialization_alias="nonResourceURLs"
    )
    """NonResourceURLs is a set of partial urls that a user should have access to.  *s are allowed, but only as the
    full, final step in the path Since non-resource URLs are not namespaced, this field is only applicable for
    ClusterRoles referenced from a ClusterRoleBinding. Rules can either apply to API resources (such as "pods" or
    "secrets") or non-resource URL paths (such as "/api"),  but not both.
    """
    resource_names: list[str] = Field(default_factory=list)
    """ResourceNames is an optional white list of names that the rule applies to.  An empty set means that everything
    is allowed.
    """
    resources: list[str] = Field(default_factory=list)
    """Resources is a list of resources this rule applies to. '*' represents all resources."""
    verbs: list[str] = Field(default_factory=list)
    """Verbs is a list of Verbs that apply to ALL the ResourceKinds contained in this rule. '*' represents all verbs."""


class ClusterRole(Kind, group="rbac.authorization.k8s.io", version="v1", plural="clusterroles", scope="Cluster"):
    """ClusterRole is a cluster level, logical grouping of PolicyRules that can be referenced as a unit by a
    RoleBinding or ClusterRoleBinding.
    """

    aggregation_rule: AggregationRule | None = None
    """AggregationRule is an optional field that describes how to build the Rules for this ClusterRole. If
    AggregationRule is set, then the Rules are controller managed and direct changes to Rules will be stomped by
    the controller.
    """
    rules: list[PolicyRule] = Field(default_factory=list)
    """Rules holds all the PolicyRules for this ClusterRole"""


class RoleRef(Part):
    """RoleRef contains information that points to the role being used"""

    api_group: str = ""
    """APIGroup is the group for the resource being referenced"""
    kind: str = ""
    """Kind is the type of resource being referenced"""
    name: str = ""
    """Name is the name of resource being referenced"""


class Subject(Part):
    """Subject contains a reference to the object or user identities a role binding applies to.  This can either hold
    a direct API object reference, or a value for non-objects such as user and group names.
    """

    api_group: str | None = None
    """APIGroup holds the API group of the referenced subject. Defaults to "" for ServiceAccount subjects. Defaults
    to "rbac.authorization.k8s.io" for User and Group subjects.
    """
    kind: str = ""
    """Kind of object being referenced. Values defined by this API group are "User", "Group", and "ServiceAccount".
    If the Authorizer does not recognized the kind value, the Authorizer should report an error.
    """
    name: str = ""
    """Name of the object being referenced."""
    namespace: str | None = None
    """Namespace of the referenced object.  If the object kind is non-namespace, such as "User" or "Group", and this
    value is not empty the Authorizer should report an error.
    """


class ClusterRoleBinding(
    Kind, group="rbac.authorization.k8s.io", version="v1", plural="clusterrolebindings", scope="Cluster"
):
    """ClusterRoleBinding references a ClusterRole, but not contain it.  It can reference a ClusterRole in the global
    namespace, and adds who information via Subject.
    """

    role_ref: RoleRef = Field(default_factory=RoleRef)
    """RoleRef can only reference a ClusterRole in the global namespace. If the RoleRef cannot be resolved, the
    Authorizer must return an error. This field is immutable.
    """
    subjects: list[Subject] = Field(default_factory=list)
    """Subjects holds references to the objects the role applies to."""


class Role(Kind, group="rbac.authorization.k8s.io", version="v1", plural="roles"):
    """Role is a namespaced, logical grouping of PolicyRules that can be referenced as a unit by a RoleBinding."""

    rules: list[PolicyRule] = Field(default_factory=list)
    """Rules holds all the PolicyRules for this Role"""


class RoleBinding(Kind, group="rbac.authorization.k8s.io", version="v1", plural="rolebindings"):
    """RoleBinding references a role, but does not contain it.  It can reference a Role in the same namespace or a
    ClusterRole in the global namespace. It adds who information via Subjects and namespace information by which
    namespace it exists in.  RoleBindings in a given namespace only have effect in that namespace.
    """

    role_ref: RoleRef = Field(default_factory=RoleRef)
    """RoleRef can reference a Role in the current namespace or a ClusterRole in the global namespace. If the RoleRef
    cannot be resolved, the Authorizer must return an error. This field is immutable.
    """
    subjects: list[Subject] = Field(default_factory=list)
    """Subjects holds references to the objects the role applies to."""
