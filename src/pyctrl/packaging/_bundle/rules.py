"""The rules for every bundle, which ``operator-sdk bundle validate`` applies by default."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from pyctrl.packaging._bundle.cluster_service_version import KIND
from pyctrl.packaging._bundle.contents import MANIFESTS, METADATA, BundleProblem, Contents
from pyctrl.packaging._bundle.files import ANNOTATIONS, LABEL
from pyctrl.packaging._bundle.release import SEMVER

__all__ = ["rule_problems"]

LARGEST = 1 << 20  # bytes, compressed: the limit of a ConfigMap, into which OLM unpacks a bundle
NEARLY = 0.85  # of the limit: warn from here

#: The kinds that a bundle may contain; OLM rejects a bundle with any other kind.
KINDS = frozenset(
    {
        "ClusterRole", "ClusterRoleBinding", KIND, "ConfigMap", "ConsoleCLIDownload", "ConsoleLink", "ConsolePlugin",
        "ConsoleQuickStart", "ConsoleYAMLSample", "CustomResourceDefinition", "NetworkPolicy", "PodDisruptionBudget",
        "PodMonitor", "PriorityClass", "PrometheusRule", "Role", "RoleBinding", "Secret", "Service", "ServiceAccount",
        "ServiceMonitor", "VerticalPodAutoscaler",
    }
)  # fmt: skip

_LABEL_VALUE = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_ANNOTATIONS = (
    "olm.operatorGroup", "olm.operatorNamespace", "olm.providedAPIs", "olm.skipRange", "olm.targetNamespaces",
)  # fmt: skip


def rule_problems(contents: Contents) -> Iterator[BundleProblem]:
    """Yield the problems of a bundle."""
    yield from _layout(contents)
    yield from _annotations(contents)
    yield from _dependencies(contents)
    yield from _objects(contents)
    yield from _size(contents)
    if contents.csv is None:
        return
    yield from _names(contents)
    yield from _examples(contents)
    yield from _install_modes(contents)
    yield from _kube_version(contents)
    yield from _owned(contents)
    yield from _accounts(contents)


def _error(source: str, message: str) -> BundleProblem:
    return BundleProblem("bundle", source, "", message)


def _layout(contents: Contents) -> Iterator[BundleProblem]:
    """Check the directory layout."""
    tops = {path.partition("/")[0] for path in contents.files if "/" in path}
    for directory in (MANIFESTS, METADATA):
        if directory not in tops:
            yield _error(directory, "the directory is missing or empty")
    for path in contents.files:
        top, _, rest = path.partition("/")
        if top == MANIFESTS and "/" in rest:
            yield _error(path, f"{MANIFESTS}/ must not have directories")
        elif top == MANIFESTS and rest.startswith("."):
            yield _error(path, f"{MANIFESTS}/ must not have hidden files")
    yield from contents.unread
    for source, count in contents.document_counts.items():
        yield _error(source, f"it has {count} objects, but only the first is read: write each into its own file")
    csvs = contents.of_kind(KIND)
    if len(csvs) != 1 and MANIFESTS in tops:
        files = f": {', '.join(each.source for each in csvs)}" if csvs else ""
        yield _error(MANIFESTS, f"expected one {KIND}; found {len(csvs) or 'none'}{files}")


def _annotations(contents: Contents) -> Iterator[BundleProblem]:
    """Check the annotations, which catalogs read."""
    if contents.annotations is None:
        yield _error(ANNOTATIONS, "the file is missing, or has no annotations")
        return
    source, found = contents.annotations
    for name in (name for name, value in found.items() if not isinstance(value, str)):
        yield BundleProblem("bundle", source, name, f"expected a string; got {found[name]!r}")
    for key in ("mediatype.v1", "manifests.v1", "metadata.v1", "package.v1", "channels.v1"):
        name = f"{LABEL}.bundle.{key}"
        if name not in found:
            yield BundleProblem("bundle", source, "annotations", f"{name} is missing")
    media = found.get(f"{LABEL}.bundle.mediatype.v1", "registry+v1")
    if media != "registry+v1":
        yield BundleProblem("bundle", source, f"{LABEL}.bundle.mediatype.v1", f"expected registry+v1; got {media!r}")
    for key in ("channels.v1", "channel.default.v1"):
        name = f"{LABEL}.bundle.{key}"
        if name in found and not found[name]:
            yield BundleProblem("bundle", source, name, "expected a channel; it is empty")


#: The types of dependencies, and their required fields.
_NEEDS = {
    "olm.gvk": ("group", "version", "kind"),
    "olm.package": ("packageName", "version"),
    "olm.label": ("label",),
    "olm.constraint": (),
}


def _dependencies(contents: Contents) -> Iterator[BundleProblem]:
    """Check the dependencies on other bundles."""
    if contents.dependencies is None:
        return
    source, found = contents.dependencies
    for number, each in enumerate(found["dependencies"]):
        path = f"dependencies[{number}]"
        kind, value = (each.get("type"), each.get("value")) if isinstance(each, dict) else (None, None)
        if kind not in _NEEDS:
            text = f"expected one of {', '.join(_NEEDS)}; got {kind!r}"
            yield BundleProblem("bundle", source, f"{path}.type", text)
        elif not isinstance(value, dict):
            yield BundleProblem("bundle", source, f"{path}.value", "expected an object")
        else:
            lacking = [key for key in _NEEDS[kind] if not value.get(key)]
            yield from (BundleProblem("bundle", source, f"{path}.value.{key}", "it is required") for key in lacking)


def _objects(contents: Contents) -> Iterator[BundleProblem]:
    """Check that the kinds are allowed in a bundle, and that no object has a namespace."""
    for document in contents.documents:
        kind, metadata = document.obj.get("kind"), document.obj.get("metadata")
        if kind not in KINDS:
            yield _error(
                document.source, f"a bundle cannot contain a {kind}; it may contain {', '.join(sorted(KINDS))}"
            )
        elif not isinstance(metadata, dict) or not metadata.get("name"):
            yield BundleProblem("bundle", document.source, "metadata.name", "a name is required")
        elif kind != KIND and metadata.get("namespace"):
            text = "OLM chooses the namespace: remove it"
            yield BundleProblem("bundle", document.source, "metadata.namespace", text)


def _size(contents: Contents) -> Iterator[BundleProblem]:
    packed = sum(len(base64.b64encode(gzip.compress(data))) for data in contents.files.values())
    if packed > NEARLY * LARGEST:
        text = f"the compressed bundle has {packed} bytes; OLM accepts at most {LARGEST}"
        yield BundleProblem("bundle", MANIFESTS, "", text, packed <= LARGEST)


# -- the ClusterServiceVersion ---------------------------------------------------------------------------------------


def _names(contents: Contents) -> Iterator[BundleProblem]:
    assert contents.csv is not None  # checked by `rule_problems`
    metadata = contents.csv.obj.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    for path, value in (("metadata.name", name), ("spec.replaces", contents.spec("replaces"))):
        if isinstance(value, str) and value and not (_SUBDOMAIN.fullmatch(value) and _LABEL_VALUE.fullmatch(value)):
            text = "expected at most 63 lower-case letters, digits, '-' and '.', such as podset.v0.1.0"
            yield contents.csv_error(path, f"{text}; got {value!r}", suite="bundle")
    for key in contents.csv_annotations():
        meant = next((each for each in _ANNOTATIONS if each.lower() == key.lower()), key)
        if meant != key:
            yield contents.csv_error("metadata.annotations", f"{key} is spelt {meant}", suite="bundle")
        if key == "olm.properties":
            text = f"{key} belongs in metadata/properties.yaml"
            yield contents.csv_error("metadata.annotations", text, suite="bundle", warn=True)
    for keys in (("displayName",), ("install", "strategy")):
        if contents.spec(*keys) == "":
            yield contents.csv_error(f"spec.{'.'.join(keys)}", "it is required, but empty", suite="bundle")


def _examples(contents: Contents) -> Iterator[BundleProblem]:
    """Check that there is an example of each provided kind, and of no other kind."""
    path, annotations = "metadata.annotations.alm-examples", contents.csv_annotations()
    text = annotations.get("alm-examples", annotations.get("olm.examples"))
    if text is None:
        yield contents.csv_error(path, "there are no example objects", suite="bundle", warn=True)
        return
    try:
        listed = json.loads(text or "[]")
    except (TypeError, ValueError) as error:
        yield contents.csv_error(path, f"expected a JSON list of objects: {error}", suite="bundle")
        return
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        yield contents.csv_error(path, "expected a JSON list of objects", suite="bundle")
        return
    shown = {(str(each.get("apiVersion")), str(each.get("kind"))) for each in listed}
    provided = _provided(contents)
    for version, kind in sorted(shown - provided):
        text = f"there is an example of {version}, {kind}, which the operator does not provide"
        yield contents.csv_error(path, text, suite="bundle")
    for version, kind in sorted(provided - shown):
        yield contents.csv_error(path, f"there is no example of {version}, {kind}", suite="bundle", warn=True)


def _provided(contents: Contents) -> set[tuple[str, str]]:
    apis = contents.spec("apiservicedefinitions", "owned") or []
    served = {(f"{each.get('group')}/{each.get('version')}", str(each.get("kind"))) for each in apis}
    return served | {(f"{group}/{version}", kind) for group, version, kind in map(_gvk, contents.owned())}


def _gvk(owned: Mapping[str, Any]) -> tuple[str, str, str]:
    name = str(owned.get("name"))
    return name.partition(".")[2] or name, str(owned.get("version")), str(owned.get("kind"))


def _install_modes(contents: Contents) -> Iterator[BundleProblem]:
    path = "spec.installModes"
    modes = [each for each in contents.spec("installModes") or () if isinstance(each, dict)]
    supported = {str(each.get("type")) for each in modes if each.get("supported")}
    if not modes:
        yield contents.csv_error(path, "there are no install modes", suite="bundle")
        return
    for mode, count in Counter(str(each.get("type")) for each in modes).items():
        if count > 1:
            yield contents.csv_error(path, f"{mode} is listed {count} times", suite="bundle")
    if not supported:
        yield contents.csv_error(
            path, "no install mode is supported: the operator could not be installed", suite="bundle"
        )
    webhooks = contents.spec("webhookdefinitions") or ()
    converts = any(isinstance(each, dict) and each.get("conversionCRDs") for each in webhooks)
    if converts and supported != {"AllNamespaces"}:
        text = "with conversionCRDs, only AllNamespaces may be supported"
        yield contents.csv_error(path, text, suite="bundle")


def _kube_version(contents: Contents) -> Iterator[BundleProblem]:
    path, found = "spec.minKubeVersion", contents.spec("minKubeVersion")
    if not found:
        text = "it is not set: the operator could be installed in clusters of any version"
        yield contents.csv_error(path, text, suite="bundle", warn=True)
    elif not SEMVER.fullmatch(str(found)):
        yield contents.csv_error(path, f"expected a version, such as 1.30.0; got {found!r}", suite="bundle")


# -- consistency -----------------------------------------------------------------------------------------------------


def _owned(contents: Contents) -> Iterator[BundleProblem]:
    """Check that the CustomResourceDefinitions and the owned descriptions are of the same kinds."""
    path = "spec.customresourcedefinitions.owned"
    found = [key for _, each in contents.definitions() for key in _versions(each)]
    owned = {_gvk(each) for each in contents.owned()}
    for key, count in Counter(found).items():
        if count > 1:
            yield _error(MANIFESTS, f"{_describe_gvk(key)} is defined {count} times")
    for key in sorted(owned - set(found)):
        yield contents.csv_error(path, f"{_describe_gvk(key)} is not defined in {MANIFESTS}/", suite="bundle")
    known = {(group, kind) for group, _, kind in owned & set(found)}
    for key in sorted(set(found) - owned):
        if (key[0], key[2]) not in known:
            yield contents.csv_error(path, f"{_describe_gvk(key)} is defined, but not listed here", suite="bundle")


def _versions(definition: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    spec = definition.get("spec") or {}
    kind = (spec.get("names") or {}).get("kind")
    for version in spec.get("versions") or [{"name": spec.get("version")}]:
        yield str(spec.get("group")), str(version.get("name")), str(kind)


def _describe_gvk(key: tuple[str, str, str]) -> str:
    group, version, kind = key
    return f"{group}/{version}, {kind}"


def _accounts(contents: Contents) -> Iterator[BundleProblem]:
    """Check that the bundle does not contain the service account that OLM creates."""
    deployments = contents.spec("install", "spec", "deployments") or ()
    names = {_account(each) for each in deployments if isinstance(each, dict)}
    for document in contents.of_kind("ServiceAccount"):
        if document.obj["metadata"].get("name") in names:
            text = "OLM creates this service account from the ClusterServiceVersion: remove the file"
            yield BundleProblem("bundle", document.source, "metadata.name", text)


def _account(deployment: Mapping[str, Any]) -> Any:
    found: Any = deployment
    for key in ("spec", "template", "spec", "serviceAccountName"):
        found = found.get(key) if isinstance(found, dict) else None
    return found
