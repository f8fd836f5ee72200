"""The bundle of a program: what the Operator Lifecycle Manager installs, and its description for people."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from pyctrl.errors import CommandFailed
from pyctrl.packaging import Person, Publication, Release, Settings, bundle, read_bundled, read_publication, release
from tests.unit.packaging._bundles import ANNOTATIONS, COMPLETE, CRD, CSV, LABEL, SERVICE, bundle_of
from tests.unit.packaging._programs import EXAMPLES, WEBHOOK, WIDGETS

VERSIONS = '''
from pyctrl.controller import Builder
from pyctrl.manager import Manager
from pyctrl.webhook import Conversion, Spoke, Webhooks, WebhookServer


class OldWidget(CustomResource[WidgetSpec, WidgetStatus], group="example.com", version="v1beta1", kind="Widget"):
    """Widget is what it was."""


def newer(old: OldWidget) -> Widget:
    return Widget(metadata=old.metadata, spec=old.spec)


def older(new: Widget) -> OldWidget:
    return OldWidget(metadata=new.metadata, spec=new.spec)


def add_to(manager: Manager) -> None:
    """Wire it."""
    webhooks = Webhooks()
    webhooks.add_conversion(Conversion(Widget, Spoke(OldWidget, newer, older)))
    manager.add(WebhookServer(webhooks))
    Builder(manager).build(WidgetReconciler())
'''

SELECTIVE = '''
from pyctrl.controller import Builder
from pyctrl.manager import Manager
from pyctrl.webhook import WebhookBuilder, Webhooks, WebhookServer


def add_to(manager: Manager) -> None:
    """Wire it."""
    webhooks, labels = Webhooks(), {"matchLabels": {"team": "shop"}}
    WebhookBuilder(webhooks).admits(Widget).options(namespace_selector=labels).build(WidgetValidator())
    manager.add(WebhookServer(webhooks))
    Builder(manager).build(WidgetReconciler())
'''

NEEDS = '''
class Paint(CustomResource[WidgetSpec, WidgetStatus], group="colours.example.com", version="v1", plural="paints"):
    """Paint is somebody else's.

    And more.
    """


class PaintedWidgetReconciler(Reconciler[Widget]):
    """Needs paint."""

    owns = (Paint,)

    async def reconcile(self, request: Request) -> Result | None:
        """Make one."""
        return None
'''


def spec_of(texts: dict[str, str], path: str = CSV) -> Any:
    """Return the spec of an object of a bundle."""
    return yaml.safe_load(texts[path])["spec"]


async def podset(**settings: Any) -> dict[str, str]:
    """Return the bundle of the example."""
    found = Settings(program=str(EXAMPLES / "podset"), **settings)
    project = await read_bundled(found, COMPLETE, "0.1.0")
    return bundle(project, COMPLETE, release(COMPLETE, Release(version="0.1.0"), name=project.name))


async def test_everything_of_the_example_is_in_it() -> None:
    """The bundle has the operator, its kind, roles for users and the metrics Service, and nothing that OLM creates."""
    texts = await podset()
    name = "rbac.authorization.k8s.io_v1_clusterrole"
    assert sorted(texts) == [
        "bundle.Dockerfile",
        "manifests/apps.jicki.cn_podsets.yaml",
        "manifests/podset-controller-manager-metrics-service_v1_service.yaml",
        f"manifests/podset-metrics-reader_{name}.yaml",
        *(f"manifests/podset-podset-{who}-role_{name}.yaml" for who in ("admin", "editor", "viewer")),
        "manifests/podset.clusterserviceversion.yaml",
        "metadata/annotations.yaml",
        "tests/scorecard/config.yaml",
    ]
    assert not any(" namespace:" in text for text in texts.values())
    assert "app.kubernetes.io/managed-by" not in "".join(texts.values())


async def test_what_the_program_may_do_is_asked_for() -> None:
    """The account of the Deployment gets cluster permissions for watched kinds, and the Lease in its own namespace."""
    spec = spec_of(await podset(), "manifests/podset.clusterserviceversion.yaml")
    install = spec["install"]["spec"]
    (everywhere,), (own,), (deployment,) = (
        install[part] for part in ("clusterPermissions", "permissions", "deployments")
    )
    accounts = {everywhere["serviceAccountName"], own["serviceAccountName"]}
    assert accounts == {deployment["spec"]["template"]["spec"]["serviceAccountName"]}
    rights = {resource for rule in everywhere["rules"] for resource in rule["resources"]}
    assert {"podsets", "podsets/status", "deployments", "tokenreviews"} <= rights
    assert {resource for rule in own["rules"] for resource in rule["resources"]} == {"leases", "events"}
    assert deployment["spec"]["template"]["spec"]["containers"][0]["image"] == "podset:0.1.0"


async def test_replicas_with_shards_have_what_they_need() -> None:
    """With shards the bundle has the PodDisruptionBudget, the flag, and the permissions for all Leases."""
    files = await podset(shards="auto", replicas=3)
    budget = spec_of(files, "manifests/podset-controller-manager_policy_v1_poddisruptionbudget.yaml")
    assert budget["maxUnavailable"] == 1
    install = spec_of(files, "manifests/podset.clusterserviceversion.yaml")["install"]["spec"]
    (deployment,) = install["deployments"]
    assert deployment["spec"]["replicas"] == 3
    assert "--shards=auto" in deployment["spec"]["template"]["spec"]["containers"][0]["args"]
    (permissions,) = install["permissions"]
    (leases,) = [rule for rule in permissions["rules"] if rule["resources"] == ["leases"]]
    assert leases["verbs"] == ["create", "delete", "get", "list", "update"]


async def test_kinds_are_told_with_their_fields(tmp_path: Path) -> None:
    """The schema yields display names, field descriptors, owned resources and a valid example for each kind."""
    spec = spec_of(await podset(), "manifests/podset.clusterserviceversion.yaml")
    (owned,) = spec["customresourcedefinitions"]["owned"]
    assert (owned["name"], owned["kind"], owned["version"]) == ("podsets.apps.jicki.cn", "PodSet", "v1alpha1")
    assert owned["displayName"] == "Pod Set"
    assert {each["kind"] for each in owned["resources"]} == {"Deployment", "Pod"}
    assert owned["specDescriptors"] == [
        {
            "path": "size",
            "displayName": "Size",
            "description": "Number of pods",
            "x-descriptors": ["urn:alm:descriptor:com.tectonic.ui:number"],
        }
    ]
    texts = await bundle_of(tmp_path, WIDGETS)
    (widget,) = spec_of(texts)["customresourcedefinitions"]["owned"]
    shown = {
        each["path"]: each.get("x-descriptors") for each in widget["specDescriptors"] + widget["statusDescriptors"]
    }
    select = "urn:alm:descriptor:com.tectonic.ui:select"
    assert shown["colour"] == [f"{select}:red", f"{select}:blue"]
    assert shown["ready"] == ["urn:alm:descriptor:com.tectonic.ui:booleanSwitch"]
    (example,) = json.loads(yaml.safe_load(texts[CSV])["metadata"]["annotations"]["alm-examples"])
    assert example["metadata"] == {"name": "widget-sample"}


async def test_a_kind_of_others_that_is_followed_is_required(tmp_path: Path) -> None:
    """A watched foreign kind with a class is a required definition; a kind without a class is not."""
    text = WIDGETS.replace("class WidgetReconciler(Reconciler[Widget]):", "class Unused:")
    definitions = spec_of(await bundle_of(tmp_path, text + NEEDS))["customresourcedefinitions"]
    assert [each["name"] for each in definitions["owned"]] == ["widgets.example.com"]
    assert definitions["owned"][0]["resources"] == [{"kind": "Paint", "name": "paints", "version": "v1"}]
    (paint,) = definitions["required"]
    assert paint["name"] == "paints.colours.example.com"
    assert paint["description"] == "Paint is somebody else's."


async def test_webhooks_are_the_managers_to_serve(tmp_path: Path) -> None:
    """OLM makes Service and certificate, and the program uses the mounted one and needs no permission for Secrets."""
    texts = await bundle_of(tmp_path, WIDGETS + WEBHOOK)
    (webhook,) = spec_of(texts)["webhookdefinitions"]
    assert webhook["type"] == "ValidatingAdmissionWebhook"
    assert (webhook["deploymentName"], webhook["targetPort"]) == ("widgets-controller-manager", 9443)
    assert webhook["webhookPath"] == "/validate-example-com-v1-widget"
    pod = spec_of(texts)["install"]["spec"]["deployments"][0]["spec"]["template"]["spec"]
    assert pod["containers"][0]["args"][-1].startswith("--webhook-cert-dir=")
    assert [each["name"] for each in pod["volumes"]] == ["tmp"]
    assert "secrets" not in texts[CSV]
    assert not any("webhook" in path for path in texts)


async def test_a_webhook_with_conditions_is_refused(tmp_path: Path) -> None:
    """A webhook with a namespace selector is rejected, because OLM would call it for every request."""
    with pytest.raises(CommandFailed, match="namespaceSelector, which the Operator Lifecycle Manager does not support"):
        await bundle_of(tmp_path, WIDGETS + WEBHOOK + SELECTIVE)


async def test_conversions_are_named_and_hold_in_all_namespaces(tmp_path: Path) -> None:
    """With a conversion all versions are owned and have an example, and the definition calls the Service of OLM."""
    texts = await bundle_of(tmp_path, WIDGETS + VERSIONS)
    (webhook,) = spec_of(texts)["webhookdefinitions"]
    assert (webhook["type"], webhook["conversionCRDs"]) == ("ConversionWebhook", ["widgets.example.com"])
    owned = spec_of(texts)["customresourcedefinitions"]["owned"]
    assert sorted(each["version"] for each in owned) == ["v1", "v1beta1"]
    service = spec_of(texts, CRD)["conversion"]["webhook"]["clientConfig"]["service"]
    assert service["name"] == "widgets-controller-manager-service"


async def test_conversions_refuse_other_install_modes_and_say_what_to_remove(tmp_path: Path) -> None:
    """A conversion with other install modes is rejected, with the setting to remove."""
    text = WIDGETS + VERSIONS
    with pytest.raises(
        CommandFailed, match=r"remove \[tool.pyctrl\] watch-namespaces, from which .* OwnNamespace, Sing"
    ):
        await bundle_of(tmp_path, text, watch_namespaces=("shop",))
    modes = COMPLETE.model_copy(update={"install_modes": ("OwnNamespace", "AllNamespaces")})
    with pytest.raises(
        CommandFailed, match=r"remove \[tool.pyctrl.bundle\] install-modes, which has OwnNamespace, All"
    ):
        await bundle_of(tmp_path, text, modes)


async def test_the_image_of_a_bundle_has_the_version_of_the_release(tmp_path: Path) -> None:
    """The image tag of a bundle is the version of the release with the plus sign replaced."""
    texts = await bundle_of(tmp_path, WIDGETS, wanted=Release(version="0.3.0+build.5"), version="0.2.0")
    assert spec_of(texts)["relatedImages"] == [{"name": "manager", "image": "widgets:0.3.0_build.5"}]


async def test_a_program_for_some_namespaces_is_told_which(tmp_path: Path) -> None:
    """A restricted program reads its namespaces from OLM's annotation, and also installs for all namespaces."""
    texts = await bundle_of(tmp_path, WIDGETS, watch_namespaces=("shop",))
    assert {each["type"]: each["supported"] for each in spec_of(texts)["installModes"]} == {
        "OwnNamespace": True, "SingleNamespace": True, "MultiNamespace": True, "AllNamespaces": False,
    }  # fmt: skip
    install = spec_of(texts)["install"]["spec"]
    own = {resource for rule in install["permissions"][0]["rules"] for resource in rule["resources"]}
    assert "widgets" in own
    assert "shop" not in texts[CSV]
    (container,) = install["deployments"][0]["spec"]["template"]["spec"]["containers"]
    assert container["env"] == [
        {
            "name": "WATCH_NAMESPACE",
            "valueFrom": {"fieldRef": {"fieldPath": "metadata.annotations['olm.targetNamespaces']"}},
        }
    ]
    assert not any(each.startswith("--watch-namespace") for each in container["args"])
    anywhere = COMPLETE.model_copy(update={"install_modes": ("OwnNamespace", "AllNamespaces")})
    modes = spec_of(await bundle_of(tmp_path, WIDGETS, anywhere))["installModes"]
    assert [each["type"] for each in modes if each["supported"]] == ["OwnNamespace", "AllNamespaces"]


