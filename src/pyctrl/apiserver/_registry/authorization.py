"""Access reviews: whether a user may send a request, and which requests a user may send in a namespace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pyctrl._go.text import aggregate_messages
from pyctrl._validation import names
from pyctrl.api import Access, FieldRequirement, FieldSelector, LabelSelector
from pyctrl.apiserver._authn import User
from pyctrl.apiserver._errors import FieldError, bad_request, field_forbidden, invalid, invalid_value, required
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.reviews import ReviewREST
from pyctrl.apiserver._request.request import ResourceRequest
from pyctrl.errors import SelectorError

__all__ = ["RESOURCES"]

_GROUP: Final = "authorization.k8s.io"
_LOCAL, _SELF = "LocalSubjectAccessReview", "SelfSubjectAccessReview"
_ONE_OF = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
_VALUED, _UNVALUED = ("In", "NotIn"), ("Exists", "DoesNotExist")


class _AccessReviewREST(ReviewREST):
    """Asks the authorizer about one request."""

    def answer(self, review: dict[str, Any], request: ResourceRequest) -> dict[str, Any]:
        """Return the review with the decision.

        Raises:
            StatusError: 422, the review does not describe a request.
        """
        kind, spec = request.resource.kind, review.get("spec") or {}
        causes = list(_validate(kind, spec, review["metadata"]))
        if causes:
            raise invalid("", "", causes, _GROUP)
        user = request.user if kind == _SELF else _user(spec)
        decision = self._backend.authorizer.decide(user, _access(spec))
        status: dict[str, Any] = {"allowed": decision.is_allowed}
        if decision.is_denied:
            status["denied"] = True
        if decision.reason:
            status["reason"] = decision.reason
        errors = [decision.error] if decision.error else []
        if errors := [*errors, *_selector_errors(spec.get("resourceAttributes") or {})]:
            status["evaluationError"] = "; ".join(errors)
        return {**review, "status": status}


class _RulesReviewREST(ReviewREST):
    """Returns the rules that apply to the user who sends the request."""

    def answer(self, review: dict[str, Any], request: ResourceRequest) -> dict[str, Any]:
        """Return a review with the rules of the namespace that it names."""
        namespace, authorizer = (review.get("spec") or {}).get("namespace", ""), self._backend.authorizer
        if not namespace:
            raise bad_request("no namespace on request")
        rules, absent = authorizer.rules(request.user, namespace)
        unresolved = authorizer.unresolved(request.user)
        status: dict[str, Any] = {
            "resourceRules": [rule.to_wire() for rule in rules if rule.resources],
            "nonResourceRules": [rule.to_wire() for rule in rules if rule.paths],
            "incomplete": bool(unresolved),
        }
        if errors := [*map(str, absent), *filter(None, [unresolved])]:
            status["evaluationError"] = aggregate_messages(errors)
        return {"metadata": {}, "spec": {}, "status": status}


def _user(spec: Mapping[str, Any]) -> User:
    extra = {key: tuple(values or ()) for key, values in (spec.get("extra") or {}).items()}
    groups = tuple(spec.get("groups") or ())
    return User(name=spec.get("user", ""), uid=spec.get("uid", ""), groups=groups, extra=extra)


def _access(spec: Mapping[str, Any]) -> Access:
    attributes = spec.get("resourceAttributes")
    if attributes is None:
        path = spec["nonResourceAttributes"]
        return Access(path.get("verb", ""), path=path.get("path", ""), is_resource=False)
    parts = ("group", "resource", "subresource", "namespace", "name")
    named = {part: attributes.get(part, "") for part in parts}
    return Access(attributes.get("verb", ""), **named, field_selector=_field_selector(attributes))


def _field_selector(attributes: Mapping[str, Any]) -> str:
    """Return a field selector as text; as upstream, a requirement that is not understood is left out."""
    selector = attributes.get("fieldSelector") or {}
    if raw := selector.get("rawSelector"):
        return str(raw)
    operators = {"In": "=", "NotIn": "!="}
    found = [
        str(FieldRequirement(each["key"], operators[each["operator"]], each["values"][0]))
        for each in selector.get("requirements") or ()
        if each.get("operator") in operators and len(each.get("values") or ()) == 1
    ]
    return ",".join(found)


# -- validation ------------------------------------------------------------------------------------------------


def _validate(kind: str, spec: Mapping[str, Any], metadata: Mapping[str, Any]) -> Iterator[FieldError]:
    attributes, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if attributes is not None and path is not None:
        yield invalid_value(
            "spec.nonResourceAttributes", _go(path), "cannot be specified in combination with resourceAttributes"
        )
    if attributes is None and path is None:
        yield invalid_value("spec.resourceAttributes", None, _ONE_OF)
    if kind != _SELF and not spec.get("user") and not spec.get("groups"):
        yield invalid_value("spec.user", "", "at least one of user or group must be specified")
    yield from _validate_selectors(attributes or {})
    if metadata.keys() - {"managedFields", "namespace"}:
        yield invalid_value(
            "metadata", _ordered(metadata), f"must be empty{' except for namespace' if kind == _LOCAL else ''}"
        )
    if kind == _LOCAL:
        if attributes is not None and attributes.get("namespace", "") != metadata.get("namespace", ""):
            where = "spec.resourceAttributes.namespace"
            yield invalid_value(where, attributes.get("namespace", ""), "must match metadata.namespace")
        if path is not None:
            yield invalid_value("spec.nonResourceAttributes", _go(path), "disallowed on this kind of request")


def _ordered(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return metadata with the first fields in the order of Go's struct."""
    first = ("name", "generateName", "namespace", "uid", "labels", "annotations")
    return {key: metadata[key] for key in (*first, *sorted(metadata.keys() - {*first})) if key in metadata}


