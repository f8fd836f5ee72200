"""Bundles, and mistakes in them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from pyctrl.packaging import Link, Publication, Release, Settings, bundle, read_bundled, release

CSV = "manifests/widgets.clusterserviceversion.yaml"
CRD = "manifests/example.com_widgets.yaml"
SERVICE = "manifests/widgets-controller-manager-metrics-service_v1_service.yaml"
ANNOTATIONS = "metadata/annotations.yaml"
LABEL = "operators.operatorframework.io.bundle"

COMPLETE = Publication(
    provider=Link(name="Example"), min_kube_version="1.30.0", categories=("Developer Tools",), architectures=("amd64",)
)

Files = dict[str, bytes]


async def bundle_of(
    folder: Path, text: str, publication: Publication = COMPLETE, wanted: Release | None = None, **settings: Any
) -> dict[str, str]:
    """Return the bundle of a program that is written into a folder."""
    file = folder / f"bundled_{len(text)}.py"  # a module is imported once, by its name
    file.write_text(text)
    found = Settings(program=str(file), name="widgets", **settings)
    wanted = wanted or Release(version="0.1.0")
    project = await read_bundled(found, publication, wanted.version)
    return bundle(project, publication, release(publication, wanted, name=project.name))


def encoded(texts: dict[str, str]) -> Files:
    """Return the files of a bundle as on disk."""
    return {path: text.encode() for path, text in texts.items() if path != "bundle.Dockerfile"}


class Mistake(NamedTuple):
    """A broken rule: the change that breaks it, and words of the message."""

    name: str
    make: Callable[[Files], None]
    told: str
    is_warning: bool = False


def _edit(path: str, change: Callable[[Any], None]) -> Callable[[Files], None]:
    def make(files: Files) -> None:
        obj = yaml.safe_load(files[path])
        change(obj)
        files[path] = json.dumps(obj).encode()  # JSON is YAML, and quicker

    return make


def _csv(change: Callable[[Any], None]) -> Callable[[Files], None]:
    return _edit(CSV, change)


def _spec(**fields: Any) -> Callable[[Files], None]:
    return _csv(lambda csv: csv["spec"].update(fields))


def _annotated(**fields: Any) -> Callable[[Files], None]:
    return _csv(lambda csv: csv["metadata"]["annotations"].update(fields))


def _without(path: str) -> Callable[[Files], None]:
    def make(files: Files) -> None:
        for each in [each for each in files if each.startswith(path)]:
            del files[each]

    return make


def _with(path: str, text: str) -> Callable[[Files], None]:
    return lambda files: files.update({path: text.encode()})


def _label(name: str, value: str | None) -> Callable[[Files], None]:
    def change(obj: Any) -> None:
        obj["annotations"].pop(f"{LABEL}.{name}")
        if value is not None:
            obj["annotations"][f"{LABEL}.{name}"] = value

    return _edit(ANNOTATIONS, change)


def _duplicate(files: Files) -> None:
    files["manifests/again.yaml"] = files[CRD]


def _depends(kind: str, value: Any) -> Callable[[Files], None]:
    return _with("metadata/dependencies.yaml", json.dumps({"dependencies": [{"type": kind, "value": value}]}))


def _modes(**supported: bool) -> Callable[[Files], None]:
    return _spec(installModes=[{"type": mode, "supported": value} for mode, value in supported.items()])


_ACCOUNT = "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: widgets-controller-manager\n"
_POD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec: {containers: [{name: web, image: web}]}\n"
_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n"
_OTHER = json.dumps([{"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {"name": "one"}}])
_CONVERSION = {
    "type": "ConversionWebhook", "generateName": "convert.widgets", "sideEffects": "None",
    "admissionReviewVersions": ["v1"], "conversionCRDs": ["widgets.example.com"],
}  # fmt: skip

#: Also rejected by ``operator-sdk bundle validate``.
MISTAKES = (
    Mistake("no manifests", _without("manifests/"), "manifests: the directory is missing or empty"),
    Mistake("no metadata", _without("metadata/"), "metadata: the directory is missing or empty"),
    Mistake(
        "no annotations", _edit(ANNOTATIONS, dict.clear), "annotations.yaml: the file is missing, or has no annotations"
    ),
    Mistake("no package", _label("package.v1", None), f"annotations: {LABEL}.package.v1 is missing"),
    Mistake("no channels", _label("channels.v1", ""), f"{LABEL}.channels.v1: expected a channel"),
    Mistake("no default channel", _label("channel.default.v1", ""), "channel.default.v1: expected a channel"),
    Mistake(
        "annotation",
        _edit(ANNOTATIONS, lambda obj: obj["annotations"].update(more=["a"])),
        "more: expected a string",
    ),
    Mistake("dependency", _depends("olm.pod", {}), "dependencies[0].type: expected one of olm.gvk, olm.package"),
    Mistake("half a dependency", _depends("olm.package", {"packageName": "etcd"}), "[0].value.version: it is required"),
    Mistake("media type", _label("mediatype.v1", "plain"), "expected registry+v1; got 'plain'"),
    Mistake("no CSV", _without(CSV), "expected one ClusterServiceVersion; found none"),
    Mistake(
        "two CSVs",
        lambda files: files.update({"manifests/b.yaml": files[CSV]}),
        "expected one ClusterServiceVersion; found 2: ",
    ),
    Mistake("no YAML", _with("manifests/bad.yaml", "a: [1"), "manifests/bad.yaml: cannot be read: yaml: line 1"),
    Mistake("directory", _with("manifests/more/a.yaml", _ACCOUNT), "manifests/ must not have directories"),
    Mistake("hidden file", _with("manifests/.index", ""), "manifests/ must not have hidden files"),
    Mistake(
        "kind", _with("manifests/pod.yaml", _POD), "manifests/pod.yaml: a bundle cannot contain a Pod; it may contain"
    ),
    Mistake(
        "namespace",
        _edit(SERVICE, lambda obj: obj["metadata"].update(namespace="default")),
        "metadata.namespace: OLM chooses the namespace",
    ),
    Mistake(
        "no name", _edit(SERVICE, lambda obj: obj["metadata"].pop("name")), "metadata.name: Required value: name or"
    ),
    Mistake("account", _with("manifests/sa.yaml", _ACCOUNT), "OLM creates this service account"),
    Mistake("name", _csv(lambda csv: csv["metadata"].update(name="Widgets_1")), "metadata.name: "),
    Mistake(
        "long name",
        _csv(lambda csv: csv["metadata"].update(name=f"{'w' * 60}.v1.0.0")),
        "metadata.name: expected at most 63 lower-case letters",
    ),
    Mistake("replaces", _spec(replaces="Widgets!"), "spec.replaces: expected at most 63"),
    Mistake("no display name", _csv(lambda csv: csv["spec"].pop("displayName")), "spec.displayName: Required value"),
    Mistake("empty display name", _spec(displayName=""), "spec.displayName: it is required, but empty"),
    Mistake("no install", _csv(lambda csv: csv["spec"].pop("install")), "spec.install: Required value"),
    Mistake(
        "no deployments",
        _csv(lambda csv: csv["spec"]["install"]["spec"].pop("deployments")),
        "spec.install.spec.deployments: Required value",
    ),
    Mistake("type", _spec(keywords="a,b"), "spec.keywords: Invalid value"),
    Mistake(
        "no API version",
        _csv(lambda csv: csv.pop("apiVersion")),
        "apiVersion: expected operators.coreos.com/v1alpha1",
    ),
    Mistake("no JSON", _annotated(**{"alm-examples": "[{"}), "alm-examples: expected a JSON list of objects"),
    Mistake("alien example", _annotated(**{"alm-examples": _OTHER}), "an example of example.com/v1, Gadget"),
    Mistake("case", _annotated(**{"olm.skiprange": "<1.0.0"}), "olm.skiprange is spelt olm.skipRange"),
    Mistake("no modes", _spec(installModes=[]), "spec.installModes: there are no install modes"),
    Mistake("no supported mode", _modes(AllNamespaces=False), "spec.installModes: no install mode is supported"),
    Mistake(
        "conversion in some namespaces",
        _spec(installModes=[{"type": "OwnNamespace", "supported": True}], webhookdefinitions=[_CONVERSION]),
        "with conversionCRDs, only AllNamespaces may be supported",
    ),
    Mistake("Kubernetes", _spec(minKubeVersion="1.30"), "spec.minKubeVersion: expected a version, such as 1.30.0"),
    Mistake("no definition", _without(CRD), "example.com/v1, Widget is not defined in manifests/"),
    Mistake("not owned", _spec(customresourcedefinitions={}), "example.com/v1, Widget is defined, but not listed here"),
    Mistake("defined twice", _duplicate, "example.com/v1, Widget is defined 2 times"),
    Mistake(
        "definition",
        _edit(CRD, lambda crd: crd["spec"].update(scope="Everywhere")),
        'spec.scope: Unsupported value: "Everywhere"',
    ),
)

#: Accepted by it, but rejected by OLM or the API server; it ignores the second object of a file.
MISSED = (
    Mistake(
        "the same mode twice",
        _spec(installModes=[{"type": "AllNamespaces", "supported": True}] * 2),
        "spec.installModes: AllNamespaces is listed 2 times",
    ),
    Mistake("two objects", _with("manifests/a.yaml", f"{_MAP}---\n{_MAP}"), "it has 2 objects, but only the first"),
    Mistake(
        "version of a CSV", _csv(lambda csv: csv.update(apiVersion="v1")), "expected operators.coreos.com/v1alpha1"
    ),
)

#: Rejected by operatorhub.io.
HUB_MISTAKES = (
    Mistake(
        "provider",
        _csv(lambda csv: csv["spec"].pop("provider")),
        "spec.provider.name: expected the name of the publisher",
    ),
    Mistake("version", _csv(lambda csv: csv["spec"].pop("version")), "spec.version: expected a semantic version"),
    Mistake("maintainer", _spec(maintainers=[{"name": "Jane"}]), "spec.maintainers[0]: expected name and email"),
    Mistake("address", _spec(maintainers=[{"name": "Jane", "email": "jane"}]), "expected an email address; got 'jane'"),
    Mistake("link", _spec(links=[{"name": "Home"}]), "spec.links[0]: expected name and url"),
    Mistake("URL", _spec(links=[{"name": "Home", "url": "home"}]), "spec.links[0].url: expected a URL"),
    Mistake("level", _annotated(capabilities="Expert"), "one of Basic Install, Seamless Upgrades"),
    Mistake("category", _annotated(categories="Security,Games"), "categories: 'Games' is not a category; there are"),
    Mistake("icons", _spec(icon=[{"base64data": "aa==", "mediatype": "image/png"}] * 2), "there are 2"),
    Mistake("icon", _spec(icon=[{"base64data": "", "mediatype": ""}]), "expected base64data and mediatype"),
    Mistake("media", _spec(icon=[{"base64data": "aa==", "mediatype": "image/bmp"}]), "one of image/gif, image/jpeg"),
)

#: Warnings of other suites.
ADVICE = (
    Mistake("no Kubernetes", _csv(lambda csv: csv["spec"].pop("minKubeVersion")), "spec.minKubeVersion: it is not set"),
    Mistake("no examples", _annotated(**{"alm-examples": "[]"}), "there is no example of example.com/v1, Widget"),
    Mistake("properties", _annotated(**{"olm.properties": "[]"}), "belongs in metadata/properties.yaml"),
    Mistake("channel", _label("channels.v1", "alpha"), "'alpha': channel names begin with candidate, fast, stable"),
    Mistake(
        "version in the name",
        _csv(lambda csv: csv["metadata"].update(name="widgets")),
        "metadata.name: expected NAME.vVERSION",
    ),
    Mistake(
        "description",
        _csv(lambda csv: csv["spec"]["customresourcedefinitions"]["owned"][0].pop("description")),
        "widgets.example.com has no description",
    ),
)
