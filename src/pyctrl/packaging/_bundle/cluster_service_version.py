"""The ClusterServiceVersion of a bundle: its metadata and its install strategy."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pyctrl.api import AccessRule
from pyctrl.errors import CommandFailed
from pyctrl.packaging._bundle.kinds import display_name, examples, owned, required
from pyctrl.packaging._bundle.publication import INSTALL_MODES, Publication
from pyctrl.packaging._bundle.release import Release, bundled, install_modes
from pyctrl.packaging._bundle.webhooks import converted, webhook_definitions
from pyctrl.packaging._objects import rbac as rbac_objects
from pyctrl.packaging._objects import workload
from pyctrl.packaging._project import Project
from pyctrl.rbac import normalise

__all__ = ["API_VERSION", "KIND", "cluster_service_version", "without_location"]

Object = dict[str, Any]

API_VERSION, KIND = "operators.coreos.com/v1alpha1", "ClusterServiceVersion"

INSTANCE = "app.kubernetes.io/instance"
MANAGED_BY = "app.kubernetes.io/managed-by"
TARGETS = "metadata.annotations['olm.targetNamespaces']"  # of the pod; empty for all namespaces
RELATED = "RELATED_IMAGE_"  # the Operator SDK's prefix of environment variables that name related images
MOUNTED = "webhook-certs"  # the volume of certificates, which OLM mounts itself


def cluster_service_version(project: Project, publication: Publication, release: Release) -> Object:
    """Return the ClusterServiceVersion of a program that `read_bundled` has read.

    Raises:
        CommandFailed: the program needs something that the Operator Lifecycle Manager does not support; the message
            says what.
    """
    spec: Object = {
        "displayName": publication.display_name or display_name(project.name),
        "description": publication.description or _described(project),
        "version": release.version,
        "maturity": publication.maturity,
        "minKubeVersion": publication.min_kube_version,
        **_edges(release),
        **_people(publication),
        "installModes": _install_modes(project, publication),
        "customresourcedefinitions": _filled({"owned": owned(project), "required": required(project)}),
        "webhookdefinitions": webhook_definitions(project),
        "install": {"strategy": "deployment", "spec": _strategy(project, publication)},
        "relatedImages": _images(project),
    }
    metadata = {
        "name": release.name,
        "annotations": _annotations(project, publication, release),
        "labels": {f"operatorframework.io/arch.{each}": "supported" for each in sorted(publication.architectures)},
    }
    return {"apiVersion": API_VERSION, "kind": KIND, "metadata": _filled(metadata), "spec": _filled(spec)}


def _filled(values: Object) -> Object:
    return {key: value for key, value in values.items() if value}


def without_location(obj: Object) -> Object:
    """Return an object without its namespace and the labels of its installation, which OLM sets."""
    metadata = {key: value for key, value in obj["metadata"].items() if key != "namespace"}
    metadata["labels"] = _labels(metadata.get("labels", {}))
    return {**obj, "metadata": _filled(metadata)}


def _labels(labels: Object) -> Object:
    return {key: value for key, value in labels.items() if key not in {INSTANCE, MANAGED_BY}}


# -- metadata --------------------------------------------------------------------------------------------------------


def _described(project: Project) -> str:
    return "\n".join(each["description"] for each in owned(project))


def _annotations(project: Project, publication: Publication, release: Release) -> Object:
    found = {
        "alm-examples": examples(project),
        "capabilities": publication.capabilities,
        "categories": ",".join(publication.categories),
        "containerImage": project.settings.image,
        "olm.skipRange": release.skip_range,
        "operatorframework.io/suggested-namespace": project.namespace,
        "operators.operatorframework.io/builder": "pyctrl",
        "operators.operatorframework.io/project_layout": "pyctrl",
        **publication.annotations,
    }
    return _filled(dict(sorted(found.items())))


def _edges(release: Release) -> Object:
    replaces = release.named(release.replaces) if release.replaces else ""
    return {"replaces": replaces, "skips": [release.named(each) for each in release.skips]}


def _people(publication: Publication) -> Object:
    provider, icon = publication.provider, publication.icon_data()
    return {
        "icon": [icon] if icon else [],
        "keywords": list(publication.keywords),
        "links": [{"name": name, "url": url} for name, url in publication.links.items()],
        "maintainers": [{"name": each.name, "email": each.email} for each in publication.maintainers],
        "provider": _filled({"name": provider.name, "url": provider.url}) if provider else {},
    }


def _images(project: Project) -> list[Object]:
    further = {
        name.removeprefix(RELATED).lower(): image
        for name, image in sorted(project.settings.env.items())
        if name.startswith(RELATED)
    }
    return [{"name": name, "image": image} for name, image in {"manager": project.settings.image, **further}.items()]


# -- install strategy ------------------------------------------------------------------------------------------------


def _install_modes(project: Project, publication: Publication) -> list[Object]:
    modes = install_modes(publication, project.settings)
    if converted(project) and modes != ("AllNamespaces",):
        fix = (
            f"[tool.pyctrl.bundle] install-modes, which has {', '.join(modes)}"
            if publication.install_modes
            else f"[tool.pyctrl] watch-namespaces, from which the install modes {', '.join(modes)} follow"
        )
        raise CommandFailed(
            "the program has conversion webhooks, for which the Operator Lifecycle Manager supports only the install "
            f"mode AllNamespaces; remove {fix}"
        )
    return [{"type": each, "supported": each in modes} for each in INSTALL_MODES]


def _strategy(project: Project, publication: Publication) -> Object:
    account = project.account.name
    cluster, own = _rules(project)
    return _filled(
        {
            "clusterPermissions": [{"serviceAccountName": account, "rules": cluster}] if cluster else [],
            "permissions": [{"serviceAccountName": account, "rules": own}] if own else [],
            "deployments": [_deployment(project, publication)],
        }
    )


def _rules(project: Project) -> tuple[list[Object], list[Object]]:
    """Return the rules for all namespaces, and those for the target namespaces only.

    OLM grants the latter in the operator's own namespace, too. It cannot grant permissions in other namespaces: rules
    for a namespace that the program names are granted in all namespaces.
    """
    grants = project.grants.rules
    cluster = [rule for namespace, rules in grants.items() if namespace != project.namespace for rule in rules]
    if project.settings.metrics == "https":
        cluster += [*rbac_objects.METRICS_RULES]
    own = [*grants.get(project.namespace, ()), *rbac_objects.election_rules(project)]
    return _wire(cluster), _wire(own)


def _wire(rules: Iterable[AccessRule]) -> list[Object]:
    return [rule.to_wire() for rule in normalise(rules)]


def _deployment(project: Project, publication: Publication) -> Object:
    made = workload.deployment(bundled(project))
    spec, labels = made["spec"], _labels(made["metadata"]["labels"])
    template = spec["template"]
    template["metadata"]["labels"] = _labels(template["metadata"]["labels"])
    pod = template["spec"]
    (container,) = pod["containers"]
    pod["volumes"] = [each for each in pod["volumes"] if each["name"] != MOUNTED]
    container["volumeMounts"] = [each for each in container["volumeMounts"] if each["name"] != MOUNTED]
    if install_modes(publication, project.settings) != ("AllNamespaces",):
        target_namespaces = {"name": "WATCH_NAMESPACE", "valueFrom": {"fieldRef": {"fieldPath": TARGETS}}}
        container["env"] = [
            *(each for each in container.get("env", ()) if each["name"] != target_namespaces["name"]),
            target_namespaces,
        ]
    return {"name": project.account.name, "label": labels, "spec": spec}
