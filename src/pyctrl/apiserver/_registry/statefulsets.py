"""StatefulSets and ControllerRevisions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from pyctrl._go.text import shown_value
from pyctrl._lazy_imports import lazy_function
from pyctrl._validation import names
from pyctrl.apiserver._errors import FieldError, field_forbidden, invalid_value, not_supported, required
from pyctrl.apiserver._meta.validation import MetadataCheck, validate_annotations, validate_labels
from pyctrl.apiserver._registry._pods.annotations import validate_pod_annotations
from pyctrl.apiserver._registry._pods.defaults import default_template
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.field_validation import invalid_name, not_negative
from pyctrl.apiserver._registry.pod_templates import (
    is_selector_valid,
    prepare_template,
    selector_matches,
    shown_selector,
    template_labels,
    validate_only_lasting,
    validate_template,
    validate_workload_selector,
    warn_template,
)
from pyctrl.apiserver._registry.scale import ScaleREST
from pyctrl.apiserver._registry.status_validation import validate_stateful_set_status
from pyctrl.apiserver._registry.strategy import Object, Strategy, generation_differs
from pyctrl.apiserver._registry.table_cells import NONE, Cells, containers_of, spec_of, status_of
from pyctrl.apiserver._schema.defaulting import set_defaults, set_missing
from pyctrl.apiserver._schema.schema import JSON

if TYPE_CHECKING:
    from pyctrl.apiserver._registry.volume_claims import validate_claim_spec
else:  # imported with the first object
    validate_claim_spec = lazy_function("pyctrl.apiserver._registry.volume_claims", "validate_claim_spec")

__all__ = ["RESOURCES"]

_MUTABLE = (
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
)


def _default_stateful_set(obj: Object) -> None:
    """Default to one replica, ordered pods and a rolling update; fill the claim templates like claims."""
    spec = obj["spec"]
    set_defaults(spec, replicas=1, podManagementPolicy="OrderedReady", revisionHistoryLimit=10)
    set_defaults(spec, persistentVolumeClaimRetentionPolicy={})
    set_defaults(spec["persistentVolumeClaimRetentionPolicy"], whenDeleted="Retain", whenScaled="Retain")
    strategy = spec["updateStrategy"]
    set_defaults(strategy, type="RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        set_defaults(strategy, rollingUpdate={})
        set_defaults(strategy["rollingUpdate"], partition=0)
    for claim in spec.get("volumeClaimTemplates") or ():
        claim.update(kind="PersistentVolumeClaim", apiVersion="v1")
        set_missing(claim["spec"], volumeMode="Filesystem")
        set_defaults(claim["status"], phase="Pending")
    default_template(spec["template"])


def _validate_stateful_set(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check a StatefulSet; only a few fields of its spec may change."""
    spec = new["spec"]
    yield from _policies(spec)
    for index, claim in enumerate(spec.get("volumeClaimTemplates") or () if old is None else ()):
        yield from validate_claim_spec(claim["spec"], f"spec.volumeClaimTemplates[{index}].spec")
    yield from not_negative(spec, "spec", "replicas", "minReadySeconds")
    if spec.get("ordinals") is not None:
        yield from not_negative(spec["ordinals"], "spec.ordinals", "start")
    if spec.get("serviceName") and old is None:
        yield from invalid_name(names.label, spec["serviceName"], "spec.serviceName")
    yield from validate_workload_selector(spec, "statefulset")
    yield from _template(spec)
    yield from validate_only_lasting(spec["template"], "StatefulSet")
    if old is not None and _without(spec, _MUTABLE) != _without(old["spec"], _MUTABLE):
        why = (
            "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
            "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' "
            "are forbidden"
        )
        yield field_forbidden("spec", why)


def _warnings(new: Object) -> Iterator[str]:
    """Warn about the template, and about old revisions that are never deleted."""
    yield from warn_template(new)
    if (new["spec"].get("revisionHistoryLimit") or 0) < 0:
        why = "a negative value retains all historical revisions; a value >= 0 is recommended"
        yield f"spec.revisionHistoryLimit: {why}"


