"""Validation of the pod templates and selectors of workloads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pyctrl._go.text import shown_value
from pyctrl.api import LabelSelector
from pyctrl.apiserver._errors import FieldError, field_forbidden, invalid_value, not_supported, required
from pyctrl.apiserver._meta.validation import validate_annotations, validate_labels, validate_selector
from pyctrl.apiserver._registry._pods.annotations import validate_pod_annotations
from pyctrl.apiserver._registry._pods.validation import validate_pod_spec
from pyctrl.apiserver._registry.strategy import Object
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["immutable_selector", "validate_lasting_pods", "validate_template"]


def _validate_selector(spec: Mapping[str, JSON], kind: str) -> Iterator[FieldError]:
    """Check that the selector is set, valid, not empty, and matches the labels of the template."""
    selector, labels = spec.get("selector"), spec["template"]["metadata"].get("labels")
    if selector is None and kind != "daemonset":
        yield required("spec.selector")
    wrong = list(validate_selector(selector or {}, "spec.selector"))
    yield from wrong
    if selector == {}:
        why = f"empty selector is invalid for {kind}"
        yield invalid_value("spec.selector", selector, why)
    if wrong:
        yield from _repeated_selector_errors(selector, kind)
    elif selector is None or not LabelSelector.from_wire(selector).matches(labels or {}):
        why = "`selector` does not match template `labels`"
        yield invalid_value("spec.template.metadata.labels", labels, why)


def _repeated_selector_errors(selector: JSON, kind: str) -> Iterator[FieldError]:
    """Yield the second error that some kinds have for an invalid selector."""
    if kind == "deployment":
        yield invalid_value("spec.selector", selector, "invalid label selector")
    elif kind == "statefulset":
        yield FieldError("FieldValueInvalid", f"Invalid value: {shown_value(selector)}", "spec.selector")


def validate_template(template: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    """Check the labels and the spec of a pod template."""
    yield from validate_labels(template["metadata"].get("labels") or {}, f"{path}.labels")
    yield from validate_annotations(template["metadata"].get("annotations") or {}, f"{path}.annotations")
    yield from validate_pod_annotations(template, f"{path}.annotations")
    yield from validate_pod_spec(template["spec"], f"{path}.spec")
    if template["spec"].get("ephemeralContainers"):
        yield field_forbidden(f"{path}.spec.ephemeralContainers", "ephemeral containers not allowed in pod template")


def _validate_restart_policy(template: Mapping[str, JSON]) -> Iterator[FieldError]:
    policy = template["spec"].get("restartPolicy")
    if policy != "Always":
        yield not_supported("spec.template.spec.restartPolicy", policy, ("Always",))


def validate_lasting_pods(spec: Mapping[str, JSON], kind: str = "deployment") -> Iterator[FieldError]:
    """Check the selector and the template of a workload whose pods restart always."""
    yield from _validate_selector(spec, kind)
    yield from validate_template(spec["template"], "spec.template")
    yield from _validate_restart_policy(spec["template"])


def immutable_selector(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check that the selector does not change."""
    if old is not None and new["spec"].get("selector") != old["spec"].get("selector"):
        yield invalid_value("spec.selector", new["spec"].get("selector"), "field is immutable")
