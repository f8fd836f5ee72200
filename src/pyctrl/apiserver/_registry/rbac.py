"""Roles, ClusterRoles and their bindings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from pyctrl._validation import names
from pyctrl.apiserver._errors import FieldError, field_forbidden, invalid_value, not_supported, required
from pyctrl.apiserver._meta.validation import MetadataCheck
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.strategy import Object, Strategy
from pyctrl.apiserver._registry.table_cells import Cells
from pyctrl.apiserver._schema.defaulting import set_defaults
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["RESOURCES"]

_GROUP = "rbac.authorization.k8s.io"
_REFERENCE = (("APIGroup", "apiGroup"), ("Kind", "kind"), ("Name", "name"))  # as Go's internal type prints it
_SUBJECTS = ("ServiceAccount", "User", "Group")
_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")


def _default_binding(obj: Object) -> None:
    """Default the API group of the role, of users and of groups to RBAC's."""
    set_defaults(obj["roleRef"], apiGroup=_GROUP)
    for subject in obj.get("subjects") or ():
        if subject.get("kind") in ("User", "Group"):
            set_defaults(subject, apiGroup=_GROUP)


def _validate_binding(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check the role reference, which does not change, and the subjects."""
    reference, is_cluster = new["roleRef"], new["kind"] == "ClusterRoleBinding"
    yield from _validate_reference(reference, ("ClusterRole",) if is_cluster else ("Role", "ClusterRole"))
    for index, subject in enumerate(new.get("subjects") or ()):
        yield from _validate_subject(f"subjects[{index}]", subject, needs_namespace=is_cluster)
    if old is not None and reference != old["roleRef"]:
        internal = {go: reference.get(key, "") for go, key in _REFERENCE}
        yield invalid_value("roleRef", internal, "cannot change roleRef")


def _validate_reference(reference: Mapping[str, JSON], kinds: tuple[str, ...]) -> Iterator[FieldError]:
    group, name = reference.get("apiGroup", ""), reference.get("name", "")
    if group != _GROUP:
        yield not_supported("roleRef.apiGroup", group, (_GROUP,))
    if reference.get("kind") not in kinds:
        yield not_supported("roleRef.kind", reference.get("kind", ""), kinds)
    if not name:
        yield required("roleRef.name")
    yield from (invalid_value("roleRef.name", name, why) for why in (names.path_segment(name) if name else ()))


def _validate_subject(path: str, subject: Mapping[str, JSON], *, needs_namespace: bool) -> Iterator[FieldError]:
    kind, name, group = subject.get("kind", ""), subject.get("name", ""), subject.get("apiGroup") or ""
    if not name:
        yield required(f"{path}.name")
    if kind not in _SUBJECTS:
        yield not_supported(f"{path}.kind", kind, _SUBJECTS)
    elif kind != "ServiceAccount":
        if group != _GROUP:
            yield not_supported(f"{path}.apiGroup", group, (_GROUP,))
    else:
        yield from (invalid_value(f"{path}.name", name, why) for why in (names.subdomain(name) if name else ()))
        if group:
            yield not_supported(f"{path}.apiGroup", group, ("",))
        if needs_namespace and not subject.get("namespace"):
            yield required(f"{path}.namespace")


def _validate_role(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check the rules and the aggregation selectors."""
    is_cluster = new["kind"] == "ClusterRole"
    for index, rule in enumerate(new.get("rules") or ()):
        yield from _validate_rule(f"rules[{index}]", rule, is_cluster=is_cluster)
    aggregation = new.get("aggregationRule")
    if aggregation is None:
        return
    selectors, path = aggregation.get("clusterRoleSelectors") or (), "aggregationRule.clusterRoleSelectors"
    if not selectors:
        yield required(path, "at least one clusterRoleSelector required if aggregationRule is non-nil")
    for index, selector in enumerate(selectors):
        wrong = list(_validate_selector(f"{path}[{index}]", selector))
        yield from wrong
        if wrong:
            yield invalid_value(f"{path}[{index}]", None, "invalid label selector.")


def _validate_rule(path: str, rule: Mapping[str, JSON], *, is_cluster: bool) -> Iterator[FieldError]:
    if not rule.get("verbs"):
        yield required(f"{path}.verbs", "verbs must contain at least one value")
    if urls := rule.get("nonResourceURLs"):
        where = f"{path}.nonResourceURLs"
        if not is_cluster:
            yield invalid_value(where, urls, "namespaced rules cannot apply to non-resource URLs")
        if rule.get("apiGroups") or rule.get("resources") or rule.get("resourceNames"):
            yield invalid_value(where, urls, "rules cannot apply to both regular resources and non-resource URLs")
        return
    if not rule.get("apiGroups"):
        yield required(f"{path}.apiGroups", "resource rules must supply at least one api group")
    if not rule.get("resources"):
        yield required(f"{path}.resources", "resource rules must supply at least one resource")


def _validate_selector(path: str, selector: Mapping[str, JSON]) -> Iterator[FieldError]:
    for key, value in sorted((selector.get("matchLabels") or {}).items()):
        yield from (invalid_value(f"{path}.matchLabels", key, why) for why in names.qualified_name(key))
        yield from (invalid_value(f"{path}.matchLabels", value, why) for why in names.label_value(value))
    for index, requirement in enumerate(selector.get("matchExpressions") or ()):
        yield from _validate_requirement(f"{path}.matchExpressions[{index}]", requirement)


def _validate_requirement(path: str, requirement: Mapping[str, JSON]) -> Iterator[FieldError]:
    operator, values = requirement.get("operator", ""), requirement.get("values") or ()
    if operator not in _OPERATORS:
        yield invalid_value(f"{path}.operator", operator, "not a valid selector operator")
    elif operator in ("In", "NotIn") and not values:
        yield required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'")
    elif operator in ("Exists", "DoesNotExist") and values:
        yield field_forbidden(f"{path}.values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
    key = requirement.get("key", "")
    yield from (invalid_value(f"{path}.key", key, why) for why in names.qualified_name(key))


def _binding_cells(obj: Object) -> Cells:
    role, subjects = obj["roleRef"], obj.get("subjects") or ()

    def named(kind: str) -> str:
        return ", ".join(each["name"] for each in subjects if each["kind"] == kind)

    accounts = ", ".join(
        f"{each.get('namespace', '')}/{each['name']}" for each in subjects if each["kind"] == "ServiceAccount"
    )
    return {
        "Role": f"{role.get('kind')}/{role.get('name')}",
        "Users": named("User"),
        "Groups": named("Group"),
        "ServiceAccounts": accounts,
    }


_ROLE: Final = Strategy(
    name_rule=names.path_segment,
    on_update=(MetadataCheck.WHOLE, MetadataCheck.CHANGE),
    allows_create_on_update=True,
    validates=(_validate_role,),
)
_BINDING: Final = Strategy(
    name_rule=names.path_segment,
    on_update=(MetadataCheck.WHOLE, MetadataCheck.CHANGE),
    allows_create_on_update=True,
    defaults=(_default_binding,),
    validates=(_validate_binding,),
)


RESOURCES: Final = (
    BuiltinResource(group=_GROUP, kind="Role", strategy=_ROLE),
    BuiltinResource(group=_GROUP, kind="ClusterRole", strategy=_ROLE),
    BuiltinResource(group=_GROUP, kind="RoleBinding", strategy=_BINDING, cells=_binding_cells),
    BuiltinResource(group=_GROUP, kind="ClusterRoleBinding", strategy=_BINDING, cells=_binding_cells),
)