def _policies(spec: Mapping[str, JSON]) -> Iterator[FieldError]:
    management, update = spec.get("podManagementPolicy"), spec["updateStrategy"]
    if management not in ("OrderedReady", "Parallel"):
        yield invalid_value("spec.podManagementPolicy", management, "must be 'OrderedReady' or 'Parallel'")
    rolling = update.get("rollingUpdate")
    shown = rolling and {"Partition": rolling.get("partition", 0), "MaxUnavailable": None}
    if update["type"] == "OnDelete":
        if rolling is not None:
            why = "only allowed for updateStrategy 'RollingUpdate'"
            yield invalid_value("spec.updateStrategy.rollingUpdate", shown, why)
    elif update["type"] == "RollingUpdate":
        yield from not_negative(rolling or {}, "spec.updateStrategy.rollingUpdate", "partition")
    else:
        internal = {"Type": update["type"], "RollingUpdate": shown}
        yield invalid_value("spec.updateStrategy", internal, "must be 'RollingUpdate' or 'OnDelete'")
    policy = spec.get("persistentVolumeClaimRetentionPolicy") or {}
    for key in ("whenDeleted", "whenScaled"):
        if policy.get(key) not in ("Retain", "Delete"):
            where = f"spec.persistentVolumeClaimRetentionPolicy.{key}"
            yield not_supported(where, policy.get(key), ("Retain", "Delete"))


def _template(spec: Mapping[str, JSON]) -> Iterator[FieldError]:
    selector, template = spec.get("selector"), _with_claimed_volumes(spec)["template"]
    if selector is not None and not is_selector_valid(selector):
        shown = shown_value(shown_selector(selector))
        yield FieldError("FieldValueInvalid", f"Invalid value: {shown}", "spec.selector")
        return
    labels = template_labels(template)
    if not selector_matches(selector, labels):
        yield invalid_value("spec.template.metadata.labels", labels, "`selector` does not match template `labels`")
    checked = {key: value for key, value in template["spec"].items() if key not in ("subdomain", "hostname")}
    yield from validate_template({**template, "spec": checked}, "spec.template")
    yield from validate_labels(labels or {}, "spec.template.labels")  # as upstream, a second time
    annotations = template["metadata"].get("annotations") or {}
    yield from validate_annotations(annotations, "spec.template.annotations")
    yield from validate_pod_annotations(template, "spec.template.annotations")


def _with_claimed_volumes(spec: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return the spec with a volume for each claim template, in place of volumes with the same name."""
    template = spec["template"]
    claims = dict.fromkeys(each["metadata"].get("name", "") for each in spec.get("volumeClaimTemplates") or ())
    kept = [each for each in template["spec"].get("volumes") or () if each.get("name") not in claims]
    claimed = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claims]
    return {**spec, "template": {**template, "spec": {**template["spec"], "volumes": [*claimed, *kept]}}}


def _validate_revision(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check a ControllerRevision; its data does not change."""
    yield from not_negative(new, "", "revision")
    if old is None:
        if new.get("data") is None:
            yield required("data", "data is mandatory")
        elif not isinstance(new["data"], dict):
            yield required("data", "data must be a valid JSON object")
    elif new.get("data") != old.get("data"):
        yield invalid_value("data", new.get("data"), "field is immutable")


def _without(spec: Mapping[str, JSON], keys: tuple[str, ...]) -> dict[str, JSON]:
    return {key: value for key, value in spec.items() if key not in keys}


def _stateful_set_cells(obj: Object) -> Cells:
    spec, status = spec_of(obj), status_of(obj)
    return {"Ready": f"{status.get('readyReplicas', 0)}/{spec.get('replicas', 0)}", **containers_of(spec["template"])}


def _revision_cells(obj: Object) -> Cells:
    owner = next((each for each in obj["metadata"].get("ownerReferences") or () if each.get("controller")), None)
    shown = NONE
    if owner is not None:
        group = str(owner.get("apiVersion", "")).rpartition("/")[0]
        shown = f"{str(owner['kind']).lower()}{'.' + group if group else ''}/{owner['name']}"
    return {"Controller": shown, "Revision": obj.get("revision", 0)}


def _drop_disabled(new: Object, _old: Object | None) -> None:
    """Drop the field of a feature that is off by default in Kubernetes 1.36; its manager owns it nevertheless."""
    (new["spec"]["updateStrategy"].get("rollingUpdate") or {}).pop("maxUnavailable", None)


RESOURCES: Final = (
    BuiltinResource(
        group="apps",
        kind="StatefulSet",
        internal_zeros={"spec": {"replicas": 0}},
        strategy=Strategy(
            name_rule=names.label,
            has_generation=True,
            defaults=(_default_stateful_set,),
            prepares=(prepare_template, _drop_disabled),
            validates=(_validate_stateful_set,),
            validates_status=(validate_stateful_set_status,),
            warns=_warnings,
            warns_on_update=generation_differs,
        ),
        cells=_stateful_set_cells,
        rest={"scale": ScaleREST},
    ),
    BuiltinResource(
        group="apps",
        kind="ControllerRevision",
        internal_zeros={"data": None},
        strategy=Strategy(on_update=(MetadataCheck.CHANGE, MetadataCheck.WHOLE), validates=(_validate_revision,)),
        cells=_revision_cells,
        raw_fields=("data",),
    ),
)
