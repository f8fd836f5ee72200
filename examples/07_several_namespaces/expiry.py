"""Expiry: deletes each ConfigMap when the time in its annotation has passed, in some namespaces only."""

from datetime import timedelta

from pyctrl import ObjectReconciler, Result, TerminalError, allow, now
from pyctrl.api import parse_duration
from pyctrl.kinds.core.v1 import ConfigMap

ANNOTATION = "example.com/expires-after"  # such as 10m or 1h30m


class ExpiryReconciler(ObjectReconciler[ConfigMap]):
    rbac = (allow(ConfigMap, "delete"),)

    async def reconcile_object(self, config_map: ConfigMap) -> Result | None:
        text, created = config_map.metadata.annotations.get(ANNOTATION), config_map.metadata.creation_timestamp
        if text is None or created is None:
            return None
        try:
            left = created + parse_duration(text) - now()
        except ValueError as error:
            raise TerminalError(f"{ANNOTATION}: {error}") from error  # no retry before the object changes
        if left > timedelta(0):
            return Result.after(left)
        await self.client.delete(config_map)
        return None
