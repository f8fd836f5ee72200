"""A Helm chart: the objects of a release, the effect of each value, and the names."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pyctrl.packaging import Settings, install, read_chart, read_project
from pyctrl.packaging._chart.variants import SWITCHES, condition
from tests.unit.packaging._helm import Release, plain
from tests.unit.packaging._programs import CONVERSION, EXAMPLES, WEBHOOK, WIDGETS
from tests.unit.packaging.objects.test_parts import named

PODSET = Settings(program=str(EXAMPLES / "podset"), image="podset:0.1.0")
EVC = Settings(program=str(EXAMPLES / "evc"), image="registry:5000/team/evc:0.2.0", prometheus=True, metrics="http")

NAMED = '''
from pyctrl.api import Key
from pyctrl.controller import Builder
from pyctrl.webhook import ManagedCertificates, Service, Webhooks, WebhookServer


def add_widgets(manager):
    """Wire it up, with a certificate for a Service of its own."""
    Builder(manager).build(WidgetReconciler())
    certificates = ManagedCertificates(
        manager.live_client, secret=Key("there", "hooks"), target=Service("there", "hooks"), configurations=["hooks"]
    )
    manager.add(certificates)
    webhooks = Webhooks()
    webhooks.add("/validate", lambda request: None)
    manager.add(WebhookServer(webhooks, certificates=certificates))
'''

_CHARTS: dict[str, dict[str, str]] = {}  # making one takes a third of a second, and it does not change


def written(folder: Path, text: str, name: str = "widgets") -> Settings:
    """Write a program into a folder; return it with its packaging settings."""
    file = folder / f"{name}_of_charts.py"  # a module is imported once, by its name
    file.write_text(text)
    return Settings(program=str(file), name=name, image=f"{name}:1.0.0")


@pytest.fixture(scope="module")
def widgets(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Return the packaging of a program with a webhook and a conversion."""
    return written(tmp_path_factory.mktemp("widgets"), WIDGETS + WEBHOOK + CONVERSION)


async def chart_of(settings: Settings) -> dict[str, str]:
    """Return the files of the chart of a program, from a cache."""
    key = repr(settings)
    if key not in _CHARTS:
        _CHARTS[key] = (await read_chart(settings)).texts()
    return _CHARTS[key]


async def released(settings: Settings, name: str = "", namespace: str = "", **values: Any) -> list[dict[str, Any]]:
    """Return the objects of a release, named as `install` names them by default."""
    name = name or settings.name or Path(settings.program).name
    release = Release(await chart_of(settings), values, name=name, namespace=namespace or f"{name}-system")
    return release.objects()


