"""The strategies of validating admission policies: defaults, and what is checked when one is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pyctrl.apiserver._errors import FieldError, duplicate, field_forbidden, invalid_value, not_supported, required
from pyctrl.apiserver._meta.validation import validate_selector
from pyctrl.apiserver._registry.admission_rules import validate_rule
from pyctrl.apiserver._registry.strategy import Object
from pyctrl.apiserver._schema.defaulting import set_defaults
from pyctrl.apiserver._schema.schema import JSON

_ACTIONS = ("Audit", "Deny", "Warn")
_POLICIES = ("Fail", "Ignore")


def default_policy(obj: Object) -> None:
    """Fail closed, match equivalents, everything selected."""
    set_defaults(obj["spec"], failurePolicy="Fail")
    if constraints := obj["spec"].get("matchConstraints"):
        _default_match(constraints)


def default_policy_binding(obj: Object) -> None:
    """What narrows a policy selects everything that it does not say otherwise of."""
    if resources := obj["spec"].get("matchResources"):
        _default_match(resources)


def _default_match(match: Object) -> None:
    set_defaults(match, matchPolicy="Equivalent", namespaceSelector={}, objectSelector={})
    for rule in (*(match.get("resourceRules") or ()), *(match.get("excludeResourceRules") or ())):
        set_defaults(rule, scope="*")


def validate_policy(new: Object, _old: Object | None) -> Iterator[FieldError]:
    """Check a policy: what it matches, and that every expression compiles."""
    spec = new["spec"]
    policy = spec.get("failurePolicy")
    if policy not in _POLICIES:
        yield not_supported("spec.failurePolicy", policy, _POLICIES)
    if (kind := spec.get("paramKind")) is not None:
        yield from (required(f"spec.paramKind.{field}") for field in ("apiVersion", "kind") if not kind.get(field))
    if spec.get("matchConstraints") is None:
        yield required("spec.matchConstraints")
    else:
        yield from _match(spec["matchConstraints"], "spec.matchConstraints", needs_rules=True)
    if not spec.get("validations") and not spec.get("auditAnnotations"):
        why = "validations or auditAnnotations must contain at least one item"
        yield required("spec.validations", why)
        yield required("spec.auditAnnotations", why)
        return
    from pyctrl.apiserver._registry.policy_expressions import (
        validate_expressions,  # here: expressions are slow to import, and seldom used
    )

    yield from validate_expressions(spec, "spec")


def _match(match: Mapping[str, JSON], path: str, *, needs_rules: bool) -> Iterator[FieldError]:
    rules = match.get("resourceRules") or ()
    if needs_rules and not rules:
        yield required(f"{path}.resourceRules")
    for index, rule in enumerate(rules):
        yield from validate_rule(rule, f"{path}.resourceRules[{index}]")
    for index, rule in enumerate(match.get("excludeResourceRules") or ()):
        yield from validate_rule(rule, f"{path}.excludeResourceRules[{index}]")
    for field in ("namespaceSelector", "objectSelector"):
        yield from validate_selector(match.get(field) or {}, f"{path}.{field}")


def validate_policy_binding(new: Object, _old: Object | None) -> Iterator[FieldError]:
    """Check a binding."""
    spec = new["spec"]
    if not spec.get("policyName"):
        yield required("spec.policyName")
    if (reference := spec.get("paramRef")) is not None:
        yield from _param_ref(reference, "spec.paramRef")
    if resources := spec.get("matchResources"):
        yield from _match(resources, "spec.matchResources", needs_rules=False)
    yield from _actions(spec.get("validationActions") or [], "spec.validationActions")


def _param_ref(reference: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
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


def _actions(actions: Sequence[str], path: str) -> Iterator[FieldError]:
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
