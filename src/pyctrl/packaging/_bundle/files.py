"""The files of a bundle, and the Dockerfile of its image."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyctrl.packaging._bundle.cluster_service_version import cluster_service_version, without_location
from pyctrl.packaging._bundle.publication import Publication
from pyctrl.packaging._bundle.release import Release, bundled
from pyctrl.packaging._bundle.scorecard import CONFIGURATION
from pyctrl.packaging._bundle.webhooks import service_name
from pyctrl.packaging._objects import rbac as rbac_objects
from pyctrl.packaging._objects import workload
from pyctrl.packaging._project import Project
from pyctrl.rbac import to_yaml

__all__ = ["ANNOTATIONS", "DOCKERFILE", "LABEL", "bundle"]

Object = dict[str, Any]

LABEL = "operators.operatorframework.io"
DOCKERFILE = "bundle.Dockerfile"
ANNOTATIONS = "metadata/annotations.yaml"
SCORECARD = "tests/scorecard/config.yaml"


def bundle(
    project: Project, publication: Publication, release: Release, *, directory: str = "bundle"
) -> dict[str, str]:
    """Return the texts of a bundle's files by their paths: below its directory, and `DOCKERFILE` next to it.

    The output is deterministic.

    Args:
        project: the program, as read by `read_bundled`.
        publication: the author's metadata.
        release: the release, completed by `release`.
        directory: the name of the directory, for the Dockerfile.

    Raises:
        CommandFailed: the program needs something that the Operator Lifecycle Manager does not support; the message
            says what.
    """
    csv = cluster_service_version(project, publication, release)
    objects = {f"{release.package}.clusterserviceversion.yaml": csv, **dict(_others(project))}
    texts = {f"manifests/{name}": _text(obj) for name, obj in objects.items()}
    labels = _labels(release)
    texts[ANNOTATIONS] = _text({"annotations": labels})
    texts[SCORECARD] = _text(CONFIGURATION)
    return {**dict(sorted(texts.items())), DOCKERFILE: _dockerfile(labels, directory)}


def _text(obj: Object) -> str:
    return to_yaml([obj]).removeprefix("---\n")


def _others(project: Project) -> Iterator[tuple[str, Object]]:
    """Yield the objects other than the ClusterServiceVersion, with the Operator SDK's file names."""
    for definition in project.definitions:
        spec = definition["spec"]
        yield f"{spec['group']}_{spec['names']['plural']}.yaml", _converted(project, definition)
    for obj in map(without_location, _installed(bundled(project))):
        group, _, version = obj["apiVersion"].rpartition("/")
        parts = (obj["metadata"]["name"], group, version, obj["kind"].lower())
        yield f"{'_'.join(part for part in parts if part)}.yaml", obj


def _converted(project: Project, definition: Object) -> Object:
    """Return a definition with the conversion Service that OLM creates. OLM adds its namespace and the CA bundle."""
    conversion = definition["spec"].get("conversion")
    if conversion is None:
        return definition
    webhook = conversion["webhook"]
    service = {**webhook["clientConfig"]["service"], "name": service_name(project)}
    converted = {**conversion, "webhook": {**webhook, "clientConfig": {"service": service}}}
    return {**definition, "spec": {**definition["spec"], "conversion": converted}}


def _installed(project: Project) -> Iterator[Object]:
    settings = project.settings
    for kind, *_ in project.kinds:
        yield from rbac_objects.kind_roles(project, kind).values()
    if settings.shards == "auto":
        yield workload.disruption_budget(project)
    if settings.metrics == "https":
        yield rbac_objects.metrics_reader(project)
    if settings.metrics != "off":
        yield workload.metrics_service(project)
        if settings.prometheus:
            yield workload.monitor(project)
        if settings.network_policy:
            yield workload.metrics_policy(project)
    if settings.network_policy and project.webhooks is not None:
        yield workload.webhook_policy(project)


# -- the image -------------------------------------------------------------------------------------------------------


def _labels(release: Release) -> dict[str, str]:
    """Return the labels of the image, which ``annotations.yaml`` repeats."""
    return {
        f"{LABEL}.bundle.mediatype.v1": "registry+v1",
        f"{LABEL}.bundle.manifests.v1": "manifests/",
        f"{LABEL}.bundle.metadata.v1": "metadata/",
        f"{LABEL}.bundle.package.v1": release.package,
        f"{LABEL}.bundle.channels.v1": ",".join(release.channels),
        f"{LABEL}.bundle.channel.default.v1": release.default_channel,
        f"{LABEL}.test.mediatype.v1": "scorecard+v1",
        f"{LABEL}.test.config.v1": "tests/scorecard/",
    }


def _dockerfile(labels: dict[str, str], directory: str) -> str:
    label_lines = "".join(f"LABEL {name}={value}\n" for name, value in labels.items())
    copied = "".join(f"COPY {directory}/{each} /{each}\n" for each in ("manifests/", "metadata/", "tests/scorecard/"))
    return f"FROM scratch\n\n{label_lines}\n{copied}"
