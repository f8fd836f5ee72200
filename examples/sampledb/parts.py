"""The objects of a SampleDB: a Secret, a Service, a StatefulSet, volumes, and Jobs. No I/O."""

from __future__ import annotations

import secrets
from datetime import datetime
from typing import Any, TypeVar

from pyctrl.api import KubernetesObject, ObjectMeta, Quantity, set_controller_reference
from pyctrl.kinds.apps.v1 import StatefulSet, StatefulSetSpec
from pyctrl.kinds.batch.v1 import Job, JobSpec
from pyctrl.kinds.core.v1 import (
    Container,
    ContainerPort,
    EnvFromSource,
    PersistentVolumeClaim,
    PersistentVolumeClaimSpec,
    PersistentVolumeClaimVolumeSource,
    PodSpec,
    PodTemplateSpec,
    Secret,
    SecretEnvSource,
    Service,
    ServicePort,
    ServiceSpec,
    Volume,
    VolumeMount,
    VolumeResourceRequirements,
)
from pyctrl.kinds.meta.v1 import LabelSelector

from .api import SampleDB

__all__ = [
    "backup_job_for",
    "backup_volume_for",
    "labels_for",
    "secret_for",
    "service_for",
    "setup_job_for",
    "snapshot_job_for",
    "stateful_set_for",
]

T = TypeVar("T", bound=KubernetesObject)

PORT = 5432
DAY = 24 * 3600  # seconds; finished Jobs are kept this long for their logs


def labels_for(name: str, part: str) -> dict[str, str]:
    """Return the labels of one part of a database."""
    labels = {"app.kubernetes.io/name": "sampledb", "app.kubernetes.io/instance": name}
    return labels | {"app.kubernetes.io/component": part}


def secret_for(database: SampleDB) -> Secret:
    """Return the Secret with the login of pods and Jobs. It cannot be recreated: the data has the password."""
    login = {
        "SAMPLEDB_HOST": f"{database.metadata.name}.{database.metadata.namespace}.svc",
        "SAMPLEDB_USER": "admin",
        "SAMPLEDB_PASSWORD": secrets.token_urlsafe(24),
    }
    return _owned(database, Secret(metadata=_meta(database, "credentials", name=_login(database)), string_data=login))


def service_for(database: SampleDB) -> Service:
    """Return the headless Service of the pods."""
    name = database.metadata.name
    spec = ServiceSpec(cluster_ip="None", selector=labels_for(name, "data"), ports=[ServicePort(name="db", port=PORT)])
    return _owned(database, Service(metadata=_meta(database, "data", name=name), spec=spec))


def stateful_set_for(database: SampleDB) -> StatefulSet:
    """Return the StatefulSet, whose pods have a volume each."""
    labels = labels_for(database.metadata.name, "data")
    container = _container(
        database, "serve", ports=[ContainerPort(name="db", container_port=PORT)], mounts={"data": "/var/lib/sampledb"}
    )
    spec = StatefulSetSpec(
        replicas=database.spec.replicas,
        service_name=database.metadata.name,
        selector=LabelSelector(match_labels=labels),
        template=PodTemplateSpec(metadata=ObjectMeta(labels=labels), spec=PodSpec(containers=[container])),
        volume_claim_templates=[
            PersistentVolumeClaim(metadata=ObjectMeta(name="data", labels=labels), spec=_volume_spec(database))
        ],
    )
    return _owned(database, StatefulSet(metadata=_meta(database, "data", name=database.metadata.name), spec=spec))


def backup_volume_for(database: SampleDB) -> PersistentVolumeClaim:
    """Return the volume claim of backups and snapshots. It has no owner, so it outlives the database."""
    return PersistentVolumeClaim(metadata=_meta(database, "backups"), spec=_volume_spec(database))


def setup_job_for(database: SampleDB) -> Job:
    """Return the Job that initialises a new database, or upgrades its data to the specified version."""
    version = database.status.version
    command = ["init"] if version is None else ["upgrade", f"--from={version}"]
    container = _container(database, *command)
    return _owned(database, _job(database, "setup", str(database.spec.version), container))


def backup_job_for(database: SampleDB, due: datetime) -> Job:
    """Return the backup Job of a time, which is in its name, so that there is one for each time."""
    container = _container(database, "backup", f"--to=/backups/{due:%Y%m%d%H%M%S}", mounts={"backups": "/backups"})
    return _owned(database, _job(database, "backup", f"{due:%Y%m%d%H%M%S}", container, backups=_backups(database)))


def snapshot_job_for(database: SampleDB, data: str) -> Job:
    """Return the Job that saves a volume after its pod is gone.

    It has no owner: ``kubectl delete --cascade=foreground`` would delete an owned Job while it runs.
    """
    mounts = {"data": "/var/lib/sampledb", "backups": "/backups"}
    container = _container(database, "snapshot", f"--to=/backups/{database.metadata.uid}", mounts=mounts, login=False)
    uid = database.metadata.uid[:8]  # a later database of this name has its own snapshot
    return _job(database, "snapshot", uid, container, data=data, backups=_backups(database))


def _owned(database: SampleDB, obj: T) -> T:
    set_controller_reference(database, obj)
    return obj


def _container(
    database: SampleDB, *command: str, mounts: dict[str, str] | None = None, login: bool = True, **fields: Any
) -> Container:
    source = EnvFromSource(secret_ref=SecretEnvSource(name=_login(database)))
    return Container(
        name="sampledb",
        image=f"sampledb.example.com/sampledb:{database.spec.version}",
        args=list(command),
        env_from=[source] if login else [],
        volume_mounts=[VolumeMount(name=name, mount_path=path) for name, path in (mounts or {}).items()],
        **fields,
    )


def _job(database: SampleDB, part: str, suffix: str, container: Container, **claims: str) -> Job:
    """Return a Job, whose pods the Service does not select."""
    volumes = [
        Volume(name=name, persistent_volume_claim=PersistentVolumeClaimVolumeSource(claim_name=claim))
        for name, claim in claims.items()
    ]
    pod = PodSpec(containers=[container], restart_policy="Never", volumes=volumes)
    meta = ObjectMeta(labels=labels_for(database.metadata.name, part))
    spec = JobSpec(backoff_limit=2, ttl_seconds_after_finished=DAY, template=PodTemplateSpec(metadata=meta, spec=pod))
    return Job(metadata=_meta(database, part, name=f"{database.metadata.name}-{part}-{suffix}"), spec=spec)


def _login(database: SampleDB) -> str:
    """Return the name of the login, which a later database of this name does not use."""
    return f"{database.metadata.name}-credentials-{database.metadata.uid[:8]}"


def _backups(database: SampleDB) -> str:
    return backup_volume_for(database).metadata.name


def _volume_spec(database: SampleDB) -> PersistentVolumeClaimSpec:
    return PersistentVolumeClaimSpec(
        access_modes=["ReadWriteOnce"],
        resources=VolumeResourceRequirements(requests={"storage": Quantity(database.spec.storage)}),
        storage_class_name=database.spec.storage_class or None,
    )


def _meta(database: SampleDB, part: str, *, name: str = "") -> ObjectMeta:
    own = database.metadata
    return ObjectMeta(name=name or f"{own.name}-{part}", namespace=own.namespace, labels=labels_for(own.name, part))
