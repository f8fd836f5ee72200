"""Access reviews: whether somebody may do something, and what there is that one may do oneself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pyctrl._go.text import aggregate_messages
from pyctrl._validation import names
from pyctrl.api import Access, FieldSelector, LabelSelector
from pyctrl.apiserver._authn import User
from pyctrl.apiserver._authz import Authorizer
from pyctrl.apiserver._errors import FieldError, bad_request, field_forbidden, invalid, invalid_value, required
from pyctrl.errors import SelectorError

GROUP = "authorization.k8s.io"
LOCAL, SELF = "localsubjectaccessreviews", "selfsubjectaccessreviews"

_ONE_OF = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
_VALUED, _UNVALUED = ("In", "NotIn"), ("Exists", "DoesNotExist")


class AccessReviews:
    """Asks the authorizer what a review asks."""

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer

    def review(self, plural: str, review: Mapping[str, Any], asking: User) -> dict[str, Any]:
        """Give the status of a review about one thing.

        Raises:
            Refused: 422, it does not say what it is about.
        """
        spec, metadata = review.get("spec") or {}, review["metadata"]
        causes = list(_problems(plural, spec, metadata))
        if causes:
            raise invalid("", "", causes, GROUP)
        user = asking if plural == SELF else _user(spec)
        decision = self._authorizer.decide(user, _access(spec))
        status: dict[str, Any] = {"allowed": decision.is_allowed}
        if decision.is_denied:
            status["denied"] = True
        if decision.reason:
            status["reason"] = decision.reason
        errors = [decision.error] if decision.error else []
        if errors := [*errors, *_selector_errors(spec.get("resourceAttributes") or {})]:
            status["evaluationError"] = "; ".join(errors)
        return status

    def rules(self, namespace: str, user: User) -> dict[str, Any]:
        """Give the status of a review about everything that one may do in a namespace."""
        if not namespace:
            raise bad_request("no namespace on request")
        rules, absent = self._authorizer.rules(user, namespace)
        status: dict[str, Any] = {
            "resourceRules": [rule.to_wire() for rule in rules if rule.resources],
            "nonResourceRules": [rule.to_wire() for rule in rules if rule.paths],
            "incomplete": bool(self._authorizer.unresolved),
        }
        if errors := [*map(str, absent), *filter(None, [self._authorizer.unresolved])]:
            status["evaluationError"] = aggregate_messages(errors)
        return status


def _user(spec: Mapping[str, Any]) -> User:
    extra = {key: tuple(values or ()) for key, values in (spec.get("extra") or {}).items()}
    groups = tuple(spec.get("groups") or ())
    return User(name=spec.get("user", ""), uid=spec.get("uid", ""), groups=groups, extra=extra)


def _access(spec: Mapping[str, Any]) -> Access:
    wanted = spec.get("resourceAttributes")
    if wanted is None:
        path = spec["nonResourceAttributes"]
        return Access(path.get("verb", ""), path=path.get("path", ""), is_resource=False)
    parts = ("group", "resource", "subresource", "namespace", "name")
    return Access(wanted.get("verb", ""), **{part: wanted.get(part, "") for part in parts})


# -- what is wrong with a review ---------------------------------------------------------------------------------


def _problems(plural: str, spec: Mapping[str, Any], metadata: Mapping[str, Any]) -> Iterator[FieldError]:
    wanted, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if wanted is not None and path is not None:
        yield invalid_value(
            "spec.nonResourceAttributes", _go(path), "cannot be specified in combination with resourceAttributes"
        )
    if wanted is None and path is None:
        yield invalid_value("spec.resourceAttributes", None, _ONE_OF)
    if plural != SELF and not spec.get("user") and not spec.get("groups"):
        yield invalid_value("spec.user", "", "at least one of user or group must be specified")
    yield from _selector_problems(wanted or {})
    if metadata.keys() - {"managedFields", "namespace"}:
        yield invalid_value(
            "metadata", _ordered(metadata), f"must be empty{' except for namespace' if plural == LOCAL else ''}"
        )
    if plural == LOCAL:
        if wanted is not None and wanted.get("namespace", "") != metadata.get("namespace", ""):
            where = "spec.resourceAttributes.namespace"
            yield invalid_value(where, wanted.get("namespace", ""), "must match metadata.namespace")
        if path is not None:
            yield invalid_value("spec.nonResourceAttributes", _go(path), "disallowed on this kind of request")


def _ordered(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Show metadata in the order of Go's type, as far as somebody might notice."""
    first = ("name", "generateName", "namespace", "uid", "labels", "annotations")
    return {key: metadata[key] for key in (*first, *sorted(metadata.keys() - {*first})) if key in metadata}


def _go(path: Mapping[str, Any]) -> dict[str, str]:
    """Show a path as Go's internal type prints it."""
    return {"Path": path.get("path", ""), "Verb": path.get("verb", "")}


def _selector_problems(wanted: Mapping[str, Any]) -> Iterator[FieldError]:
    for kind in ("fieldSelector", "labelSelector"):
        selector, path = wanted.get(kind), f"spec.resourceAttributes.{kind}"
        if selector is None:
            continue
        raw, requirements = selector.get("rawSelector"), selector.get("requirements") or ()
        if raw and requirements:
            yield invalid_value(f"{path}.rawSelector", raw, "may not specified at the same time as requirements")
        if not raw and not requirements:
            why = f"when {path} is specified, requirements or rawSelector is required"
            yield required(f"{path}.requirements", why)
        for index, requirement in enumerate(requirements):
            yield from _requirement_problems(f"{path}.requirements[{index}]", requirement, kind == "labelSelector")


def _requirement_problems(path: str, requirement: Mapping[str, Any], is_label: bool) -> Iterator[FieldError]:
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


# -- selectors, which RBAC does not ask about --------------------------------------------------------------------


def _selector_errors(wanted: Mapping[str, Any]) -> Iterator[str]:
    for kind in ("fieldSelector", "labelSelector"):
        selector = wanted.get(kind)
        if selector is None:
            continue
        fit, unfit = _understood(selector, kind == "labelSelector")
        if unfit:
            yield f"spec.resourceAttributes.{kind} {'partially ' if fit else ''}ignored due to parse error"


def _understood(selector: Mapping[str, Any], is_label: bool) -> tuple[int, int]:
    """Count the requirements that an authorizer could use, and those that it could not."""
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
