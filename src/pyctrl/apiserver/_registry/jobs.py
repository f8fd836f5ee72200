"""Jobs and CronJobs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from pyctrl._go.durations import age, between
from pyctrl.apiserver._errors import FieldError, invalid_value, not_supported, required
from pyctrl.apiserver._meta.validation import MetadataCheck
from pyctrl.apiserver._registry._pods.defaults import default_template
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.field_validation import not_negative
from pyctrl.apiserver._registry.pod_templates import validate_template
from pyctrl.apiserver._registry.strategy import Object, SelectableField, Strategy
from pyctrl.apiserver._registry.table_cells import NONE, Cells, containers_of, selector_of, spec_of, status_of
from pyctrl.apiserver._schema.defaulting import set_defaults
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["RESOURCES"]

# -- Job -------------------------------------------------------------------------------------------------------


_IMMUTABLE_OF_JOBS = (
    "selector",
    "template",
    "completionMode",
    "podFailurePolicy",
    "backoffLimitPerIndex",
    "managedBy",
    "successPolicy",
)


def _default_job(obj: Object) -> None:
    """Fill a Job; its labels default to those of its pods."""
    _default_job_spec(obj["spec"])
    _label_job(obj, None)


def _default_job_spec(spec: Object) -> None:
    """Default to one completion and six retries."""
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec["completions"] = 1
    set_defaults(spec, parallelism=1, completionMode="NonIndexed", suspend=False)
    set_defaults(spec, backoffLimit=2**31 - 1 if spec.get("backoffLimitPerIndex") is not None else 6)
    set_defaults(spec, podReplacementPolicy="Failed" if spec.get("podFailurePolicy") else "TerminatingOrFailed")
    spec.setdefault("manualSelector", False)
    default_template(spec["template"])


def _label_job(new: Object, _old: Object | None) -> None:
    """Set the labels of a Job without labels to those of its pods."""
    labels = new["spec"]["template"]["metadata"].get("labels")
    if labels and not new["metadata"].get("labels"):
        new["metadata"]["labels"] = dict(labels)


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
    for key, value in (
        ("batch.kubernetes.io/controller-uid", uid),
        ("batch.kubernetes.io/job-name", name),
        ("controller-uid", uid),
        ("job-name", name),
    ):
        labels[key] = value
    spec["selector"] = {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}


def _validate_job(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check a Job; its template does not change."""
    spec = new["spec"]
    yield from _validate_job_spec(spec, "spec")
    if spec.get("selector") is None:
        yield required("spec.selector")
    if old is not None:
        yield from _validate_completions(spec, old["spec"])
        for key in _IMMUTABLE_OF_JOBS:
            if spec.get(key) != old["spec"].get(key) and not (key == "template" and old["spec"].get("suspend")):
                yield invalid_value(f"spec.{key}", spec.get(key), "field is immutable")


def _validate_completions(spec: Mapping[str, JSON], old: Mapping[str, JSON]) -> Iterator[FieldError]:
    """Check that completions change only for Indexed jobs, and only together with parallelism."""
    completions = spec.get("completions")
    if completions == old.get("completions"):
        return
    if spec.get("completionMode") != "Indexed":
        yield invalid_value("spec.completions", completions, "field is immutable")
    elif completions is not None and completions != spec.get("parallelism"):
        yield invalid_value("spec.completions", completions, "can only be modified in tandem with spec.parallelism")


def _validate_job_spec(spec: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    keys = ("parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished")
    for key in keys:
        if isinstance(spec.get(key), int) and spec[key] < 0:
            yield invalid_value(f"{path}.{key}", spec[key], "must be greater than or equal to 0")
    yield from validate_template(spec["template"], f"{path}.template")
    policy = spec["template"]["spec"].get("restartPolicy")
    if policy not in ("OnFailure", "Never"):
        yield required(f"{path}.template.spec.restartPolicy", 'valid values: "OnFailure", "Never"')
    if spec.get("completionMode") not in (None, "NonIndexed", "Indexed"):
        yield not_supported(f"{path}.completionMode", spec["completionMode"], ("NonIndexed", "Indexed"))


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


def _validate_cron_job(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check a CronJob; its name leaves 11 characters for the names of its jobs."""
    spec = new["spec"]
    name = new["metadata"].get("name", "")
    if len(name) > 52:
        yield invalid_value("metadata.name", name, "must be no more than 52 characters")
    schedule = spec.get("schedule", "")
    if not schedule:
        yield required("spec.schedule")
    elif len(schedule.split()) != 5 and not schedule.startswith("@"):
        why = f"expected exactly 5 fields, found {len(schedule.split())}: [{' '.join(schedule.split())}]"
        yield invalid_value("spec.schedule", schedule, why)
    yield from not_negative(
        spec, "spec", "startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"
    )
    if spec.get("concurrencyPolicy") not in ("Allow", "Forbid", "Replace"):
        yield not_supported("spec.concurrencyPolicy", spec.get("concurrencyPolicy"), ("Allow", "Forbid", "Replace"))
    yield from _validate_job_spec(spec["jobTemplate"]["spec"], "spec.jobTemplate.spec")


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
            on_update=(MetadataCheck.WHOLE, MetadataCheck.CHANGE),
            has_generation=True,
            fields={"status.successful": SelectableField(("status.succeeded",), zero="0")},
            defaults=(_default_job,),
            prepares=(_prepare_job,),
            validates=(_validate_job,),
            allocates=(_label_job,),
        ),
        cells=_job_cells,
    ),
    BuiltinResource(
        group="batch",
        kind="CronJob",
        strategy=Strategy(has_generation=True, defaults=(_default_cron_job,), validates=(_validate_cron_job,)),
        cells=_cron_job_cells,
    ),
)