def pod(objects: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the pods of the Deployment."""
    (deployment,) = (each for each in objects if each["kind"] == "Deployment")
    template: dict[str, Any] = deployment["spec"]["template"]
    return template


def container(objects: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the container of the pods."""
    (found,) = pod(objects)["spec"]["containers"]
    return dict(found)


@pytest.mark.parametrize(
    "settings",
    [
        PODSET,
        EVC,
        replace(PODSET, watch_namespaces=("shop",), args=("--zap-devel",)),
        replace(PODSET, shards="auto", replicas=3),
    ],
)
async def test_a_release_is_what_would_be_installed(settings: Settings) -> None:
    """A release without values and under the same name has the objects of `install`; its values are the settings."""
    assert plain(await released(settings)) == plain(install(await read_project(settings)))


WAYS = [
    ("https", True, True, "managed", ("shop", "web"), True),
    ("https", False, True, "cert-manager", (), True),
    ("https", False, False, "cert-manager", ("shop",), False),
    ("http", True, True, "managed", (), False),
    ("http", True, False, "cert-manager", ("shop",), True),
    ("off", True, True, "cert-manager", (), False),
    ("off", True, True, "managed", ("shop",), True),
]


@pytest.mark.parametrize(("metrics", "prometheus", "network_policy", "certificates", "namespaces", "shards"), WAYS)
async def test_values_do_what_settings_do(
    widgets: Settings,
    metrics: Any,
    prometheus: bool,
    network_policy: bool,
    certificates: Any,
    namespaces: Any,
    shards: bool,
) -> None:
    """Each value has the effect of its setting: permissions, certificates and flags change together."""
    objects = await released(
        widgets,
        metrics={"enabled": metrics != "off", "secure": metrics == "https"},
        prometheus={"enabled": prometheus},
        networkPolicy={"enabled": network_policy},
        webhook={"certificates": certificates},
        watchNamespaces=list(namespaces),
        sharding={"enabled": shards},
    )
    said = replace(
        widgets,
        metrics=metrics,
        prometheus=prometheus,
        network_policy=network_policy,
        webhook_certificates=certificates,
        watch_namespaces=namespaces,
        shards="auto" if shards else "off",
    )
    assert plain(objects) == plain(install(await read_project(said)))


async def test_the_same_program_gives_the_same_chart() -> None:
    """The same program yields the same chart, independent of set order, time and machine."""
    assert (await read_chart(PODSET)).texts() == await chart_of(PODSET)


async def test_names_are_those_of_the_release() -> None:
    """Names combine release and chart as Helm's do, unless a value sets them."""
    names = [
        ("podset", {}, "podset"),
        ("my-podset", {}, "my-podset"),
        ("one", {}, "one-podset"),
        ("one", {"nameOverride": "sets"}, "one-sets"),
        ("one", {"fullnameOverride": "other"}, "other"),
    ]
    for release, values, wanted in names:
        objects = await released(PODSET, release, "there", **values)
        named(objects, "Deployment", f"{wanted}-controller-manager")
        assert f"--leader-election-id={wanted}-controller-manager" in container(objects)["args"]
        assert {obj["metadata"].get("namespace", "there") for obj in objects} == {"there"}


async def test_long_names_are_cut_and_still_differ() -> None:
    """Long names are cut to 63 characters and stay distinct."""
    found = set()
    for end in "ab":
        objects = await released(PODSET, "a-release-with-a-name-of-50-letters-and-more-at-its-" + end)
        names = [obj["metadata"]["name"] for obj in objects if obj["kind"] == "Service"]
        assert all(len(name) <= 63 for name in names)
        found.update(names)
    assert len(found) == 2


async def test_releases_beside_each_other_know_their_own_pods() -> None:
    """Labels and selectors contain the release, so that two releases select only their own pods."""
    objects = await released(PODSET, "one", "shop")
    labels = pod(objects)["metadata"]["labels"]
    assert labels == {
        "helm.sh/chart": "podset-0.1.0",
        "app.kubernetes.io/name": "podset",
        "app.kubernetes.io/instance": "one",
        "app.kubernetes.io/version": "0.1.0",
        "app.kubernetes.io/managed-by": "Helm",
        "control-plane": "controller-manager",
    }
    deployment = named(objects, "Deployment", "one-podset-controller-manager")
    service = named(objects, "Service", "one-podset-controller-manager-metrics-service")
    for selector in (deployment["spec"]["selector"]["matchLabels"], service["spec"]["selector"]):
        assert selector.items() <= labels.items()
        assert selector["app.kubernetes.io/instance"] == "one"


async def test_a_namespace_that_is_a_number_is_a_text() -> None:
    """A namespace that looks like a number stays a string."""
    objects = await released(PODSET, "podset", "123", watchNamespaces=["456"])
    namespaces = {obj["metadata"].get("namespace") for obj in objects} - {None}
    assert namespaces == {"123", "456"}


async def test_the_namespace_of_the_release_may_be_watched(widgets: Settings) -> None:
    """A release that watches its own namespace has both the manager's Role and the watch Role there."""
    objects = await released(widgets, "widgets", "shop", watchNamespaces=["shop"])
    names = [obj["metadata"]["name"] for obj in objects if obj["kind"] == "Role"]
    assert sorted(names) == ["widgets-leader-election-role", "widgets-manager-role", "widgets-watch-role"]


async def test_the_image_is_what_values_say() -> None:
    """The image has the tag of the values or else the chart's appVersion; a digest takes precedence."""
    digest = "sha256:" + "0" * 64
    images = [
        ({}, "registry:5000/team/evc:0.2.0"),
        ({"tag": "1.0"}, "registry:5000/team/evc:1.0"),
        ({"repository": "evc", "tag": "1.0", "digest": digest}, f"evc@{digest}"),
    ]
    for values, wanted in images:
        found = container(await released(EVC, image=values))
        assert (found["image"], "imagePullPolicy" in found) == (wanted, False)
    assert container(await released(EVC, image={"pullPolicy": "Always"}))["imagePullPolicy"] == "Always"


async def test_pods_are_what_values_say() -> None:
    """Values set the placement, labels, environment and resources of the pods."""
    said: dict[str, Any] = {
        "imagePullSecrets": [{"name": "registry"}],
        "nodeSelector": {"disk": "ssd"},
        "tolerations": [{"key": "dedicated", "operator": "Exists"}],
        "affinity": {"podAntiAffinity": {}},
        "topologySpreadConstraints": [{"maxSkew": 1}],
        "priorityClassName": "system-cluster-critical",
    }
    objects = await released(
        replace(PODSET, env={"A": "1"}),
        **said,
        replicas=3,
        args=["--zap-devel"],
        env=[{"name": "B", "value": "2"}],
        resources={"limits": {"memory": "1Gi"}},
        podAnnotations={"note": "yes"},
        podLabels={"team": "sets"},
        volumes=[{"name": "more", "emptyDir": {}}],
        volumeMounts=[{"name": "more", "mountPath": "/more"}],
    )
    template, inside = pod(objects), container(objects)
    assert {name: template["spec"][name] for name in said} == said
    assert named(objects, "Deployment", "podset-controller-manager")["spec"]["replicas"] == 3
    assert (inside["args"][-1], inside["env"]) == ("--zap-devel", [{"name": "B", "value": "2"}])
    assert inside["resources"] == {"requests": {"cpu": "10m", "memory": "96Mi"}, "limits": {"memory": "1Gi"}}
    assert template["metadata"]["annotations"]["note"] == "yes"
    assert template["metadata"]["labels"]["team"] == "sets"
    assert [each["name"] for each in template["spec"]["volumes"]] == ["tmp", "more"]
    assert [each["name"] for each in inside["volumeMounts"]] == ["tmp", "more"]


async def test_who_the_program_is_may_be_said() -> None:
    """Values can name an existing account, which gets the roles, or disable the roles."""
    objects = await released(PODSET, serviceAccount={"create": False, "name": "123"})
    assert pod(objects)["spec"]["serviceAccountName"] == "123"
    subjects = [each for obj in objects for each in obj.get("subjects", ())]
    assert {(each["name"], each["namespace"]) for each in subjects} == {("123", "podset-system")}
    assert "ServiceAccount" not in {obj["kind"] for obj in objects}

    annotated = await released(PODSET, serviceAccount={"annotations": {"role": "arn"}})
    account = named(annotated, "ServiceAccount", "podset-controller-manager")
    assert account["metadata"]["annotations"] == {"role": "arn"}

    kinds = {obj["kind"] for obj in await released(PODSET, rbac={"create": False})}
    assert kinds == {"CustomResourceDefinition", "ServiceAccount", "Service", "Deployment"}
    roles = {obj["metadata"]["name"] for obj in await released(PODSET, rbac={"helpers": False})}
    assert not any(name.endswith(("-admin-role", "-editor-role", "-viewer-role")) for name in roles)


async def test_definitions_stay_unless_it_is_said_otherwise() -> None:
    """Definitions are kept on uninstall unless a value says otherwise, because deleting them deletes their objects."""
    definition = "podsets.apps.jicki.cn"
    kept = named(await released(PODSET), "CustomResourceDefinition", definition)
    assert kept["metadata"]["annotations"] == {"helm.sh/resource-policy": "keep"}
    bare = named(await released(PODSET, crds={"keep": False}), "CustomResourceDefinition", definition)
    assert "annotations" not in bare["metadata"]
    assert "CustomResourceDefinition" not in {obj["kind"] for obj in await released(PODSET, crds={"enabled": False})}


async def test_braces_of_descriptions_and_rules_stay_what_they_are(tmp_path: Path) -> None:
    """Braces in descriptions and rules are not interpreted as template actions."""
    told = "Such as {{ .Values.name }}, {{{x}}}, {{- y -}} and {{/* z */}}"
    text = WIDGETS.replace("What is wanted.", told).replace('examples=["box-1"]', 'examples=["{{box}}-1"]')
    definition = named(
        await released(written(tmp_path, text, "braces")), "CustomResourceDefinition", "widgets.example.com"
    )
    spec = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    assert spec["description"] == told
    assert spec["properties"]["name"]["example"] == "{{box}}-1"


async def test_definitions_name_the_service_of_the_release(widgets: Settings) -> None:
    """Definitions name the release's Service for conversions, get the CA from cert-manager, and stay on uninstall."""
    objects = await released(widgets, "one", "shop", webhook={"certificates": "cert-manager"})
    definition = named(objects, "CustomResourceDefinition", "widgets.example.com")
    service = definition["spec"]["conversion"]["webhook"]["clientConfig"]["service"]
    assert (service["namespace"], service["name"]) == ("shop", "one-widgets-webhook-service")
    assert named(objects, "Service", service["name"])["spec"]["publishNotReadyAddresses"]
    assert definition["metadata"]["annotations"] == {
        "cert-manager.io/inject-ca-from": "shop/one-widgets-serving-cert",
        "helm.sh/resource-policy": "keep",
    }


async def test_a_service_that_the_program_names_ties_the_release_to_its_namespace(tmp_path: Path) -> None:
    """A chart whose program names its Service fails to install in another namespace."""
    settings = written(tmp_path, WIDGETS + NAMED, "named")
    objects = await released(settings, namespace="there")
    assert named(objects, "Service", "hooks")["metadata"]["namespace"] == "there"
    with pytest.raises(RuntimeError, match="webhook Service in namespace there: install with --namespace there"):
        await released(settings, namespace="elsewhere")


async def test_misspelt_values_are_refused(widgets: Settings) -> None:
    """The schema rejects unknown and invalid values, also webhook values for a program without webhooks."""
    texts = await chart_of(PODSET)
    schema = json.loads(texts["values.schema.json"])
    assert schema["additionalProperties"] is False
    assert schema["properties"]["image"]["additionalProperties"] is False
    assert schema["properties"]["replicas"] == {
        "description": "The number of replicas. One is active at a time, or all with sharding.",
        "type": "integer",
        "minimum": 0,
    }
    assert "webhook" not in schema["properties"]
    assert "global" in schema["properties"]  # helm adds this value to every chart
    others = json.loads((await chart_of(widgets))["values.schema.json"])
    assert others["properties"]["webhook"]["properties"]["certificates"]["enum"] == ["managed", "cert-manager"]


async def test_what_is_told_fits_the_release() -> None:
    """The notes name where the release runs, and what stays after uninstalling."""
    texts = await chart_of(PODSET)
    told = Release(texts, {}, name="one", namespace="shop").render("templates/NOTES.txt")
    assert "kubectl logs -n shop deployment/one-podset-controller-manager" in told
    assert "kubectl delete customresourcedefinition podsets.apps.jicki.cn" in told
    bare = Release(texts, {"crds": {"enabled": False}, "metrics": {"enabled": False}}, name="one", namespace="shop")
    assert "which have to exist: podsets.apps.jicki.cn." in bare.render("templates/NOTES.txt")


def test_a_condition_holds_for_what_was_chosen_only() -> None:
    """The condition of a template holds for exactly the choices that need the template."""
    names = ["watch", "cert-manager", "metrics"]
    choices = [
        frozenset(name for name, is_on in zip(names, some, strict=True) if is_on)
        for some in itertools.product((True, False), repeat=3)
    ]
    releases = [chosen_in(each) for each in choices]
    for count in range(1, 9):
        for chosen in itertools.combinations(choices, count):
            text = condition(chosen, choices)
            found = [
                choice for choice, release in zip(choices, releases, strict=True) if not text or release.value(text)
            ]
            assert found == [each for each in choices if each in chosen], text


def chosen_in(choice: frozenset[str]) -> Release:
    """Return a release with values for these choices."""
    assert set(SWITCHES) >= choice
    values = {
        "watchNamespaces": ["a"] if "watch" in choice else [],
        "webhook": {"certificates": "cert-manager" if "cert-manager" in choice else "managed"},
        "metrics": {"enabled": "metrics" in choice},
    }
    return Release({"Chart.yaml": "name: a", "values.yaml": "{}"}, values, name="a", namespace="b")
