"""Webhook configurations and admission policies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from pyctrl._validation import names
from pyctrl.apiserver._errors import FieldError, duplicate, field_forbidden, invalid_value, not_supported, required
from pyctrl.apiserver._meta.validation import MetadataCheck, validate_selector
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.strategy import Object, Strategy
from pyctrl.apiserver._registry.table_cells import UNSET, Cells, spec_of
from pyctrl.apiserver._schema.defaulting import set_defaults
from pyctrl.apiserver._schema.schema import JSON
from pyctrl.apiserver._webhooks.client_config import validate_client_config, validate_review_versions

__all__ = ["RESOURCES"]

_GROUP: Final = "admissionregistration.k8s.io"


# -- webhook configurations ------------------------------------------------------------------------------------


_SIDE_EFFECTS = ("None", "NoneOnDryRun")
_CHOICES = {
    "failurePolicy": ("Fail", "Ignore"),
    "matchPolicy": ("Equivalent", "Exact"),
    "sideEffects": _SIDE_EFFECTS,
}
_REINVOCATION = ("IfNeeded", "Never")
_SEGMENTS = 3  # in the name of a webhook
_SECONDS = range(1, 31)  # of a webhook's timeout


def _default_webhooks(obj: Object) -> None:
    """Default to failurePolicy Fail, matchPolicy Equivalent, ten seconds, and selectors that match everything."""
    is_mutating = obj.get("kind") == "MutatingWebhookConfiguration"
    for webhook in obj.get("webhooks") or ():
        set_defaults(webhook, failurePolicy="Fail", matchPolicy="Equivalent", timeoutSeconds=10)
        set_defaults(webhook, namespaceSelector={}, objectSelector={})
        if is_mutating:
            set_defaults(webhook, reinvocationPolicy="Never")
        for rule in webhook.get("rules") or ():
            set_defaults(rule, scope="*")
        if service := webhook["clientConfig"].get("service"):
            set_defaults(service, port=443)


def _validate_webhooks(new: Object, _old: Object | None) -> Iterator[FieldError]:
    """Check each webhook of a configuration."""
    seen: set[str] = set()
    for index, webhook in enumerate(new.get("webhooks") or ()):
        path = f"webhooks[{index}]"
        yield from _validate_webhook(webhook, path)
        versions = webhook.get("admissionReviewVersions") or ()
        yield from validate_review_versions(
            versions, f"{path}.admissionReviewVersions", "must specify one of v1, v1beta1"
        )
        name = webhook.get("name")
        if name and name in seen:
            yield duplicate(f"{path}.name", name)
        seen.add(name)


def _validate_webhook(webhook: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    yield from _validate_name(webhook.get("name") or "", f"{path}.name")
    for index, rule in enumerate(webhook.get("rules") or ()):
        yield from _validate_rule(rule, f"{path}.rules[{index}]")
    for field, choices in _CHOICES.items():
        value = webhook.get(field)
        if not value and field == "sideEffects":
            yield required(f"{path}.{field}", f"must specify one of {', '.join(choices)}")
        elif value is not None and value not in choices:
            yield not_supported(f"{path}.{field}", value, choices)
    seconds = webhook["timeoutSeconds"]
    if seconds not in _SECONDS:
        yield invalid_value(f"{path}.timeoutSeconds", seconds, "the timeout value must be between 1 and 30 seconds")
    for field in ("namespaceSelector", "objectSelector"):
        yield from validate_selector(webhook.get(field) or {}, f"{path}.{field}")
    yield from validate_client_config(webhook["clientConfig"], f"{path}.clientConfig")
    if conditions := webhook.get("matchConditions"):
        from pyctrl.apiserver._admission.match_conditions import (
            validate_conditions,  # CEL is slow to import
        )

        yield from validate_conditions(conditions, f"{path}.matchConditions")
    again = webhook.get("reinvocationPolicy")
    if again is not None and again not in _REINVOCATION:
        yield not_supported(f"{path}.reinvocationPolicy", again, _REINVOCATION)


def _validate_name(name: str, path: str) -> Iterator[FieldError]:
    if not name:
        yield required(path)
    elif complaints := names.subdomain(name):
        yield invalid_value(path, name, ".".join(complaints))
    elif name.count(".") < _SEGMENTS - 1:
        yield invalid_value(path, name, "should be a domain with at least three segments separated by dots")


def _webhooks_cells(obj: Object) -> Cells:
    return {"Webhooks": len(obj.get("webhooks") or ())}


# -- admission policies and their bindings ---------------------------------------------------------------------


_ACTIONS = ("Audit", "Deny", "Warn")
_POLICIES = ("Fail", "Ignore")


def _default_policy(obj: Object) -> None:
    """Default to failurePolicy Fail, matchPolicy Equivalent, and selectors that match everything."""
    set_defaults(obj["spec"], failurePolicy="Fail")
    if constraints := obj["spec"].get("matchConstraints"):
        _default_match(constraints)


def _default_policy_binding(obj: Object) -> None:
    """Fill matchResources like the matchConstraints of a policy."""
    if resources := obj["spec"].get("matchResources"):
        _default_match(resources)


def _default_match(match: Object) -> None:
    set_defaults(match, matchPolicy="Equivalent", namespaceSelector={}, objectSelector={})
    for rule in (*(match.get("resourceRules") or ()), *(match.get("excludeResourceRules") or ())):
        set_defaults(rule, scope="*")


def _validate_policy(new: Object, _old: Object | None) -> Iterator[FieldError]:
    """Check a policy: its match constraints, and that its expressions compile."""
    spec = new["spec"]
    policy = spec.get("failurePolicy")
    if policy not in _POLICIES:
        yield not_supported("spec.failurePolicy", policy, _POLICIES)
    if (kind := spec.get("paramKind")) is not None:
        yield from (required(f"spec.paramKind.{field}") for field in ("apiVersion", "kind") if not kind.get(field))
    if spec.get("matchConstraints") is None:
        yield required("spec.matchConstraints")
    else:
        yield from _validate_match(spec["matchConstraints"], "spec.matchConstraints", needs_rules=True)
    if not spec.get("validations") and not spec.get("auditAnnotations"):
        why = "validations or auditAnnotations must contain at least one item"
        yield required("spec.validations", why)
        yield required("spec.auditAnnotations", why)
        return
    from pyctrl.apiserver._registry.policy_expressions import (
        validate_expressions,  # CEL is slow to import
    )

    yield from validate_expressions(spec, "spec")


def _validate_match(match: Mapping[str, JSON], path: str, *, needs_rules: bool) -> Iterator[FieldError]:
    rules = match.get("resourceRules") or ()
    if needs_rules and not rules:
        yield required(f"{path}.resourceRules")
    for index, rule in enumerate(rules):
        yield from _validate_rule(rule, f"{path}.resourceRules[{index}]")
    for index, rule in enumerate(match.get("excludeResourceRules") or ()):
        yield from _validate_rule(rule, f"{path}.excludeResourceRules[{index}]")
    for field in ("namespaceSelector", "objectSelector"):
        yield from validate_selector(match.get(field) or {}, f"{path}.{field}")


def _validate_policy_binding(new: Object, _old: Object | None) -> Iterator[FieldError]:
    """Check the binding of a policy."""
    spec = new["spec"]
    if not spec.get("policyName"):
        yield required("spec.policyName")
    if (reference := spec.get("paramRef")) is not None:
        yield from _validate_param_ref(reference, "spec.paramRef")
    if resources := spec.get("matchResources"):
        yield from _validate_match(resources, "spec.matchResources", needs_rules=False)
    yield from _validate_actions(spec.get("validationActions") or [], "spec.validationActions")


def _validate_param_ref(reference: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    name, selector = reference.get("name"), reference.get("selector")
    if name and selector is not None:
        yield field_forbidden(f"{path}.name", "name and selector are mutually exclusive")
        yield field_forbidden(f"{path}.selector", "name and selector are mutually exclusive")
    elif not name and selector is None:
        yield required(path, "one of name or selector must be specified")
    elif selector is not None:
        yield from validate_selector(selector, f"{path}.selector")
    action = reference.get("parameterNotFoundAction")
    if action is None:
        yield required(f"{path}.parameterNotFoundAction")
    elif action not in ("Deny", "Allow"):
        yield not_supported(f"{path}.parameterNotFoundAction", action, ("Deny", "Allow"))


def _validate_actions(actions: Sequence[str], path: str) -> Iterator[FieldError]:
    if not actions:
        yield required(path, "at least one validation action is required")
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


# -- rules: which writes a webhook or a policy matches ---------------------------------------------------------


_OPERATIONS = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
_SCOPES = ("*", "Cluster", "Namespaced")


def _validate_rule(rule: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    """Check a rule with operations."""
    operations = rule.get("operations") or []
    yield from _validate_wildcard(operations, f"{path}.operations", "operations")
    for index, operation in enumerate(operations):
        if operation not in _OPERATIONS:
            yield not_supported(f"{path}.operations[{index}]", operation, _OPERATIONS)
    yield from _validate_wildcard(rule.get("apiGroups") or [], f"{path}.apiGroups", "API groups")
    versions = rule.get("apiVersions") or []
    yield from _validate_wildcard(versions, f"{path}.apiVersions", "API versions")
    for index, version in enumerate(versions):
        if not version:
            yield required(f"{path}.apiVersions[{index}]")
    yield from _validate_rule_resources(rule.get("resources") or [], f"{path}.resources")
    scope = rule.get("scope")
    if scope is not None and scope not in _SCOPES:
        yield not_supported(f"{path}.scope", scope, _SCOPES)


def _validate_wildcard(values: Sequence[str], path: str, items: str) -> Iterator[FieldError]:
    if not values:
        yield required(path)
    elif len(values) > 1 and "*" in values:
        yield invalid_value(path, values, f"if '*' is present, must not specify other {items}")


def _validate_rule_resources(resources: Sequence[str], path: str) -> Iterator[FieldError]:
    if not resources:
        yield required(path)
    whole, everywhere = set[str](), set[str]()  # x of each x/*, y of each */y
    names_resource = False
    for index, text in enumerate(resources):
        resource, slash, sub = text.partition("/")
        if not text:
            yield required(f"{path}[{index}]")
        if not slash:
            names_resource = text != "*" if text else names_resource  # as upstream, the last one decides
            continue
        if resource in whole:
            yield invalid_value(f"{path}[{index}]", text, f"if '{resource}/*' is present, must not specify {text}")
        if sub in everywhere:
            yield invalid_value(f"{path}[{index}]", text, f"if '*/{sub}' is present, must not specify {text}")
        if sub == "*":
            whole.add(resource)
        if resource == "*":
            everywhere.add(sub)
    if len(resources) > 1 and "*/*" in resources:
        yield invalid_value(path, resources, "if '*/*' is present, must not specify other resources")
    if "*" in resources and names_resource:
        why = "if '*' is present, must not specify other resources without subresources"
        yield invalid_value(path, resources, why)


_METADATA: Final[dict[str, Any]] = {
    "has_generation": True,
    "on_create": MetadataCheck.PLAIN_WHOLE,
    "on_update": (MetadataCheck.PLAIN_WHOLE,),
}
_WEBHOOKS: Final = Strategy(
    **_METADATA,
    allows_unconditional_update=False,
    defaults=(_default_webhooks,),
    validates=(_validate_webhooks,),
)


RESOURCES: Final = (
    BuiltinResource(group=_GROUP, kind="ValidatingWebhookConfiguration", strategy=_WEBHOOKS, cells=_webhooks_cells),
    BuiltinResource(group=_GROUP, kind="MutatingWebhookConfiguration", strategy=_WEBHOOKS, cells=_webhooks_cells),
    BuiltinResource(
        group=_GROUP,
        kind="ValidatingAdmissionPolicy",
        strategy=Strategy(**_METADATA, defaults=(_default_policy,), validates=(_validate_policy,)),
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
        strategy=Strategy(**_METADATA),
        cells=_policy_cells("mutations"),
    ),
    BuiltinResource(
        group=_GROUP,
        kind="MutatingAdmissionPolicyBinding",
        storage_version="v1beta1",
        strategy=Strategy(**_METADATA),
        cells=_policy_binding_cells,
    ),
)
