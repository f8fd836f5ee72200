"""Jobs and CronJobs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from pyctrl._go.durations import age, between
from pyctrl._lazy_imports import lazy_function
from pyctrl._validation import names
from pyctrl.apiserver._errors import FieldError, invalid_value, not_supported, required
from pyctrl.apiserver._meta.validation import MetadataCheck, validate_metadata_change, validate_selector
from pyctrl.apiserver._registry._pods.defaults import default_template
from pyctrl.apiserver._registry._pods.preparation import drop_disabled_fields
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.field_validation import not_negative
from pyctrl.apiserver._registry.go_structs import go_struct, go_value
from pyctrl.apiserver._registry.pod_templates import (
    hostname_warnings,
    immutable_selector,
    is_selector_valid,
    prepare_template,
    selector_matches,
    shown_selector,
    template_labels,
    warn_template,
)
from pyctrl.apiserver._registry.strategy import Object, SelectableField, Strategy, generation_differs
from pyctrl.apiserver._registry.table_cells import NONE, Cells, containers_of, selector_of, spec_of, status_of
from pyctrl.apiserver._resources.deletion_strategy import GarbageCollectionPolicy
from pyctrl.apiserver._schema.defaulting import copied, set_defaults
from pyctrl.apiserver._schema.schema import JSON

if TYPE_CHECKING:
    from pyctrl.apiserver._registry._pods.warnings import warnings_of_template
    from pyctrl.apiserver._registry.cron_schedules import schedule_error
    from pyctrl.apiserver._registry.job_status_validation import validate_job_status
    from pyctrl.apiserver._registry.job_validation import validate_job_spec
else:  # imported with the first object
    validate_job_status = lazy_function("pyctrl.apiserver._registry.job_status_validation", "validate_job_status")
    warnings_of_template = lazy_function("pyctrl.apiserver._registry._pods.warnings", "warnings_of_template")
    validate_job_spec = lazy_function("pyctrl.apiserver._registry.job_validation", "validate_job_spec")
    schedule_error = lazy_function("pyctrl.apiserver._registry.cron_schedules", "schedule_error")

__all__ = ["RESOURCES"]

_ZONE = re.compile(r"[A-Za-z._0-9+-]{1,14}")

# -- Job -------------------------------------------------------------------------------------------------------


_IMMUTABLE = (("completionMode", ""), ("podFailurePolicy", "PodFailurePolicy"), ("backoffLimitPerIndex", ""))
_IMMUTABLE_LAST = (("managedBy", ""), ("successPolicy", "SuccessPolicy"))
_PODS_STAY = (
    "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set "
    "propagationPolicy=Orphan to suppress this warning"
)
_LABELS_OF_JOBS = ("controller-uid", "job-name", "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name")


def _default_job(obj: Object) -> None:
    """Fill a Job; its labels default to those of its pods."""
    _default_job_spec(obj["spec"])
    _label_job(obj, None)


def _default_job_spec(spec: Object) -> None:
    """Default to one completion and six retries."""
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec["completions"] = 1
    set_defaults(spec, parallelism=1, suspend=False)
    spec.setdefault("completionMode", "NonIndexed")
    set_defaults(spec, backoffLimit=2**31 - 1 if spec.get("backoffLimitPerIndex") is not None else 6)
    policy = spec.get("podFailurePolicy")
    spec.setdefault("podReplacementPolicy", "TerminatingOrFailed" if policy is None else "Failed")
    for rule in (policy or {}).get("rules") or ():
        for each in rule.get("onPodConditions") or ():
            set_defaults(each, status="True")
    spec.setdefault("manualSelector", False)
    default_template(spec["template"])


def _label_job(new: Object, _old: Object | None) -> None:
    """Set the labels of a Job without labels to those of its pods."""
    labels = new["spec"]["template"]["metadata"].get("labels")
    if labels and not new["metadata"].get("labels"):
        new["metadata"]["labels"] = labels  # shared, as upstream: the labels that the server generates are in both


def _prepare_job(new: Object, old: Object | None) -> None:
    """Generate the selector of a new Job and the labels of its pods, unless manualSelector is set."""
    spec = new["spec"]
    if old is not None:
        return
    if spec.get("manualSelector"):
        if not new["metadata"].get("labels") and (template_labels := spec["template"]["metadata"].get("labels")):
            new["metadata"]["labels"] = dict(template_labels)
        return
    uid, name = new["metadata"].get("uid", ""), new["metadata"].get("name", "")
    labels = spec["template"]["metadata"].setdefault("labels", {})
    for key in _LABELS_OF_JOBS:
        labels.setdefault(key, name if key.endswith("job-name") else uid)
    selector = spec.get("selector") or {}
    selector.setdefault("matchLabels", {}).setdefault("batch.kubernetes.io/controller-uid", uid)
    spec["selector"] = selector


def _validate_job(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check a Job; only a few fields of its spec may change."""
    yield from _generated_selector(new)
    yield from _job_spec(new["spec"])
    yield from _pod_hostnames(new)
    if old is not None:
        yield from validate_metadata_change(new["metadata"], old["metadata"])
        yield from _job_spec(new["spec"])  # as upstream, a second time
        yield from _validate_completions(new["spec"], old["spec"])
        yield from immutable_selector(new, old)
        yield from _template_change(new["spec"], old)
        for key, struct in (*_IMMUTABLE, *_IMMUTABLE_LAST):
            value = new["spec"].get(key)
            if value != old["spec"].get(key):
                yield invalid_value(f"spec.{key}", go_struct(struct, value) if struct else value, "field is immutable")


