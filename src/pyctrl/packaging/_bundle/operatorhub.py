"""The rules of operatorhub.io for bundles, and good practices."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from pyctrl.packaging._bundle.contents import BundleProblem, Contents
from pyctrl.packaging._bundle.files import LABEL
from pyctrl.packaging._bundle.publication import MEDIA_TYPES
from pyctrl.packaging._bundle.release import SEMVER

__all__ = ["good_practices", "operatorhub"]

CAPABILITIES = ("Basic Install", "Seamless Upgrades", "Full Lifecycle", "Deep Insights", "Auto Pilot")

CATEGORIES = frozenset(
    {
        "AI/Machine Learning", "Application Runtime", "Big Data", "Cloud Provider", "Database", "Developer Tools",
        "Integration & Delivery", "Logging & Tracing", "Modernization & Migration", "Monitoring", "Networking",
        "Observability", "OpenShift Optional", "Security", "Storage", "Streaming & Messaging",
    }
)  # fmt: skip

CHANNELS = ("candidate", "fast", "stable")

#: API versions that were removed from Kubernetes, with the release that removed them.
REMOVED = {
    ("apiextensions.k8s.io/v1beta1", "CustomResourceDefinition"): "1.22",
    ("rbac.authorization.k8s.io/v1beta1", "ClusterRole"): "1.22",
    ("rbac.authorization.k8s.io/v1beta1", "ClusterRoleBinding"): "1.22",
    ("rbac.authorization.k8s.io/v1beta1", "Role"): "1.22",
    ("rbac.authorization.k8s.io/v1beta1", "RoleBinding"): "1.22",
    ("scheduling.k8s.io/v1beta1", "PriorityClass"): "1.22",
    ("policy/v1beta1", "PodDisruptionBudget"): "1.25",
}

_ADDRESS = re.compile(r"[^@\s<>]+@[^@\s<>]+")


def operatorhub(contents: Contents) -> Iterator[BundleProblem]:
    """Yield the problems that operatorhub.io rejects or warns about."""
    annotations = contents.csv_annotations()
    if not str((contents.spec("provider") or {}).get("name") or "").strip():
        yield _hub(contents, "spec.provider.name", "expected the name of the publisher")
    if not SEMVER.fullmatch(str(contents.spec("version") or "")):
        yield _hub(contents, "spec.version", "expected a semantic version, such as 0.1.0")
    yield from _people(contents)
    yield from _icon(contents)
    level = annotations.get("capabilities")
    if level is not None and level not in CAPABILITIES:
        text = f"expected one of {', '.join(CAPABILITIES)}; got {level!r}"
        yield _hub(contents, "metadata.annotations.capabilities", text)
    categories = annotations.get("categories")
    for name in (each.strip() for each in categories.split(",")) if isinstance(categories, str) else ():
        if name not in CATEGORIES:
            text = f"{name!r} is not a category; there are {', '.join(sorted(CATEGORIES))}"
            yield _hub(contents, "metadata.annotations.categories", text)
    for document in contents.documents:
        kind = (str(document.obj.get("apiVersion")), str(document.obj.get("kind")))
        if since := REMOVED.get(kind):
            yield BundleProblem("operatorhub", document.source, "apiVersion", f"Kubernetes {since} removed {kind[0]}")


def _hub(contents: Contents, path: str, message: str, *, warn: bool = False) -> BundleProblem:
    return contents.csv_error(path, message, suite="operatorhub", warn=warn)


def _people(contents: Contents) -> Iterator[BundleProblem]:
    for number, each in enumerate(contents.spec("maintainers") or ()):
        path = f"spec.maintainers[{number}]"
        if not each.get("name") or not each.get("email"):
            yield _hub(contents, path, "expected name and email")
        elif not _ADDRESS.fullmatch(each["email"]):
            yield _hub(contents, f"{path}.email", f"expected an email address; got {each['email']!r}")
    for number, each in enumerate(contents.spec("links") or ()):
        path = f"spec.links[{number}]"
        if not each.get("name") or not each.get("url"):
            yield _hub(contents, path, "expected name and url")
        elif not (urlsplit(each["url"]).scheme or each["url"].startswith("/")):
            yield _hub(contents, f"{path}.url", f"expected a URL; got {each['url']!r}")


def _icon(contents: Contents) -> Iterator[BundleProblem]:
    icons = contents.spec("icon")
    if not icons:
        yield _hub(contents, "spec.icon", "there is no icon", warn=True)
        return
    if len(icons) > 1:
        yield _hub(contents, "spec.icon", f"expected one icon; there are {len(icons)}")
    media = icons[0].get("mediatype")
    if not icons[0].get("base64data") or not media:
        yield _hub(contents, "spec.icon[0]", "expected base64data and mediatype")
    if media and media not in MEDIA_TYPES.values():
        known = ", ".join(sorted(set(MEDIA_TYPES.values())))
        yield _hub(contents, "spec.icon[0].mediatype", f"expected one of {known}; got {media!r}")


# -- good practices --------------------------------------------------------------------------------------------------


def good_practices(contents: Contents) -> Iterator[BundleProblem]:
    """Yield violations of good practices."""
    deployments = contents.spec("install", "spec", "deployments")
    if not deployments:
        yield _advice(contents, "spec.install.spec.deployments", "there are no deployments: nothing would be installed")
    for number, deployment in enumerate(deployments or ()):
        for each in _at(deployment, "spec", "template", "spec", "containers") or ():
            if not _at(each, "resources", "requests"):
                text = f"container {each.get('name')} has no resource requests"
                yield _advice(contents, f"spec.install.spec.deployments[{number}]", text)
    for part in ("owned", "required"):
        for each in contents.spec("customresourcedefinitions", part) or ():
            if not each.get("description"):
                text = f"{each.get('name')} has no description"
                yield _advice(contents, f"spec.customresourcedefinitions.{part}", text)
    yield from _channels(contents)
    yield from _makes_definitions(contents)
    name = _name(contents)
    if name.count(".v") != 1 or not SEMVER.fullmatch(name.partition(".v")[2]):
        yield _advice(contents, "metadata.name", f"expected NAME.vVERSION, such as podset.v0.1.0; got {name!r}")


def _advice(contents: Contents, path: str, message: str) -> BundleProblem:
    return contents.csv_error(path, message, suite="good-practices", warn=True)


def _at(obj: Any, *keys: str) -> Any:
    for key in keys:
        obj = obj.get(key) if isinstance(obj, dict) else None
    return obj


def _name(contents: Contents) -> str:
    assert contents.csv is not None  # checked by `check_bundle`
    return str(_at(contents.csv.obj, "metadata", "name"))


def _channels(contents: Contents) -> Iterator[BundleProblem]:
    if contents.annotations is None:
        return
    source, found = contents.annotations
    labels = (f"{LABEL}.bundle.channels.v1", f"{LABEL}.bundle.channel.default.v1")
    names = [name.strip() for label in labels for name in str(found.get(label) or "").split(",")]
    for name in dict.fromkeys(names):
        if name and not name.startswith(CHANNELS):
            text = f"{name!r}: channel names begin with {', '.join(CHANNELS)} by convention"
            yield BundleProblem("good-practices", source, f"{LABEL}.bundle.channels.v1", text, is_warning=True)


def _makes_definitions(contents: Contents) -> Iterator[BundleProblem]:
    for part in ("clusterPermissions", "permissions"):
        rules = [rule for each in contents.spec("install", "spec", part) or () for rule in each.get("rules") or ()]
        for rule in rules:
            makes = {"create", "patch", "*"} & set(rule.get("verbs") or ())
            resources = {"customresourcedefinitions", "*"} & set(rule.get("resources") or ())
            if makes and resources and "apiextensions.k8s.io" in (rule.get("apiGroups") or ()):
                text = "CustomResourceDefinitions are installed by the Operator Lifecycle Manager, not by operators"
                yield _advice(contents, f"spec.install.spec.{part}", text)
                return