def _go(path: Mapping[str, Any]) -> dict[str, str]:
    """Return non-resource attributes as Go prints their internal type."""
    return {"Path": path.get("path", ""), "Verb": path.get("verb", "")}


def _validate_selectors(attributes: Mapping[str, Any]) -> Iterator[FieldError]:
    for kind in ("fieldSelector", "labelSelector"):
        selector, path = attributes.get(kind), f"spec.resourceAttributes.{kind}"
        if selector is None:
            continue
        raw, requirements = selector.get("rawSelector"), selector.get("requirements") or ()
        if raw and requirements:
            yield invalid_value(f"{path}.rawSelector", raw, "may not specified at the same time as requirements")
        if not raw and not requirements:
            why = f"when {path} is specified, requirements or rawSelector is required"
            yield required(f"{path}.requirements", why)
        for index, requirement in enumerate(requirements):
            yield from _validate_requirement(f"{path}.requirements[{index}]", requirement, kind == "labelSelector")


def _validate_requirement(path: str, requirement: Mapping[str, Any], is_label: bool) -> Iterator[FieldError]:
    key, operator, values = requirement.get("key", ""), requirement.get("operator"), requirement.get("values") or ()
    of_operator = []
    if operator in _VALUED and not values:
        of_operator.append(required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'"))
    if operator in _UNVALUED and values:
        why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
        of_operator.append(field_forbidden(f"{path}.values", why))
    if not is_label:
        if not key:
            yield required(f"{path}.key", "must be specified")
        yield from of_operator
        return
    yield from of_operator
    yield from (invalid_value(f"{path}.key", key, why) for why in names.qualified_name(key))
    for index, value in enumerate(values if operator in _VALUED else ()):
        yield from (invalid_value(f"{path}.values[{index}]", value, why) for why in names.label_value(value))


# -- selectors, which RBAC does not evaluate -------------------------------------------------------------------


def _selector_errors(attributes: Mapping[str, Any]) -> Iterator[str]:
    for kind in ("fieldSelector", "labelSelector"):
        selector = attributes.get(kind)
        if selector is None:
            continue
        fit, unfit = _count_usable(selector, kind == "labelSelector")
        if unfit:
            yield f"spec.resourceAttributes.{kind} {'partially ' if fit else ''}ignored due to parse error"


def _count_usable(selector: Mapping[str, Any], is_label: bool) -> tuple[int, int]:
    """Return the numbers of requirements that an authorizer can and cannot use."""
    raw = selector.get("rawSelector")
    if raw:
        return (1, 0) if _parses(raw, is_label) else (0, 1)
    requirements = selector.get("requirements") or ()
    operators = (*_VALUED, *_UNVALUED) if is_label else _VALUED
    fit = sum(
        each.get("operator") in operators and (is_label or len(each.get("values") or ()) == 1) for each in requirements
    )
    return fit, len(requirements) - fit


def _parses(text: str, is_label: bool) -> bool:
    try:
        LabelSelector.parse(text) if is_label else FieldSelector.parse(text)
    except SelectorError:
        return False
    return True


RESOURCES: Final = (
    BuiltinResource(group=_GROUP, kind="SubjectAccessReview", rest={"": _AccessReviewREST}),
    BuiltinResource(group=_GROUP, kind=_LOCAL, rest={"": _AccessReviewREST}),
    BuiltinResource(group=_GROUP, kind=_SELF, rest={"": _AccessReviewREST}),
    BuiltinResource(group=_GROUP, kind="SelfSubjectRulesReview", rest={"": _RulesReviewREST}),
)
