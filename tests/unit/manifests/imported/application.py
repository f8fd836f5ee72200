"""Classes of applications.argoproj.io.

Written by `pyctrl crd import` from the definition.
"""

from typing import Annotated, Any

from pyctrl.api import CustomResource, Int64, IntOrString, Model, PreserveUnknownFields, PrinterColumn, Time
from pydantic import Field

__all__ = [
    "Application",
    "ApplicationAutomated",
    "ApplicationBackoff",
    "ApplicationComparedTo",
    "ApplicationDestination",
    "ApplicationDirectory",
    "ApplicationExtVar",
    "ApplicationHealth",
    "ApplicationHelm",
    "ApplicationHistory",
    "ApplicationIgnoreDifference",
    "ApplicationInfo",
    "ApplicationInitiatedBy",
    "ApplicationJsonnet",
    "ApplicationKustomize",
    "ApplicationOperation",
    "ApplicationParameter",
    "ApplicationReplica",
    "ApplicationResource",
    "ApplicationRetry",
    "ApplicationSource",
    "ApplicationSpec",
    "ApplicationStatus",
    "ApplicationSync",
    "ApplicationSyncPolicy",
]


class ApplicationDestination(Model):
    name: str | None = None
    namespace: str | None = None
    server: str | None = None


class ApplicationIgnoreDifference(Model):
    kind: str
    group: str | None = None
    jq_path_expressions: list[str] = Field(default_factory=list)
    json_pointers: list[str] = Field(default_factory=list)


class ApplicationInfo(Model):
    name: str
    value: str


class ApplicationExtVar(Model):
    name: str
    value: str
    code: bool | None = None


class ApplicationJsonnet(Model):
    ext_vars: list[ApplicationExtVar] = Field(default_factory=list)
    libs: list[str] = Field(default_factory=list)


class ApplicationDirectory(Model):
    exclude: str | None = None
    jsonnet: ApplicationJsonnet | None = None
    recurse: bool | None = None


class ApplicationParameter(Model):
    force_string: bool | None = None
    name: str | None = None
    value: str | None = None


class ApplicationHelm(Model):
    parameters: list[ApplicationParameter] = Field(default_factory=list)
    release_name: str | None = None
    values_object: Annotated[dict[str, Any], PreserveUnknownFields()] = Field(default_factory=dict)


class ApplicationReplica(Model):
    count: IntOrString
    name: str


class ApplicationKustomize(Model):
    common_labels: dict[str, str] = Field(default_factory=dict)
    images: list[str] = Field(default_factory=list)
    replicas: list[ApplicationReplica] = Field(default_factory=list)


class ApplicationSource(Model):
    """Where it is written down."""

    repo_url: str = Field(validation_alias="repoURL", serialization_alias="repoURL")

    chart: str | None = None

    directory: ApplicationDirectory | None = None

    helm: ApplicationHelm | None = None

    kustomize: ApplicationKustomize | None = None

    path: str | None = None

    target_revision: str | None = None


class ApplicationAutomated(Model):
    allow_empty: bool | None = None
    prune: bool | None = None
    self_heal: bool | None = None


class ApplicationSyncPolicy(Model):
    automated: ApplicationAutomated | None = None
    sync_options: list[str] = Field(default_factory=list)


class ApplicationSpec(Model):
    destination: ApplicationDestination
    project: str
    ignore_differences: list[ApplicationIgnoreDifference] = Field(default_factory=list)
    info: list[ApplicationInfo] = Field(default_factory=list)
    revision_history_limit: Int64 | None = None
    source: ApplicationSource | None = None
    sources: list[ApplicationSource] = Field(default_factory=list)
    sync_policy: ApplicationSyncPolicy | None = None


class ApplicationHealth(Model):
    last_transition_time: Time | None = None
    status: str | None = None


class ApplicationHistory(Model):
    deployed_at: Time
    id: Int64
    revision: str | None = None
    source: ApplicationSource | None = None


class ApplicationResource(Model):
    group: str | None = None
    kind: str | None = None
    live_state: Annotated[Any | None, PreserveUnknownFields()] = None
    requires_pruning: bool | None = None


class ApplicationComparedTo(Model):
    destination: ApplicationDestination
    source: ApplicationSource | None = None


class ApplicationSync(Model):
    status: str
    compared_to: ApplicationComparedTo | None = None


class ApplicationStatus(Model):
    health: ApplicationHealth | None = None
    history: list[ApplicationHistory] = Field(default_factory=list)
    resources: list[ApplicationResource] = Field(default_factory=list)
    sync: ApplicationSync | None = None


class ApplicationInitiatedBy(Model):
    automated: bool | None = None
    username: str | None = None


class ApplicationBackoff(Model):
    duration: str | None = None
    factor: Int64 | None = None
    max_duration: str | None = None


class ApplicationRetry(Model):
    backoff: ApplicationBackoff | None = None
    limit: Int64 | None = None


class ApplicationOperation(Model):
    """What is being done now."""

    info: list[ApplicationInfo] = Field(default_factory=list)

    initiated_by: ApplicationInitiatedBy | None = None

    retry: ApplicationRetry | None = None


class Application(
    CustomResource[ApplicationSpec, ApplicationStatus],
    group="argoproj.io",
    version="v1alpha1",
    short_names=("app", "apps"),
    subresources=(),
    columns=(
        PrinterColumn("Sync Status", ".status.sync.status", type="string"),
        PrinterColumn("Health Status", ".status.health.status", type="string"),
    ),
):
    """An Application is what a repository says a cluster shall have."""

    operation: ApplicationOperation | None = None
