"""Validation of the pod templates and selectors of workloads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias

from pyctrl._lazy_imports import lazy_function
from pyctrl._validation import names
from pyctrl.api import LabelSelector
from pyctrl.apiserver._errors import FieldError, field_forbidden, invalid_value, not_supported, required
from pyctrl.apiserver._meta.validation import validate_annotations, validate_labels, validate_selector
from pyctrl.apiserver._registry._pods.annotations import validate_pod_annotations
from pyctrl.apiserver._registry._pods.preparation import drop_disabled_fields
from pyctrl.apiserver._registry._pods.profile_annotations import validate_profiles_match
from pyctrl.apiserver._registry.go_structs import go_value
from pyctrl.apiserver._registry.strategy import Object
from pyctrl.apiserver._schema.schema import JSON

if TYPE_CHECKING:
    from pyctrl.apiserver._registry._pods.validation import validate_pod_spec
    from pyctrl.apiserver._registry._pods.warnings import warnings_of_template
else:  # imported with the first object
    validate_pod_spec = lazy_function("pyctrl.apiserver._registry._pods.validation", "validate_pod_spec")
    warnings_of_template = lazy_function("pyctrl.apiserver._registry._pods.warnings", "warnings_of_template")

__all__ = [
    "hostname_warnings",
    "immutable_selector",
    "is_selector_valid",
    "prepare_template",
    "selector_matches",
    "shown_selector",
    "template_labels",
    "validate_lasting_pods",
    "validate_only_lasting",
    "validate_template",
    "validate_workload_selector",
    "warn_template",
]

_Part: TypeAlias = Mapping[str, JSON]
_Errors: TypeAlias = Iterator[FieldError]


def prepare_template(new: Object, _old: Object | None) -> None:
    """Drop the fields of a workload's template that belong to disabled features."""
    if template := new["spec"].get("template"):
        drop_disabled_fields(template["spec"])


def warn_template(new: Object) -> Iterator[str]:
    """Yield the warnings about a workload's template."""
    if template := new["spec"].get("template"):
        yield from warnings_of_template(template, "spec.template")


def hostname_warnings(metadata: _Part) -> Iterator[str]:
    """Warn about a name that is a part of the names of pods, and too long or otherwise wrong for their hostnames."""
    if found := names.label(metadata.get("name", "")):
        why = "this is used in Pod names and hostnames, which can result in surprising behavior"
        yield f"metadata.name: {why}; a DNS label is recommended: [{' '.join(found)}]"


def validate_template(template: _Part, path: str) -> _Errors:
    """Check the metadata and the spec of a pod template."""
    yield from validate_labels(template_labels(template) or {}, f"{path}.labels")
    yield from validate_annotations((template.get("metadata") or {}).get("annotations") or {}, f"{path}.annotations")
    yield from validate_pod_annotations(template, f"{path}.annotations")
    yield from validate_pod_spec(template["spec"], f"{path}.spec")
    yield from validate_profiles_match(template, f"{path}.spec")
    if template["spec"].get("ephemeralContainers"):
        yield field_forbidden(f"{path}.spec.ephemeralContainers", "ephemeral containers not allowed in pod template")


def template_labels(template: _Part) -> JSON:
    """Return the labels of a template; None if it has none."""
    return (template.get("metadata") or {}).get("labels")


def validate_lasting_pods(
    spec: _Part, kind: str, *, noun: str, validate: Callable[[_Part, str], _Errors] = validate_template
) -> _Errors:
    """Check the selector and the template of a workload whose pods restart always.

    Args:
        kind: The kind, as a message names it.
        noun: The kind, as the message about an empty selector names it.
        validate: Checks the template.
    """
    yield from validate_workload_selector(spec, noun)
    if spec.get("selector") is not None and not is_selector_valid(spec["selector"]):
        yield invalid_value("spec.selector", shown_selector(spec["selector"]), "invalid label selector")
        return
    template = spec["template"]
    if not selector_matches(spec.get("selector"), template_labels(template)):
        yield _no_match(template)
    yield from validate(template, "spec.template")
    yield from validate_only_lasting(template, kind)


def validate_workload_selector(spec: _Part, noun: str) -> _Errors:
    """Check that a selector is set, valid and not empty."""
    selector = spec.get("selector")
    if selector is None:
        yield required("spec.selector")
        return
    yield from validate_selector(selector, "spec.selector")
    if not selector.get("matchLabels") and not selector.get("matchExpressions"):
        yield invalid_value("spec.selector", shown_selector(selector), f"empty selector is invalid for {noun}")


def _no_match(template: _Part) -> FieldError:
    labels = go_value("map[string]string", template_labels(template))
    return invalid_value("spec.template.metadata.labels", labels, "`selector` does not match template `labels`")


def validate_only_lasting(template: _Part, kind: str, path: str = "spec.template.spec") -> _Errors:
    """Check that the pods of a template restart always and have no deadline."""
    if template["spec"].get("restartPolicy") != "Always":
        yield not_supported(f"{path}.restartPolicy", template["spec"].get("restartPolicy"), ("Always",))
    if template["spec"].get("activeDeadlineSeconds") is not None:
        why = f"activeDeadlineSeconds in {kind} is not Supported"
        yield field_forbidden(f"{path}.activeDeadlineSeconds", why)


def is_selector_valid(selector: _Part) -> bool:
    """Return whether a label selector can be evaluated."""
    expressions = selector.get("matchExpressions") or ()
    labels = selector.get("matchLabels") or {}
    return not any(names.qualified_name(key) or names.label_value(value) for key, value in labels.items()) and all(
        _is_expression_valid(each) for each in expressions
    )


def _is_expression_valid(expression: _Part) -> bool:
    operator, values = expression.get("operator"), expression.get("values") or ()
    if names.qualified_name(expression.get("key", "")) or any(names.label_value(each) for each in values):
        return False
    return bool(values) if operator in ("In", "NotIn") else operator in ("Exists", "DoesNotExist") and not values


def selector_matches(selector: _Part | None, labels: JSON) -> bool:
    """Return whether a selector that is valid matches labels; none matches nothing."""
    return selector is not None and LabelSelector.from_wire(dict(selector)).matches(labels or {})


def shown_selector(selector: _Part | None) -> JSON:
    """Return a selector as Go prints it."""
    return go_value("*metav1.LabelSelector", selector)


def immutable_selector(new: Object, old: Object | None) -> _Errors:
    """Check that the selector does not change."""
    if old is not None and (new["spec"].get("selector") or None) != (old["spec"].get("selector") or None):
        yield invalid_value("spec.selector", shown_selector(new["spec"].get("selector")), "field is immutable")
