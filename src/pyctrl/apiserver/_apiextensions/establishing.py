"""Controller of stored definitions: establishes and serves them, and deletes their objects before they are deleted.

kube-apiserver has several controllers for this. Here it runs right after the request that caused it, in the same
iteration of the event loop, so that clients see the same steps (created, then established) without a delay.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyctrl.apiserver._apiextensions.custom_type import CustomResourceType, served_types
from pyctrl.apiserver._apiextensions.definitions import (
    CLEANUP_FINALIZER,
    deletion_completed,
    deletion_in_progress,
    is_established,
    updated_status,
)
from pyctrl.apiserver._apiextensions.naming import GroupNames
from pyctrl.apiserver._endpoints.backend import RESTStorage
from pyctrl.apiserver._endpoints.graceful_deletion import before_delete
from pyctrl.apiserver._fieldmanager.managed_fields import update_managed_fields
from pyctrl.apiserver._request.options import DeleteOptions
from pyctrl.apiserver._resources.deletion_strategy import DeletionOutcome
from pyctrl.apiserver._resources.served_resources import DEFINITIONS
from pyctrl.apiserver._storage.storage import StoredObject, WatchCacheEvent
from pyctrl.errors import StorageError

__all__ = ["EstablishingController"]


_GROUP, _VERSION, _PLURAL = DEFINITIONS


class EstablishingController:
    """Reconciles the served resources with the stored definitions."""

    def __init__(self, backend: RESTStorage) -> None:
        self._backend = backend
        self._definitions = backend.storage.collection(_GROUP, _PLURAL)
        self._definitions.listen(self._changed)
        self._due: list[str] = []
        self._names = GroupNames()
        self._terminating: set[str] = set()

    def _changed(self, event: WatchCacheEvent) -> None:
        if event.current is not None:
            self._due += (*self._names.put(event.current.name, event.current.data), event.current.name)
        elif event.previous is not None:
            self._terminating.discard(event.previous.name)
            self._backend.registry.remove(event.previous.name)
            spec = event.previous.decode()["spec"]
            self._due += self._names.remove(event.previous.name, spec["group"])
            self._backend.storage.collection(spec["group"], spec["names"]["plural"]).end_watches()

    def resume(self) -> None:
        """Serve the definitions that the storage loaded. Those that were established have their names first."""
        self._due.sort(key=self._is_established)  # taken from the end
        self.sync()

    def _is_established(self, name: str) -> bool:
        stored = self._definitions.find("", name)
        return stored is not None and is_established(stored.decode())

    def sync(self) -> None:
        """Reconcile changed definitions, and those whose deletion waits for their objects.

        Raises:
            StorageError: The storage refused a write. The next call continues.
        """
        self._sync_due()
        for name in sorted(self._terminating) if self._terminating else ():
            stored = self._definitions.find("", name)
            if stored is not None:
                self._remove_finalizer(stored)
        if self._due:
            self._sync_due()  # those that waited for a name of a definition that is gone now

    def _sync_due(self) -> None:
        while self._due:
            name = self._due.pop()
            stored = self._definitions.find("", name)
            try:
                if stored is not None:
                    self._sync_definition(stored)
            except StorageError:
                self._due.append(name)
                raise

    def _sync_definition(self, stored: StoredObject) -> None:
        definition = stored.decode()
        if "deletionTimestamp" in definition["metadata"]:
            if is_established(definition) and not self._backend.registry.installed(stored.name):
                self._serve(definition)  # it was terminating when the server stopped
            self._delete_objects(stored, definition)
            return
        updated = updated_status(definition, self._names.others(stored.name, definition["spec"]["group"]))
        if updated is not None:
            if is_established(updated) and not is_established(definition):
                self._start_history(definition["spec"])
            definition = updated
            self._put(definition)
        if is_established(definition):
            self._serve(definition)

    def _start_history(self, spec: Mapping[str, Any]) -> None:
        """Refuse watches at versions before the resource was served: upstream's watch cache begins here, too."""
        collection = self._backend.storage.collection(spec["group"], spec["names"]["plural"])
        collection.watched_from = self._backend.storage.version

    def _serve(self, definition: dict[str, Any]) -> None:
        registry = self._backend.registry
        registry.replace(definition["metadata"]["name"], served_types(definition, registry.components))

    def _put_deleting(self, definition: dict[str, Any]) -> None:
        """Write that the objects of a definition are being deleted."""
        in_progress = deletion_in_progress(definition)
        if in_progress is not None:
            self._put(in_progress)

    def _put(self, definition: dict[str, Any]) -> None:
        resource, name = self._backend.registry.require(*DEFINITIONS), definition["metadata"]["name"]
        stored = self._definitions.find("", name)
        if stored is not None:
            update_managed_fields(
                definition,
                stored.decode(),
                manager="kube-apiserver",
                operation="Update",
                api_version=resource.api_version,
                subresource="status",
                type=resource,
            )
        self._backend.put(definition, resource)
        self._due.remove(name)  # the controller's own write needs no reconcile

    def _delete_objects(self, stored: StoredObject, definition: Mapping[str, Any]) -> None:
        """Delete all objects of a terminating definition; those with finalizers block its deletion."""
        if CLEANUP_FINALIZER not in (definition["metadata"].get("finalizers") or ()):
            return
        types = self._backend.registry.installed(stored.name) or self._unserved_types(definition)
        if types:
            for type_ in types:
                type_.is_terminating = True
            objects = self._backend.collection(types[0])
            for each in objects.current(""):
                obj = each.decode()
                outcome = before_delete(obj, types[0], DeleteOptions())
                if outcome is DeletionOutcome.GONE:
                    objects.remove(each)
                elif "deletionTimestamp" not in each.decode()["metadata"]:
                    objects.put(obj, None)
            if len(objects):
                self._put_deleting(stored.decode())
        self._terminating.add(stored.name)

    def _unserved_types(self, definition: Mapping[str, Any]) -> tuple[CustomResourceType, ...]:
        """Return the types of a definition that serves no version now, but may have objects."""
        spec = definition["spec"]
        versions = [{**each, "served": True} for each in spec["versions"]]
        all_served = {**definition, "spec": {**spec, "versions": versions}}
        return served_types(all_served, self._backend.registry.components)

    def _remove_finalizer(self, stored: StoredObject) -> None:
        """Remove the finalizer of a definition without objects; without other finalizers, delete it."""
        spec = stored.decode()["spec"]
        if len(self._backend.storage.collection(spec["group"], spec["names"]["plural"])):
            return
        definition = stored.decode()
        metadata = definition["metadata"]
        metadata["finalizers"] = [each for each in metadata.get("finalizers") or () if each != CLEANUP_FINALIZER]
        self._terminating.discard(stored.name)
        if metadata["finalizers"]:
            deletion_completed(definition)
            self._put(definition)
        else:
            self._definitions.remove(stored)
