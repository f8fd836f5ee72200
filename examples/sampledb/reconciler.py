"""Reconciler of SampleDBs: sets up, runs, backs up and upgrades databases, and saves their data on deletion."""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import TypeVar

from pyctrl.api import (
    Condition,
    KubernetesObject,
    add_finalizer,
    controller_of,
    has_finalizer,
    is_controlled_by,
    is_deleting,
    now,
    remove_finalizer,
    set_condition,
)
from pyctrl.client import Preconditions, Propagation, merge_from
from pyctrl.controller import Builder, Controller, ManagedCluster, Reconciler, Request, Result
from pyctrl.errors import AlreadyExists, NotFound
from pyctrl.kinds.apps.v1 import StatefulSet
from pyctrl.kinds.batch.v1 import Job
from pyctrl.kinds.core.v1 import PersistentVolumeClaim, Secret, Service
from pyctrl.rbac import EVENTS, allow

from .api import SampleDB
from .parts import (
    backup_job_for,
    backup_volume_for,
    labels_for,
    secret_for,
    service_for,
    setup_job_for,
    snapshot_job_for,
    stateful_set_for,
)

__all__ = ["SampleDBReconciler", "add_sampledb"]

T = TypeVar("T", bound=KubernetesObject)

log = logging.getLogger("sampledb")

FINALIZER = "databases.example.com/snapshot"


