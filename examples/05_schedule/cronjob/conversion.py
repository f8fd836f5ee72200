"""Conversion of CronJob between v1 and v2. Version v1 is the hub: it is stored, and can express all that v2 can."""

from __future__ import annotations

from pyctrl.webhook import Conversion, Spoke, same_fields

from . import v1, v2
from .schedule import InvalidSchedule, expanded

__all__ = ["CONVERSION"]


def v1_to_v2(old: v1.CronJob) -> v2.CronJob:
    """Split the schedule into its fields."""
    fields = expanded(old.spec.schedule).split()
    if len(fields) != 5:
        raise InvalidSchedule(f"spec.schedule {old.spec.schedule!r} has {len(fields)} fields; v2 needs five")
    minute, hour, day_of_month, month, day_of_week = fields
    schedule = v2.CronSchedule(
        minute=minute, hour=hour, day_of_month=day_of_month, month=month, day_of_week=day_of_week
    )
    return same_fields(old, v2.CronJob, without=["spec.schedule"], values={"spec.schedule": schedule})


def v2_to_v1(new: v2.CronJob) -> v1.CronJob:
    """Join the fields of the schedule."""
    parts = new.spec.schedule
    schedule = f"{parts.minute} {parts.hour} {parts.day_of_month} {parts.month} {parts.day_of_week}"
    return same_fields(new, v1.CronJob, without=["spec.schedule"], values={"spec.schedule": schedule})


CONVERSION = Conversion(v1.CronJob, Spoke(v2.CronJob, to_hub=v2_to_v1, from_hub=v1_to_v2))