def _job_spec(spec: Mapping[str, JSON]) -> Iterator[FieldError]:
    yield from validate_job_spec(spec, "spec")
    selector = spec.get("selector")
    if selector is None:
        yield required("spec.selector")
    else:
        yield from validate_selector(selector, "spec.selector")
    labels = template_labels(spec["template"])
    if (selector is None or is_selector_valid(selector)) and not selector_matches(selector, labels):
        shown = go_value("map[string]string", labels)
        yield invalid_value("spec.template.metadata.labels", shown, "`selector` does not match template `labels`")


def _generated_selector(job: Object) -> Iterator[FieldError]:
    """Check that the selector and the labels of the template are those that the server generates."""
    spec, uid, name = job["spec"], job["metadata"].get("uid", ""), job["metadata"].get("name", "")
    if spec.get("manualSelector") or spec.get("selector") is None:
        return
    labels, wanted = template_labels(spec["template"]) or {}, {}
    for key in _LABELS_OF_JOBS:
        wanted[key] = name if key.endswith("job-name") else uid
        where = f"spec.template.metadata.labels[{key}]"
        if key not in labels:
            yield required(where, f"must be '{wanted[key]}'")
        elif labels[key] != wanted[key]:
            yield invalid_value(where, dict(sorted(labels.items())), f"must be '{wanted[key]}'")
    if is_selector_valid(spec["selector"]) and not selector_matches(spec["selector"], wanted):
        yield invalid_value("spec.selector", shown_selector(spec["selector"]), "`selector` not auto-generated")


def _pod_hostnames(job: Object) -> Iterator[FieldError]:
    spec, name = job["spec"], job["metadata"].get("name", "")
    completions = spec.get("completions") or 0
    if spec.get("completionMode") == "Indexed" and completions > 0:
        longest = f"{name}-{completions - 1}"
        if names.label(longest):
            yield invalid_value("metadata.name", name, f"will not able to create pod with invalid DNS label: {longest}")


def _template_change(spec: Mapping[str, JSON], old: Object) -> Iterator[FieldError]:
    """Check that the template does not change; that of a suspended Job may have other resources and node selectors."""
    before, after = copied(old["spec"]["template"]), spec["template"]
    is_suspended, status = bool(old["spec"].get("suspend")), old.get("status") or {}
    suspended = any(
        each.get("type") == "Suspended" and each.get("status") == "True" for each in status.get("conditions") or ()
    )
    is_mutable = is_suspended and (not status.get("startTime") or suspended) and not status.get("active")
    if is_mutable:
        _allow_scheduling(before, after)
    if is_suspended and is_mutable:
        if _with_resources(before["spec"], after["spec"]) != after["spec"]:
            yield invalid_value("spec.template.spec", go_struct("PodSpec", after["spec"]), "field is immutable")
    elif after != before:
        yield invalid_value("spec.template", go_struct("PodTemplateSpec", after), "field is immutable")