async def test_a_release_names_its_channels_and_what_it_replaces(tmp_path: Path) -> None:
    """A release sets its channels and the replaced version, and the annotations repeat the image's labels."""
    wanted = Release(
        version="0.3.0", package="boxes", channels=("stable", "fast"), default_channel="fast", replaces="0.2.0",
        skips=("v0.2.1", "old.v0.2.2"), skip_range=">=0.1.0 <0.3.0",
    )  # fmt: skip
    texts = await bundle_of(tmp_path, WIDGETS, wanted=wanted, env={"RELATED_IMAGE_WEB": "nginx:1"}, image="widgets:3")
    csv = yaml.safe_load(texts["manifests/boxes.clusterserviceversion.yaml"])
    assert csv["metadata"]["name"] == "boxes.v0.3.0"
    assert csv["metadata"]["annotations"]["olm.skipRange"] == ">=0.1.0 <0.3.0"
    assert (csv["spec"]["replaces"], csv["spec"]["skips"]) == ("boxes.v0.2.0", ["boxes.v0.2.1", "old.v0.2.2"])
    assert csv["spec"]["relatedImages"] == [
        {"name": "manager", "image": "widgets:3"},
        {"name": "web", "image": "nginx:1"},
    ]
    labels = yaml.safe_load(texts[ANNOTATIONS])["annotations"]
    assert (labels[f"{LABEL}.channels.v1"], labels[f"{LABEL}.channel.default.v1"]) == ("stable,fast", "fast")
    dockerfile = texts["bundle.Dockerfile"].splitlines()
    assert [line.removeprefix("LABEL ") for line in dockerfile if line.startswith("LABEL")] == [
        f"{key}={value}" for key, value in labels.items()
    ]
    assert "COPY bundle/manifests/ /manifests/" in dockerfile
    assert "namespace" not in yaml.safe_load(texts[SERVICE])["metadata"]


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        (Release(version=""), "no version given: set it with --version 0.1.0, or in pyproject.toml"),
        (Release(version="1.0"), "expected a semantic version, such as 0.1.0 or 1.0.0-rc.1; got '1.0'"),
        (Release(version="1.0.0", default_channel="fast"), "default channel 'fast' is not one of the channels: stable"),
    ],
)
def test_a_release_that_makes_no_sense_is_refused(wanted: Release, told: str) -> None:
    """An invalid release is rejected with the expected form."""
    with pytest.raises(CommandFailed, match=told):
        release(Publication(), wanted, name="widgets")


