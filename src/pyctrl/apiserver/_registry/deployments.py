"""Deployments, ReplicaSets and ReplicationControllers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from pyctrl.apiserver._errors import FieldError, field_forbidden, invalid_value, not_supported, required
from pyctrl.apiserver._registry._pods.defaults import default_template
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.field_validation import (
    at_most_all,
    int_or_percent,
    int_or_percent_value,
    not_negative,
)
from pyctrl.apiserver._registry.pod_templates import (
    hostname_warnings,
    immutable_selector,
    prepare_template,
    template_labels,
    validate_lasting_pods,
    validate_only_lasting,
    validate_template,
    warn_template,
)
from pyctrl.apiserver._registry.scale import ScaleREST
from pyctrl.apiserver._registry.status_validation import validate_deployment_status, validate_replica_set_status
from pyctrl.apiserver._registry.strategy import Object, Strategy, fields_at, generation_differs
from pyctrl.apiserver._registry.table_cells import Cells, containers_of, labels_of, selector_of, spec_of, status_of
from pyctrl.apiserver._resources.deletion_strategy import GarbageCollectionPolicy
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
        for key in ("maxUnavailable", "maxSurge"):
            strategy["rollingUpdate"].setdefault(key, "25%")
    default_template(spec["template"])


def _validate_deployment(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check a Deployment; its selector does not change."""
    spec = new["spec"]
    yield from not_negative(spec, "spec", "replicas")
    yield from validate_lasting_pods(spec, "ReplicaSet", noun="deployment")
    strategy = spec["strategy"]
    if strategy["type"] == "Recreate" and strategy.get("rollingUpdate") is not None:
        why = "may not be specified when strategy `type` is 'Recreate'"
        yield field_forbidden("spec.strategy.rollingUpdate", why)
    elif strategy["type"] == "RollingUpdate":
        yield from _validate_rolling_update(strategy["rollingUpdate"], "spec.strategy.rollingUpdate")
    elif strategy["type"] != "Recreate":
        internal = {"Type": strategy["type"], "RollingUpdate": _shown_update(strategy.get("rollingUpdate"))}
        yield not_supported("spec.strategy", internal, ("Recreate", "RollingUpdate"))
    yield from not_negative(spec, "spec", "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds")
    if (spec.get("progressDeadlineSeconds") or 0) <= spec.get("minReadySeconds", 0):
        why = "must be greater than minReadySeconds"
        yield invalid_value("spec.progressDeadlineSeconds", spec.get("progressDeadlineSeconds"), why)
    yield from immutable_selector(new, old)


def _deployment_warnings(new: Object) -> Iterator[str]:
    """Warn about a name that pods cannot have as their hostname, and about the template."""
    yield from hostname_warnings(new["metadata"])
    yield from warn_template(new)


def _shown_update(rolling: Mapping[str, JSON] | None) -> JSON:
    if rolling is None:
        return None
    return {"MaxUnavailable": rolling.get("maxUnavailable", 0), "MaxSurge": rolling.get("maxSurge", 0)}


def _validate_rolling_update(rolling: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    """Check maxUnavailable and maxSurge, which must not both be 0."""
    missing, surplus = rolling.get("maxUnavailable", 0), rolling.get("maxSurge", 0)
    yield from int_or_percent(missing, f"{path}.maxUnavailable")
    yield from int_or_percent(surplus, f"{path}.maxSurge")
    if int_or_percent_value(missing) == 0 and int_or_percent_value(surplus) == 0:
        yield invalid_value(f"{path}.maxUnavailable", missing, "may not be 0 when `maxSurge` is 0")
    yield from at_most_all(missing, f"{path}.maxUnavailable")


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


def _replica_set_warnings(new: Object) -> Iterator[str]:
    """Warn about a new name that pods cannot have as their hostname, and about the template."""
    if new["metadata"].get("generation") == 1:
        yield from hostname_warnings(new["metadata"])
    yield from warn_template(new)


def _validate_replica_set(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check a ReplicaSet; its selector does not change."""
    spec = new["spec"]
    yield from not_negative(spec, "spec", "replicas", "minReadySeconds")
    yield from validate_lasting_pods(spec, "ReplicaSet", noun="deployment")
    yield from immutable_selector(new, old)


def _validate_replication_controller(new: Object, _old: Object | None) -> Iterator[FieldError]:
    """Check a ReplicationController; its selector is a map of labels."""
    spec = new["spec"]
    selector, template = spec.get("selector") or {}, spec.get("template")
    yield from not_negative(spec, "spec", "minReadySeconds")
    if not selector:
        yield required("spec.selector")
    yield from not_negative(spec, "spec", "replicas")
    if template is None:
        yield required("spec.template")
    else:
        labels = template_labels(template)
        if any((labels or {}).get(key) != value for key, value in selector.items()):
            why = "`selector` does not match template `labels`"
            yield invalid_value("spec.template.metadata.labels", labels, why)
        yield from validate_template(template, "spec.template")
        yield from validate_only_lasting(template, "ReplicationController")


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
        internal_zeros={"spec": {"replicas": 0}},
        strategy=Strategy(
            has_generation=True,
            generation_metadata=("annotations",),
            status_reset_fields=("labels",),
            defaults=(_default_deployment,),
            prepares=(prepare_template,),
            validates=(_validate_deployment,),
            validates_status=(validate_deployment_status,),
            warns=_deployment_warnings,
            warns_on_update=generation_differs,
        ),
        cells=_deployment_cells,
        rest={"scale": ScaleREST},
    ),
    BuiltinResource(
        group="apps",
        kind="ReplicaSet",
        internal_zeros={"spec": {"replicas": 0}},
        strategy=Strategy(
            has_generation=True,
            defaults=(_default_replica_set,),
            prepares=(prepare_template,),
            validates=(_validate_replica_set,),
            validates_status=(validate_replica_set_status,),
            warns=_replica_set_warnings,
            warns_on_update=generation_differs,
        ),
        cells=_replica_set_cells,
        rest={"scale": ScaleREST},
    ),
    BuiltinResource(
        group="",
        kind="ReplicationController",
        storage_prefix="controllers",
        strategy=Strategy(
            has_generation=True,
            garbage_collection=GarbageCollectionPolicy.ORPHAN_DEPENDENTS,
            fields=fields_at("status.replicas", zero="0"),
            defaults=(_default_replication_controller,),
            prepares=(prepare_template,),
            validates=(_validate_replication_controller,),
            validates_status=(validate_replica_set_status,),
            warns=warn_template,
            warns_on_update=lambda _new, _old: False,
        ),
        cells=_replica_set_cells,
        rest={"scale": ScaleREST},
    ),
)