class Waiting(Exception):
    """Raised when a step has to wait. The awaited object was read, so its change triggers another reconcile."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.condition = Condition(type="Ready", status="False", reason=reason, message=message)


class SampleDBReconciler(Reconciler[SampleDB]):
    """Performs the next step of each database, and reports the progress in its status."""

    rbac = (
        allow(Secret, "create"),
        allow(Service, "create", "patch"),
        allow(StatefulSet, "create", "patch", "delete"),
        allow(Job, "create", "delete"),
        allow(PersistentVolumeClaim, "create", "delete"),
        allow(SampleDB, "patch"),  # the finalizer
        allow(SampleDB, "patch", subresource="status"),
        # to set owner references where OwnerReferencesPermissionEnforcement is on, as in OpenShift
        allow(SampleDB, "update", subresource="finalizers", essential=False),
        EVENTS,
    )

    async def reconcile(self, request: Request) -> Result | None:
        """Perform the next step of a database."""
        found = await self.client.find(SampleDB, request.key)
        if found is None or (is_deleting(found) and not has_finalizer(found, FINALIZER)):
            return None
        if not is_deleting(found):
            found = await self.hold(found)
        database, result = found.deep_copy(), None
        try:
            if is_deleting(database):
                await self.let_go(database)
                return None
            await self.provide(database)
            await self.set_up(database)
            result = await self.back_up(database)
            ready = Condition(type="Ready", status="True", reason="Running", message="It takes connections.")
        except Waiting as waiting:
            ready = waiting.condition
        await self.report(found, database, ready)
        return result

    async def provide(self, database: SampleDB) -> None:
        """Create the objects of the database, and update them to the spec."""
        if database.status.version is None:
            with suppress(AlreadyExists):
                await self.client.create(secret_for(database))
        await self.once(backup_volume_for(database))
        await self.client.create_or_apply(service_for(database), force=True)  # reverts changes of others
        stateful_set = (await self.client.create_or_apply(stateful_set_for(database), force=True)).object
        if not is_rolled_out(stateful_set):
            ready, wanted = stateful_set.status.ready_replicas or 0, database.spec.replicas
            raise Waiting("Starting", f"{ready} of {wanted} pods are ready; they get version {database.spec.version}.")

    async def set_up(self, database: SampleDB) -> None:
        """Initialise the data, or upgrade it from an old version."""
        old, version = database.status.version, database.spec.version
        if old != version:
            await self.ended(setup_job_for(database), "Initializing" if old is None else "Upgrading")
            database.status.version = version
            done = f"initialized with {version}" if old is None else f"upgraded from {old} to {version}"
            self.recorder.normal(database, "SetUp", f"The database is {done}")

    async def back_up(self, database: SampleDB) -> Result:
        """Start a backup if it is due, report the previous one, and return the time of the next."""
        status, period = database.status, now() + database.spec.backup_every
        due = min(status.next_backup or period, period)
        if due <= now():
            await self.once(backup_job_for(database, due))
            due = period
        status.next_backup = due.replace(microsecond=0)
        where, labels = database.metadata.namespace, labels_for(database.metadata.name, "backup")
        jobs = [job for job in await self.client.list(Job, namespace=where, labels=labels) if not is_running(job)]
        if jobs:
            self.note_backup(database, max(jobs, key=lambda job: job.metadata.name))  # the name has the time
        return Result.after(due - now())

    def note_backup(self, database: SampleDB, job: Job) -> None:
        """Report the result of a backup in the status."""
        failure = failure_of(job)
        if failure is None:
            database.status.last_backup = job.status.completion_time
            backed_up = Condition(type="BackedUp", status="True", reason="Saved", message=f"By {job.metadata.name}.")
        else:
            backed_up = Condition(type="BackedUp", status="False", reason="BackupFailed", message=failure)
        if set_condition(database.status.conditions, backed_up) and failure is not None:
            self.recorder.warning(database, "BackupFailed", failure, related=job)

    async def let_go(self, database: SampleDB) -> None:
        """Stop a deleted database, save its data, delete its volumes, and remove the finalizer."""
        stateful_set = await self.client.find(StatefulSet, database.key)
        if stateful_set is not None and is_controlled_by(stateful_set, database):
            await self.delete(stateful_set, "Foreground")
            raise Waiting("Stopping", "Its pods have to end.")
        where, labels = database.metadata.namespace, labels_for(database.metadata.name, "data")
        volumes = await self.client.list(PersistentVolumeClaim, namespace=where, labels=labels)
        whole = sorted(volume.metadata.name for volume in volumes if not is_deleting(volume))
        if whole and database.status.version is not None and database.spec.snapshot_on_delete:
            await self.ended(snapshot_job_for(database, whole[0]), "TakingSnapshot")
            self.recorder.normal(database, "Saved", f"The data of {whole[0]} is saved")
        for volume in volumes:
            await self.delete(volume)
        if volumes:  # kept until the pods that use them are deleted, even finished ones
            job = await self.client.find(Job, snapshot_job_for(database, "").key)
            if job is not None:
                await self.delete(job)
            if left := await self.client.list(PersistentVolumeClaim, namespace=where, labels=labels):
                raise Waiting("DeletingVolumes", f"{len(left)} have to go.")
        before = database.deep_copy()
        remove_finalizer(database, FINALIZER)
        await self.client.patch(database, merge_from(before, optimistic_lock=True))

    async def once(self, wanted: T) -> T:
        """Create an object that is not updated later, unless it exists. Return it."""
        found = await self.client.find(type(wanted), wanted.key)
        if found is None:
            return await self.client.create(wanted)
        owners = controller_of(found), controller_of(wanted)
        if (
            len({owner and owner.uid for owner in owners}) > 1
        ):  # of another owner, or of an earlier database of this name
            raise Waiting("NameTaken", f"There is a {found.kind} {found.metadata.name} that is not ours.")
        return found

    async def ended(self, wanted: Job, reason: str) -> None:
        """Run a Job. Raises Waiting until it has succeeded, also after a failure until the Job is deleted."""
        job = await self.once(wanted)
        if failure := failure_of(job):
            raise Waiting(f"{reason}Failed", f"{failure} Delete the Job to have it tried again.")
        if is_running(job):
            raise Waiting(reason, f"Job {job.metadata.name} runs.")

    async def delete(self, obj: KubernetesObject, propagation: Propagation = "Background") -> None:
        """Delete this object, unless it is being deleted."""
        if not is_deleting(obj):
            with suppress(NotFound):
                precondition = Preconditions(uid=obj.metadata.uid)
                await self.client.delete(obj, propagation=propagation, preconditions=precondition)

    async def hold(self, database: SampleDB) -> SampleDB:
        """Add the finalizer to a database, before anything is created for it."""
        before = database.deep_copy()
        if add_finalizer(database, FINALIZER):
            return await self.client.patch(database, merge_from(before, optimistic_lock=True))
        return database

    async def report(self, before: SampleDB, database: SampleDB, ready: Condition) -> None:
        """Update the status, and record an Event for a new failure."""
        status = database.status
        is_news = set_condition(status.conditions, ready)
        status.observed_generation = database.metadata.generation
        if status != before.status:
            await self.client.status.patch(database, merge_from(before))
        if is_news and ready.reason.endswith("Failed"):
            self.recorder.warning(database, ready.reason, ready.message)


def is_rolled_out(stateful_set: StatefulSet) -> bool:
    """Return True if all pods are ready and up to date."""
    status, wanted = stateful_set.status, stateful_set.spec.replicas
    is_current = status.observed_generation == stateful_set.metadata.generation
    is_uniform = status.current_revision == status.update_revision
    return is_current and is_uniform and status.ready_replicas == status.replicas == wanted


def is_running(job: Job) -> bool:
    """Return True if a Job has neither completed nor failed."""
    return not any(each.type in ("Complete", "Failed") and each.status == "True" for each in job.status.conditions)


def failure_of(job: Job) -> str | None:
    """Return the message of a failed Job, or None."""
    messages = (each.message for each in job.status.conditions if each.type == "Failed" and each.status == "True")
    return next((f"Job {job.metadata.name} failed: {message}." for message in messages), None)


def add_sampledb(host: ManagedCluster) -> Controller:
    """Add the operator to a manager."""
    return (
        Builder(host)
        .reconciles(SampleDB)
        .owns(StatefulSet)
        .owns(Service)
        .reads(Job)  # not owned: some outlive their database
        .reads(PersistentVolumeClaim)
        .options(workers=4)
        .build(SampleDBReconciler())
    )
