"""DaemonSets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pyctrl.apiserver._errors import FieldError
from pyctrl.apiserver._registry._pods.defaults import default_template
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.field_validation import not_negative
from pyctrl.apiserver._registry.pod_templates import immutable_selector, validate_lasting_pods
from pyctrl.apiserver._registry.strategy import Object, Strategy
from pyctrl.apiserver._registry.table_cells import Cells, containers_of, labels_of, selector_of, spec_of, status_of
from pyctrl.apiserver._schema.defaulting import set_defaults

__all__ = ["RESOURCES"]

_TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"


def _default_daemon_set(obj: Object) -> None:
    """Default to a rolling update, one node at a time."""
    spec = obj["spec"]
    set_defaults(spec, revisionHistoryLimit=10)
    strategy = spec["updateStrategy"]
    set_defaults(strategy, type="RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        set_defaults(strategy, rollingUpdate={})
        rolling = strategy["rollingUpdate"]
        set_defaults(rolling, maxUnavailable=0 if rolling.get("maxSurge") else 1, maxSurge=0)
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
    yield from immutable_selector(new, old)
    yield from validate_lasting_pods(new["spec"], "daemonset")
    yield from not_negative(new["spec"], "spec", "minReadySeconds", "revisionHistoryLimit")


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
        strategy=Strategy(
            has_generation=True,
            defaults=(_default_daemon_set,),
            prepares=(_prepare_daemon_set,),
            validates=(_validate_daemon_set,),
        ),
        cells=_daemon_set_cells,
    ),
)