def _allow_scheduling(before: Object, after: Mapping[str, JSON]) -> None:
    new, old = after["spec"], before["spec"]
    affinity = {key: value for key, value in (old.get("affinity") or {}).items() if key != "nodeAffinity"}
    if (new.get("affinity") or {}).get("nodeAffinity") is not None:
        affinity["nodeAffinity"] = new["affinity"]["nodeAffinity"]
    if affinity or new.get("affinity") == {}:
        old["affinity"] = affinity
    else:
        old.pop("affinity", None)
    before["metadata"] = after["metadata"]
    for key in ("nodeSelector", "tolerations", "schedulingGates"):
        old.pop(key, None)
        if key in new:
            old[key] = new[key]


def _with_resources(before: Object, after: Mapping[str, JSON]) -> Object:
    for key in ("containers", "initContainers"):
        old, new = before.get(key) or (), after.get(key) or ()
        for was, now in zip(old, new, strict=False) if len(old) == len(new) else ():
            if was.get("name") == now.get("name"):
                was["resources"] = now.get("resources", {})
    return before


def _validate_completions(spec: Mapping[str, JSON], old: Mapping[str, JSON]) -> Iterator[FieldError]:
    """Check that completions change only for Indexed jobs, and only together with parallelism."""
    completions = spec.get("completions")
    if completions == old.get("completions"):
        return
    if spec.get("completionMode") != "Indexed":
        yield invalid_value("spec.completions", completions, "field is immutable")
    elif completions is not None and completions != spec.get("parallelism"):
        yield invalid_value("spec.completions", completions, "can only be modified in tandem with spec.parallelism")


def _job_warnings(new: Object) -> Iterator[str]:
    """Warn about a name that pods cannot have as their hostname, about very large Jobs, and about the template."""
    if "generation" in new["metadata"] and new["metadata"]["generation"] == 1:
        yield from hostname_warnings(new["metadata"])
    yield from warn_template(new)


def _job_cells(obj: Object) -> Cells:
    spec, status = spec_of(obj), status_of(obj)
    target, done = spec.get("completions"), status.get("succeeded", 0)
    parallel = spec.get("parallelism") or 0
    completions = (
        f"{done}/{target}" if target is not None else f"{done}/1 of {parallel}" if parallel > 1 else f"{done}/1"
    )
    duration = between(status.get("startTime"), status.get("completionTime")) if status.get("startTime") else ""
    return {
        "Status": _job_status(obj),
        "Completions": completions,
        "Duration": duration,
        "Selector": selector_of(spec.get("selector")),
        **containers_of(spec["template"]),
    }


def _job_status(obj: Object) -> str:
    true = [each["type"] for each in status_of(obj).get("conditions") or () if each.get("status") == "True"]
    for kind, shown in (("Complete", "Complete"), ("Failed", "Failed"), ("Suspended", "Suspended")):
        if kind in true:
            return shown
    if obj["metadata"].get("deletionTimestamp"):
        return "Terminating"
    return (
        "FailureTarget"
        if "FailureTarget" in true
        else "SuccessCriteriaMet"
        if "SuccessCriteriaMet" in true
        else "Running"
    )


# -- CronJob ---------------------------------------------------------------------------------------------------


def _default_cron_job(obj: Object) -> None:
    """Default to concurrent runs and a history of three successful jobs and one failed; fill the pod template only."""
    spec = obj["spec"]
    set_defaults(spec, concurrencyPolicy="Allow", suspend=False, successfulJobsHistoryLimit=3, failedJobsHistoryLimit=1)
    default_template(spec["jobTemplate"]["spec"]["template"])


def _prepare_cron_job(new: Object, _old: Object | None) -> None:
    drop_disabled_fields(new["spec"]["jobTemplate"]["spec"]["template"]["spec"])


