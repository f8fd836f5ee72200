"""DaemonSets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from pyctrl.apiserver._errors import FieldError, invalid_value, not_supported, required
from pyctrl.apiserver._meta.validation import validate_selector
from pyctrl.apiserver._registry._pods.defaults import default_template
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.field_validation import at_most_all, int_or_percent, int_or_percent_value, not_negative
from pyctrl.apiserver._registry.pod_templates import (
    immutable_selector,
    is_selector_valid,
    prepare_template,
    selector_matches,
    shown_selector,
    template_labels,
    validate_only_lasting,
    validate_template,
    warn_template,
)
from pyctrl.apiserver._registry.status_validation import validate_daemon_set_status
from pyctrl.apiserver._registry.strategy import Object, Strategy, generation_differs
from pyctrl.apiserver._registry.table_cells import Cells, containers_of, labels_of, selector_of, spec_of, status_of
from pyctrl.apiserver._schema.defaulting import set_defaults
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["RESOURCES"]

_TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"


def _default_daemon_set(obj: Object) -> None:
    """Default to a rolling update, one node at a time; the deprecated annotation is a field in upstream's type."""
    spec, metadata = obj["spec"], obj["metadata"]
    metadata["annotations"] = {_TEMPLATE_GENERATION: "0", **(metadata.get("annotations") or {})}
    set_defaults(spec, revisionHistoryLimit=10)
    strategy = spec["updateStrategy"]
    set_defaults(strategy, type="RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        set_defaults(strategy, rollingUpdate={})
        rolling = strategy["rollingUpdate"]
        rolling.setdefault("maxUnavailable", 0 if rolling.get("maxSurge") else 1)
        rolling.setdefault("maxSurge", 0)
    default_template(spec["template"])


def _prepare_daemon_set(new: Object, old: Object | None) -> None:
    """Count the changes of the template in a deprecated annotation."""
    annotations = new["metadata"].setdefault("annotations", {})
    if old is None:
        annotations[_TEMPLATE_GENERATION] = "1"
        return
    before = int((old["metadata"].get("annotations") or {}).get(_TEMPLATE_GENERATION, "1"))
    changed = new["spec"]["template"] != old["spec"]["template"]
    annotations[_TEMPLATE_GENERATION] = str(before + 1 if changed else before)


def _validate_daemon_set(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check a DaemonSet; its selector does not change."""
    spec = new["spec"]
    yield from immutable_selector(new, old)
    selector, template = spec.get("selector"), spec["template"]
    yield from validate_selector(selector or {}, "spec.selector")
    is_valid = selector is None or is_selector_valid(selector)
    if is_valid and not selector_matches(selector, template_labels(template)):
        why = "`selector` does not match template `labels`"
        yield invalid_value("spec.template.metadata.labels", template_labels(template), why)
    if selector is not None and not selector.get("matchLabels") and not selector.get("matchExpressions"):
        yield invalid_value("spec.selector", shown_selector(selector), "empty selector is invalid for daemonset")
    yield from validate_template(template, "spec.template")
    yield from validate_only_lasting(template, "DaemonSet")
    yield from not_negative(spec, "spec", "minReadySeconds")
    yield from _update_strategy(spec["updateStrategy"], "spec.updateStrategy")
    yield from not_negative(spec, "spec", "revisionHistoryLimit")


def _update_strategy(strategy: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    if strategy["type"] == "RollingUpdate":
        rolling, where = strategy["rollingUpdate"], f"{path}.rollingUpdate"
        missing, surplus = rolling.get("maxUnavailable", 0), rolling.get("maxSurge", 0)
        for check in (int_or_percent, at_most_all):
            yield from check(missing, f"{where}.maxUnavailable")
            yield from check(surplus, f"{where}.maxSurge")
        if int_or_percent_value(missing) and int_or_percent_value(surplus):
            yield invalid_value(f"{where}.maxSurge", surplus, "may not be set when maxUnavailable is non-zero")
        elif not int_or_percent_value(missing) and not int_or_percent_value(surplus):
            yield required(f"{where}.maxUnavailable", "cannot be 0 when maxSurge is 0")
    elif strategy["type"] != "OnDelete":
        rolling = strategy.get("rollingUpdate")
        shown = rolling and {
            "MaxUnavailable": rolling.get("maxUnavailable", 0),
            "MaxSurge": rolling.get("maxSurge", 0),
        }
        internal = {"Type": strategy["type"], "RollingUpdate": shown}
        yield not_supported(path, internal, ("RollingUpdate", "OnDelete"))


def _daemon_set_cells(obj: Object) -> Cells:
    spec, status = spec_of(obj), status_of(obj)
    return {
        "Desired": status.get("desiredNumberScheduled", 0),
        "Current": status.get("currentNumberScheduled", 0),
        "Ready": status.get("numberReady", 0),
        "Up-to-date": status.get("updatedNumberScheduled", 0),
        "Available": status.get("numberAvailable", 0),
        "Node Selector": labels_of(spec_of(spec["template"]).get("nodeSelector")),
        "Selector": selector_of(spec.get("selector")),
        **containers_of(spec["template"]),
    }


RESOURCES: Final = (
    BuiltinResource(
        group="apps",
        kind="DaemonSet",
        internal_zeros={"metadata": {"annotations": {_TEMPLATE_GENERATION: "0"}}},
        strategy=Strategy(
            has_generation=True,
            defaults=(_default_daemon_set,),
            prepares=(prepare_template, _prepare_daemon_set),
            validates=(_validate_daemon_set,),
            validates_status=(validate_daemon_set_status,),
            warns=warn_template,
            warns_on_update=generation_differs,
        ),
        cells=_daemon_set_cells,
    ),
)
