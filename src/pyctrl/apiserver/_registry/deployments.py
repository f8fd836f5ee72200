"""Deployments, ReplicaSets and ReplicationControllers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from pyctrl.apiserver._errors import FieldError, invalid_value, not_supported
from pyctrl.apiserver._registry._pods.defaults import default_template
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.field_validation import NEGATIVE, NO_PERCENT, not_negative
from pyctrl.apiserver._registry.pod_templates import immutable_selector, validate_lasting_pods
from pyctrl.apiserver._registry.scale import ScaleREST
from pyctrl.apiserver._registry.strategy import Object, Strategy, fields_at
from pyctrl.apiserver._registry.table_cells import Cells, containers_of, labels_of, selector_of, spec_of, status_of
from pyctrl.apiserver._schema.defaulting import set_defaults
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["RESOURCES"]

# -- Deployment ------------------------------------------------------------------------------------------------


def _default_deployment(obj: Object) -> None:
    """Default to one replica, a rolling update by quarters, ten old revisions, and ten minutes to progress."""
    spec = obj["spec"]
    set_defaults(spec, replicas=1, revisionHistoryLimit=10, progressDeadlineSeconds=600)
    strategy = spec["strategy"]
    set_defaults(strategy, type="RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        set_defaults(strategy, rollingUpdate={})
        set_defaults(strategy["rollingUpdate"], maxUnavailable="25%", maxSurge="25%")
    default_template(spec["template"])


def _validate_deployment(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check a Deployment; its selector does not change."""
    spec = new["spec"]
    yield from not_negative(spec, "spec", "replicas")
    yield from validate_lasting_pods(spec)
    strategy = spec["strategy"]
    if strategy["type"] not in ("Recreate", "RollingUpdate"):
        internal = {"Type": strategy["type"], "RollingUpdate": strategy.get("rollingUpdate")}
        yield not_supported("spec.strategy", internal, ("Recreate", "RollingUpdate"))
    elif strategy["type"] == "Recreate" and strategy.get("rollingUpdate") is not None:
        why = "Forbidden: may not be specified when strategy `type` is 'Recreate'"
        yield FieldError("FieldValueForbidden", why, "spec.strategy.rollingUpdate")
    elif strategy["type"] == "RollingUpdate":
        yield from _validate_rolling_update(strategy["rollingUpdate"], "spec.strategy.rollingUpdate")
    yield from not_negative(spec, "spec", "minReadySeconds", "revisionHistoryLimit")
    if (spec.get("progressDeadlineSeconds") or 0) <= spec.get("minReadySeconds", 0):
        why = "must be greater than minReadySeconds"
        yield invalid_value("spec.progressDeadlineSeconds", spec.get("progressDeadlineSeconds"), why)
    yield from immutable_selector(new, old)


def _validate_rolling_update(rolling: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    """Check maxUnavailable and maxSurge, which must not both be 0."""
    missing, surplus = rolling.get("maxUnavailable"), rolling.get("maxSurge")
    for key, value in (("maxUnavailable", missing), ("maxSurge", surplus)):
        if isinstance(value, str) and not re.fullmatch("[0-9]+%", value):
            yield invalid_value(f"{path}.{key}", value, NO_PERCENT)
        elif isinstance(value, int) and value < 0:
            yield invalid_value(f"{path}.{key}", value, NEGATIVE)
    if missing in (0, "0%") and surplus in (0, "0%"):
        yield invalid_value(f"{path}.maxUnavailable", missing, "may not be 0 when `maxSurge` is 0")
    if isinstance(missing, str) and re.fullmatch("[0-9]+%", missing) and int(missing[:-1]) > 100:
        yield invalid_value(f"{path}.maxUnavailable", missing, "must not be greater than 100%")


def _deployment_cells(obj: Object) -> Cells:
    spec, status = spec_of(obj), status_of(obj)
    return {
        "Ready": f"{status.get('readyReplicas', 0)}/{spec.get('replicas', 0)}",
        "Up-to-date": status.get("updatedReplicas", 0),
        "Available": status.get("availableReplicas", 0),
        "Selector": selector_of(spec.get("selector")),
        **containers_of(spec["template"]),
    }


# -- ReplicaSet, ReplicationController -------------------------------------------------------------------------


def _default_replica_set(obj: Object) -> None:
    """Default to one replica."""
    set_defaults(obj["spec"], replicas=1)
    default_template(obj["spec"]["template"])


def _default_replication_controller(obj: Object) -> None:
    """Default to one replica; selector and labels default to the labels of the template."""
    spec = obj["spec"]
    set_defaults(spec, replicas=1)
    if spec.get("template"):
        default_template(spec["template"])
        labels = spec["template"]["metadata"].get("labels") or {}
        if labels:
            set_defaults(spec, selector=dict(labels))
            set_defaults(obj["metadata"], labels=dict(labels))


def _validate_replica_set(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check a ReplicaSet; its selector does not change."""
    spec = new["spec"]
    yield from not_negative(spec, "spec", "replicas", "minReadySeconds")
    yield from validate_lasting_pods(spec)
    yield from immutable_selector(new, old)


def _replica_set_cells(obj: Object) -> Cells:
    spec, status = spec_of(obj), status_of(obj)
    selector = spec.get("selector")
    is_plain = bool(selector) and not ({"matchLabels", "matchExpressions"} & set(selector or {}))
    return {
        "Desired": spec.get("replicas", 0),
        "Current": status.get("replicas", 0),
        "Ready": status.get("readyReplicas", 0),
        "Selector": labels_of(selector) if is_plain else selector_of(selector),
        **containers_of(spec.get("template") or {}),
    }


RESOURCES: Final = (
    BuiltinResource(
        group="apps",
        kind="Deployment",
        strategy=Strategy(
            has_generation=True,
            annotations_increment_generation=True,
            status_reset_fields=("labels",),
            defaults=(_default_deployment,),
            validates=(_validate_deployment,),
        ),
        cells=_deployment_cells,
        rest={"scale": ScaleREST},
    ),
    BuiltinResource(
        group="apps",
        kind="ReplicaSet",
        strategy=Strategy(
            has_generation=True,
            fields=fields_at("status.replicas", zero="0"),
            defaults=(_default_replica_set,),
            validates=(_validate_replica_set,),
        ),
        cells=_replica_set_cells,
        rest={"scale": ScaleREST},
    ),
    BuiltinResource(
        group="",
        kind="ReplicationController",
        strategy=Strategy(
            has_generation=True,
            fields=fields_at("status.replicas", zero="0"),
            defaults=(_default_replication_controller,),
        ),
        cells=_replica_set_cells,
        rest={"scale": ScaleREST},
    ),
)
