"""Validating and mutating admission policies, and their bindings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from pyctrl._validation import names
from pyctrl.apiserver._errors import FieldError, duplicate, field_forbidden, invalid_value, not_supported, required
from pyctrl.apiserver._meta.generation import STATUS_RESET_FIELDS
from pyctrl.apiserver._meta.validation import MetadataCheck, validate_selector
from pyctrl.apiserver._registry.admission_rules import static_suffix_warnings, validate_rule
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.status_validation import validate_policy_status
from pyctrl.apiserver._registry.strategy import Object, Strategy
from pyctrl.apiserver._registry.table_cells import UNSET, Cells, spec_of
from pyctrl.apiserver._schema.defaulting import set_missing
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["RESOURCES"]

_GROUP: Final = "admissionregistration.k8s.io"
_ACTIONS = ("Audit", "Deny", "Warn")
_FAILURE_POLICIES = ("Fail", "Ignore")
_MATCH_POLICIES = ("Equivalent", "Exact")
_REINVOCATION = ("IfNeeded", "Never")
_MUTATED_OPERATIONS = ("*", "CONNECT", "CREATE", "UPDATE")  # there is nothing to mutate in a delete


# -- defaults ----------------------------------------------------------------------------------------------------


def _default_policy(obj: Object) -> None:
    """Default to failurePolicy Fail, matchPolicy Equivalent, and selectors that match everything."""
    set_missing(obj["spec"], failurePolicy="Fail")
    if (constraints := obj["spec"].get("matchConstraints")) is not None:
        _default_match(constraints)


def _default_policy_binding(obj: Object) -> None:
    """Fill matchResources like the matchConstraints of a policy."""
    if (resources := obj["spec"].get("matchResources")) is not None:
        _default_match(resources)


def _default_match(match: Object) -> None:
    set_missing(match, matchPolicy="Equivalent", namespaceSelector={}, objectSelector={})
    for rule in (*(match.get("resourceRules") or ()), *(match.get("excludeResourceRules") or ())):
        set_missing(rule, scope="*")


# -- policies ----------------------------------------------------------------------------------------------------


def _validate_policy(new: Object, _old: Object | None) -> Iterator[FieldError]:
    """Check a validating policy: its match constraints, and that its expressions compile."""
    yield from _validate_common(new["spec"])
    # lazy: CEL is slow to import
    from pyctrl.apiserver._registry.policy_expressions import validate_validating_expressions

    yield from validate_validating_expressions(new, "spec")


def _validate_mutating_policy(new: Object, _old: Object | None) -> Iterator[FieldError]:
    """Check a mutating policy: its match constraints, and that its expressions compile."""
    spec = new["spec"]
    yield from _validate_common(spec)
    yield from _mutated_operations(spec.get("matchConstraints") or {}, "spec.matchConstraints")
    # lazy: CEL is slow to import
    from pyctrl.apiserver._registry.policy_expressions import validate_mutating_expressions

    yield from validate_mutating_expressions(spec, "spec")
    again = spec.get("reinvocationPolicy")
    if not again:
        yield required("spec.reinvocationPolicy")
    elif again not in _REINVOCATION:
        yield not_supported("spec.reinvocationPolicy", again, _REINVOCATION)


def _validate_common(spec: Mapping[str, JSON]) -> Iterator[FieldError]:
    policy = spec.get("failurePolicy")
    if policy not in _FAILURE_POLICIES:
        yield not_supported("spec.failurePolicy", policy, _FAILURE_POLICIES)
    if (kind := spec.get("paramKind")) is not None:
        yield from _validate_param_kind(kind, "spec.paramKind")
    if (constraints := spec.get("matchConstraints")) is None:
        yield required("spec.matchConstraints")
        return
    yield from _validate_match(constraints, "spec.matchConstraints")
    if not constraints.get("resourceRules"):
        yield required("spec.matchConstraints.resourceRules")


def _validate_param_kind(kind: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    api_version, name = kind.get("apiVersion") or "", kind.get("kind") or ""
    group, _, version = api_version.rpartition("/")
    if not api_version:
        yield required(f"{path}.apiVersion")
    elif "/" in group:
        yield invalid_value(f"{path}.apiVersion", api_version, f"unexpected GroupVersion string: {api_version}")
    else:
        if group and (complaints := names.subdomain(group)):
            yield invalid_value(f"{path}.apiVersion", group, ",".join(complaints))
        if not version:
            yield invalid_value(f"{path}.apiVersion", api_version, "version must be specified")
        elif complaints := names.label_1035(version):
            yield invalid_value(f"{path}.apiVersion", version, ",".join(complaints))
    if not name:
        yield required(f"{path}.kind")
    elif complaints := names.label_1035(name.lower()):
        why = f"may have mixed case, but should otherwise match: {','.join(complaints)}"
        yield invalid_value(f"{path}.kind", name, why)


def _validate_match(match: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    policy = match.get("matchPolicy")
    if policy not in _MATCH_POLICIES:
        yield not_supported(f"{path}.matchPolicy", policy, _MATCH_POLICIES)
    for field in ("namespaceSelector", "objectSelector"):
        yield from validate_selector(match.get(field) or {}, f"{path}.{field}")
    for field in ("resourceRules", "excludeResourceRules"):
        for index, rule in enumerate(match.get(field) or ()):
            yield from _validate_resource_names(rule.get("resourceNames") or (), f"{path}.{field}[{index}]")
            yield from validate_rule(rule, f"{path}.{field}[{index}]")


def _validate_resource_names(given: Sequence[str], path: str) -> Iterator[FieldError]:
    for index, name in enumerate(given):
        for why in names.path_segment(name):
            yield invalid_value(f"{path}.resourceNames[{index}]", name, why)
        if name in given[:index]:
            yield duplicate(f"{path}.resourceNames[{index}]", name)


def _mutated_operations(match: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    for rule in match.get("resourceRules") or ():
        for operation in rule.get("operations") or ():
            if operation not in _MUTATED_OPERATIONS:
                yield not_supported(f"{path}.resourceRules.operations", operation, _MUTATED_OPERATIONS)


# -- bindings ----------------------------------------------------------------------------------------------------


def _validate_policy_binding(new: Object, _old: Object | None) -> Iterator[FieldError]:
    """Check the binding of a validating policy."""
    yield from _validate_binding(new["spec"])
    yield from _validate_actions(new["spec"].get("validationActions") or [], "spec.validationActions")


def _validate_mutating_policy_binding(new: Object, _old: Object | None) -> Iterator[FieldError]:
    """Check the binding of a mutating policy."""
    yield from _validate_binding(new["spec"])
    yield from _mutated_operations(new["spec"].get("matchResources") or {}, "spec.matchResources")


def _validate_binding(spec: Mapping[str, JSON]) -> Iterator[FieldError]:
    name = spec.get("policyName") or ""
    if not name:
        yield required("spec.policyName")
    else:
        yield from (invalid_value("spec.policyName", name, why) for why in names.subdomain(name))
    if (reference := spec.get("paramRef")) is not None:
        yield from _validate_param_ref(reference, "spec.paramRef")
    if (resources := spec.get("matchResources")) is not None:
        yield from _validate_match(resources, "spec.matchResources")


def _validate_param_ref(reference: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    name, selector = reference.get("name"), reference.get("selector")
    if name:
        yield from (invalid_value(f"{path}.name", name, why) for why in names.path_segment(name))
        if selector is not None:
            yield field_forbidden(f"{path}.name", "name and selector are mutually exclusive")
    if selector is not None:
        yield from validate_selector(selector, f"{path}.selector")
        if name:
            yield field_forbidden(f"{path}.selector", "name and selector are mutually exclusive")
    if not name and selector is None:
        yield required(path, "one of name or selector must be specified")
    action = reference.get("parameterNotFoundAction")
    if not action:
        yield required(f"{path}.parameterNotFoundAction")
    elif action not in ("Deny", "Allow"):
        yield not_supported(f"{path}.parameterNotFoundAction", action, ("Deny", "Allow"))


def _validate_actions(actions: Sequence[str], path: str) -> Iterator[FieldError]:
    for index, action in enumerate(actions):
        if action not in _ACTIONS:
            yield not_supported(f"{path}[{index}]", action, _ACTIONS)
        if action in actions[:index]:
            yield duplicate(f"{path}[{index}]", action)
    if "Deny" in actions and "Warn" in actions:
        why = (
            "must not contain both Deny and Warn (repeating the same validation failure information in the API "
            "response and headers serves no purpose)"
        )
        yield invalid_value(path, actions, why)
    if not actions:
        yield required(path, "at least one validation action is required")


# -- tables --------------------------------------------------------------------------------------------------------


def _policy_cells(counted: str) -> Callable[[Object], Cells]:
    def cells(obj: Object) -> Cells:
        spec = spec_of(obj)
        kind = spec.get("paramKind")
        shown = f"{kind.get('apiVersion', '')}/{kind.get('kind', '')}" if kind is not None else UNSET
        return {counted.title(): len(spec.get(counted) or ()), "ParamKind": shown}

    return cells


def _selector_in_go(selector: Object) -> str:
    """Return a label selector as its String method in Go does."""
    labels = selector.get("matchLabels") or {}
    pairs = "".join(f"{key}: {labels[key]}," for key in sorted(labels))
    requirements = "".join(
        f"LabelSelectorRequirement{{Key:{each.get('key', '')},Operator:{each.get('operator', '')},"
        f"Values:[{' '.join(each.get('values') or ())}],}},"
        for each in selector.get("matchExpressions") or ()
    )
    expressions = f"MatchExpressions:[]LabelSelectorRequirement{{{requirements}}}"
    return f"&LabelSelector{{MatchLabels:map[string]string{{{pairs}}},{expressions},}}"


def _policy_binding_cells(obj: Object) -> Cells:
    spec = spec_of(obj)
    reference = spec.get("paramRef")
    shown = UNSET
    if reference and reference.get("name"):
        namespace = reference.get("namespace")
        shown = f"{namespace}/{reference['name']}" if namespace else f"*/{reference['name']}"
    elif reference and reference.get("selector") is not None:
        shown = _selector_in_go(reference["selector"])
    return {"PolicyName": spec.get("policyName", ""), "ParamRef": shown}


_METADATA: Final[dict[str, Any]] = {
    "has_generation": True,
    "allows_unconditional_update": False,
    "on_create": MetadataCheck.PLAIN_WHOLE,
    "on_update": (MetadataCheck.PLAIN_WHOLE,),
    "warns": static_suffix_warnings,
}
RESOURCES: Final = (
    BuiltinResource(
        group=_GROUP,
        kind="ValidatingAdmissionPolicy",
        strategy=Strategy(
            **_METADATA,
            defaults=(_default_policy,),
            status_reset_fields=STATUS_RESET_FIELDS,
            validates=(_validate_policy,),
            validates_status=(validate_policy_status,),
        ),
        cells=_policy_cells("validations"),
    ),
    BuiltinResource(
        group=_GROUP,
        kind="ValidatingAdmissionPolicyBinding",
        strategy=Strategy(**_METADATA, defaults=(_default_policy_binding,), validates=(_validate_policy_binding,)),
        cells=_policy_binding_cells,
    ),
    BuiltinResource(
        group=_GROUP,
        kind="MutatingAdmissionPolicy",
        storage_version="v1beta1",
        strategy=Strategy(
            **_METADATA,
            defaults=(_default_policy,),
            validates=(_validate_mutating_policy,),
        ),
        cells=_policy_cells("mutations"),
    ),
    BuiltinResource(
        group=_GROUP,
        kind="MutatingAdmissionPolicyBinding",
        storage_version="v1beta1",
        strategy=Strategy(
            **_METADATA,
            defaults=(_default_policy_binding,),
            validates=(_validate_mutating_policy_binding,),
        ),
        cells=_policy_binding_cells,
    ),
)
