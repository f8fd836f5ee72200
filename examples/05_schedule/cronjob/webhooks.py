"""Webhooks of CronJob: what a schema cannot default or validate."""

from __future__ import annotations

from pyctrl.errors import Rejected
from pyctrl.webhook import AdmissionRequest, Defaulter, FieldError, Validator

from .schedule import InvalidSchedule, check, expanded
from .v1 import CronJob

__all__ = ["CronJobWebhook"]


class CronJobWebhook(Defaulter[CronJob], Validator[CronJob]):
    """Completes and validates CronJobs. The API server converts those of v2 to v1 before it calls this."""

    def default(self, obj: CronJob, request: AdmissionRequest) -> None:
        """Expand names such as ``@daily``, and set the restart policy, which a Job must have."""
        obj.spec.schedule = expanded(obj.spec.schedule)
        pod = obj.spec.job_template.spec.template.spec
        pod.restart_policy = pod.restart_policy or "OnFailure"

    def validate_create(self, obj: CronJob, request: AdmissionRequest) -> None:
        """Reject a schedule that is invalid, or that never comes."""
        try:
            check(obj.spec.schedule)
        except InvalidSchedule as error:
            raise Rejected(FieldError.invalid("spec.schedule", obj.spec.schedule, str(error))) from error

    def validate_update(self, old: CronJob, new: CronJob, request: AdmissionRequest) -> None:
        """Validate a schedule that changes. An object that was stored without this webhook stays editable."""
        if new.spec.schedule != old.spec.schedule:
            self.validate_create(new, request)