def _validate_cron_job(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check a CronJob; its name leaves 11 characters for the names of its jobs."""
    spec = new["spec"]
    schedule = spec.get("schedule") or ""
    if not schedule:
        yield required("spec.schedule")
    else:
        yield from _schedule(schedule, spec.get("timeZone"), old)
    yield from not_negative(spec, "spec", "startingDeadlineSeconds")
    if spec.get("timeZone") is not None and (old is None or old["spec"].get("timeZone") != spec["timeZone"]):
        yield from _time_zone(spec["timeZone"], "spec.timeZone")
    if spec.get("concurrencyPolicy") not in ("Allow", "Forbid", "Replace"):
        yield not_supported("spec.concurrencyPolicy", spec.get("concurrencyPolicy"), ("Allow", "Forbid", "Replace"))
    job, path = spec["jobTemplate"]["spec"], "spec.jobTemplate.spec"
    yield from validate_job_spec(job, path)
    if job.get("selector") is not None:
        yield invalid_value(f"{path}.selector", shown_selector(job["selector"]), "`selector` will be auto-generated")
    if job.get("manualSelector"):
        yield not_supported(f"{path}.manualSelector", True, ("nil", "false"))
    yield from not_negative(spec, "spec", "successfulJobsHistoryLimit", "failedJobsHistoryLimit")
    name = new["metadata"].get("name", "")
    if old is None and len(name) > 52:
        yield invalid_value("metadata.name", name, "must be no more than 52 characters")


def _cron_job_warnings(new: Object) -> Iterator[str]:
    """Warn about a name that pods cannot have as their hostname, and about the template."""
    if new["metadata"].get("generation") == 1:
        yield from hostname_warnings(new["metadata"])
    yield from warnings_of_template(new["spec"]["jobTemplate"]["spec"]["template"], "spec.jobTemplate.spec.template")


def _schedule(schedule: str, zone: str | None, old: Object | None) -> Iterator[FieldError]:
    if why := schedule_error(schedule):
        yield invalid_value("spec.schedule", schedule, why)
    had_zone = old is not None and "TZ" in old["spec"].get("schedule", "")
    if "TZ" in schedule and not had_zone:
        why = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
        yield invalid_value("spec.schedule", schedule, why)
    elif "TZ" in schedule and zone is not None:
        yield invalid_value("spec.schedule", schedule, "cannot use both timeZone field and TZ or CRON_TZ in schedule")


def _time_zone(zone: str, path: str) -> Iterator[FieldError]:
    if not zone:
        yield invalid_value(path, zone, "timeZone must be nil or non-empty string")
        return
    if any(part in (".", "..") or part.startswith("-") or not _ZONE.fullmatch(part) for part in zone.split("/")):
        yield invalid_value(path, zone, f"unknown time zone {zone}")
        return
    if zone.lower() == "local":
        why = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
        yield invalid_value(path, zone, why)
    elif not _is_zone(zone):
        yield invalid_value(path, zone, f"unknown time zone {zone}")


def _is_zone(name: str) -> bool:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError  # here: slow to import, and few CronJobs have a time zone

    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


def _cron_job_cells(obj: Object) -> Cells:
    spec, status = spec_of(obj), status_of(obj)
    last = status.get("lastScheduleTime")
    return {
        "Schedule": spec.get("schedule", ""),
        "Timezone": spec.get("timeZone") or NONE,
        "Suspend": "True" if spec.get("suspend") else "False",
        "Active": len(status.get("active") or ()),
        "Last Schedule": age(last) if last else NONE,
        "Selector": selector_of(spec["jobTemplate"]["spec"].get("selector")),
        **containers_of(spec["jobTemplate"]["spec"]["template"]),
    }


RESOURCES: Final = (
    BuiltinResource(
        group="batch",
        kind="Job",
        strategy=Strategy(
            on_update=(MetadataCheck.WHOLE,),
            has_generation=True,
            garbage_collection=GarbageCollectionPolicy.ORPHAN_DEPENDENTS,
            delete_warning=_PODS_STAY,
            fields={"status.successful": SelectableField(("status.succeeded",), zero="0")},
            defaults=(_default_job,),
            prepares=(prepare_template, _prepare_job),
            validates=(_validate_job,),
            validates_status=(validate_job_status,),
            warns=_job_warnings,
            warns_on_update=generation_differs,
            allocates=(_label_job,),
        ),
        cells=_job_cells,
    ),
    BuiltinResource(
        group="batch",
        kind="CronJob",
        strategy=Strategy(
            has_generation=True,
            defaults=(_default_cron_job,),
            prepares=(_prepare_cron_job,),
            validates=(_validate_cron_job,),
            validates_status=(),
            warns=_cron_job_warnings,
            warns_on_update=generation_differs,
        ),
        cells=_cron_job_cells,
    ),
)