def test_what_people_say_comes_from_pyproject(tmp_path: Path) -> None:
    """Descriptions come from the bundle table of pyproject.toml, or from the metadata of the Python package."""
    (tmp_path / "icon.svg").write_text("<svg/>")
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "widgets"\nversion = "0.4.0"\ndescription = "Makes widgets."\nkeywords = ["widget"]\n'
        'authors = [{name = "Jane", email = "jane@example.com"}, {name = "Nobody"}]\n'
        'urls = {Home = "https://example.com"}\n'
        '[tool.pyctrl.bundle]\nicon = "icon.svg"\nprovider = {name = "Example"}\nchannels = ["fast"]\n'
    )
    found = read_publication(tmp_path)
    assert (found.description, found.keywords, found.version) == ("Makes widgets.", ("widget",), "0.4.0")
    assert found.maintainers == (Person(name="Jane", email="jane@example.com"),)
    assert found.links == {"Home": "https://example.com"}
    assert found.icon_data() == {"base64data": "PHN2Zy8+", "mediatype": "image/svg+xml"}
    assert release(found, Release(version=""), name="widgets").channels == ("fast",)


@pytest.mark.parametrize(
    ("table", "told"),
    [
        (
            'logo = "a.png"',
            r"\[tool.pyctrl.bundle\] has no setting 'logo'; there are annotations, architectures, capabilities",
        ),
        ("display-name = 3", r"display-name: Input should be a valid string; got 3"),
        ('maintainers = [{name = "Jane", mail = "a@b"}]', r"has no setting 'maintainers\[0\].mail'"),
        ('install-modes = ["Everywhere"]', r"install-modes\[0\]: Input should be 'OwnNamespace'.*; got 'Everywhere'"),
    ],
)
def test_a_table_that_is_not_understood_is_told(tmp_path: Path, table: str, told: str) -> None:
    """An invalid table is rejected with its file, its key and the value."""
    (tmp_path / "pyproject.toml").write_text(f"[tool.pyctrl.bundle]\n{table}\n")
    with pytest.raises(CommandFailed, match=told):
        read_publication(tmp_path)


def test_an_icon_is_a_picture(tmp_path: Path) -> None:
    """An icon must be an image of a type that catalogs show."""
    with pytest.raises(CommandFailed, match=r"icon: expected one of \.gif, \.jpeg, \.jpg, \.png, \.svg; got 'a.bmp'"):
        Publication(icon="a.bmp", root=tmp_path).icon_data()
