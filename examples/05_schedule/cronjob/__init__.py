"""CronJob operator: starts Jobs on a schedule. What is imported here is what `pyctrl` runs."""

from .conversion import CONVERSION
from .reconciler import CronJobReconciler
from .webhooks import CronJobWebhook

__all__ = ["CONVERSION", "CronJobReconciler", "CronJobWebhook"]
