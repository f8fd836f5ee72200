"""A real kubectl and its common commands, on any cluster."""

from __future__ import annotations

import json
import shlex
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from pyctrl.client import Client
from pyctrl.testing import ClusterUnderTest
from tests.integration._kubectl import Kubectl, kubectl_for
from tests.integration._operators import DEFINITION, install

pytestmark = [
    pytest.mark.real_time,  # sockets and processes
    pytest.mark.slow("each command is a process, which asks for discovery anew"),
    pytest.mark.timeout(30),
]


@pytest.fixture
async def kubectl(
    cluster: ClusterUnderTest, namespace: str, running_pods: None, tmp_path: Path
) -> AsyncIterator[Kubectl]:
    """kubectl in the namespace of the test."""
    async with kubectl_for(cluster, namespace, tmp_path) as kubectl:
        yield kubectl


def config_map(name: str = "a", **data: str) -> str:
    return yaml.safe_dump({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data})


def deployment(name: str = "web", *, replicas: int = 1, image: str = "busybox", **more: Any) -> str:
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": image}]}}
    spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template, **more}
    return yaml.safe_dump({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec})


# -- apply -----------------------------------------------------------------------------------------------------


async def test_apply_says_what_it_did(kubectl: Kubectl) -> None:
    """Apply prints created, then unchanged, then configured; diff shows the pending change."""
    assert await kubectl("apply", "-f", "-", stdin=config_map(k="1")) == "configmap/a created"
    assert await kubectl("apply", "-f", "-", stdin=config_map(k="1")) == "configmap/a unchanged"

    diff = await kubectl.outcome("diff", "-f", "-", stdin=config_map(other="2"))
    assert diff.code == 1
    assert "-  k: " in diff.out
    assert "+  other: " in diff.out

    assert await kubectl("apply", "-f", "-", stdin=config_map(other="2")) == "configmap/a configured"
    assert json.loads(await kubectl("get", "cm", "a", "-o", "jsonpath={.data}")) == {"other": "2"}
    assert yaml.safe_load(await kubectl("apply", "view-last-applied", "cm/a"))["data"] == {"other": "2"}


async def test_apply_merges_lists_by_their_keys(kubectl: Kubectl) -> None:
    """Apply removes a container that is no longer applied, and keeps one from another client."""
    both = yaml.safe_load(deployment())
    both["spec"]["template"]["spec"]["containers"].append({"name": "second", "image": "busybox"})
    await kubectl("apply", "-f", "-", stdin=yaml.safe_dump(both))
    added = {"spec": {"template": {"spec": {"containers": [{"name": "added", "image": "busybox"}]}}}}
    await kubectl("patch", "deployment", "web", "--patch", json.dumps(added))

    await kubectl("apply", "-f", "-", stdin=deployment())

    names = await kubectl("get", "deploy", "web", "-o", "jsonpath={.spec.template.spec.containers[*].name}")
    assert set(names.split()) == {"added", "c"}


async def test_apply_refuses_fields_that_are_not_there(kubectl: Kubectl) -> None:
    """Apply names a misspelled field and creates nothing, as does a server dry run."""
    refused = await kubectl.outcome("apply", "-f", "-", stdin=deployment(replica=2))
    assert refused.code == 1
    assert 'unknown field "spec.replica"' in refused.err

    told = await kubectl("apply", "--dry-run=server", "-f", "-", stdin=deployment())
    assert told == "deployment.apps/web created (server dry run)"
    assert await kubectl("get", "deployments") == ""


async def test_server_side_apply_tells_conflicts(kubectl: Kubectl) -> None:
    """Server-side apply reports a field of another manager as a conflict, and takes it when forced."""
    await kubectl("apply", "--server-side", "-f", "-", stdin=deployment())
    other = ("apply", "--server-side", "--field-manager=other", "-f", "-")

    refused = await kubectl.outcome(*other, stdin=deployment(image="nginx"))
    assert 'conflict with "kubectl": .spec.template.spec.containers[name="c"].image' in refused.err

    told = await kubectl(*other, "--force-conflicts", stdin=deployment(image="nginx"))
    assert told == "deployment.apps/web serverside-applied"
    owners = await kubectl(
        "get", "deploy", "web", "--show-managed-fields", "-o", "jsonpath={.metadata.managedFields[*].manager}"
    )
    assert {"kubectl", "other"} <= set(owners.split())


async def test_a_kustomization_is_applied_and_deleted(kubectl: Kubectl, tmp_path: Path) -> None:
    """-k applies and deletes the objects of a kustomization."""
    (tmp_path / "web.yaml").write_text(deployment())
    kustomization = {
        "resources": ["web.yaml"],
        "namePrefix": "my-",
        "configMapGenerator": [{"name": "settings", "literals": ["a=b"]}],
    }
    (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump(kustomization))

    created = await kubectl("apply", "-k", str(tmp_path))
    assert "deployment.apps/my-web created" in created
    assert "configmap/my-settings-" in created
    assert 'deployment.apps "my-web" deleted' in await kubectl("delete", "-k", str(tmp_path))


# -- reading ---------------------------------------------------------------------------------------------------


async def test_get_prints_every_form(kubectl: Kubectl, namespace: str) -> None:
    """Every output format of get (table, wide, YAML, JSON, name, JSON path, columns) shows the same object."""
    await kubectl("create", "-f", "-", stdin=deployment(replicas=2))
    await kubectl("rollout", "status", "deployment/web", "--timeout=30s")

    assert (await kubectl("get", "deployments")).split()[:6] == [
        "NAME",
        "READY",
        "UP-TO-DATE",
        "AVAILABLE",
        "AGE",
        "web",
    ]
    assert "busybox" in await kubectl("get", "deploy", "-o", "wide")
    assert await kubectl("get", "deploy", "web", "-o", "name") == "deployment.apps/web"
    assert await kubectl("get", "deploy", "web", "-o", "jsonpath={.status.readyReplicas}") == "2"
    assert (await kubectl("get", "deploy", "-o", "custom-columns=R:.spec.replicas")).split() == ["R", "2"]
    as_yaml = yaml.safe_load(await kubectl("get", "deploy", "web", "-o", "yaml"))
    assert as_yaml["metadata"] == json.loads(await kubectl("get", "deploy", "web", "-o", "json"))["metadata"]
    everything = await kubectl("get", "all")
    assert all(kind in everything for kind in ("deployment.apps/web", "replicaset.apps/web-", "pod/web-"))
    raw = json.loads(await kubectl("get", "--raw", f"/apis/apps/v1/namespaces/{namespace}/deployments/web"))
    assert raw["metadata"]["uid"] == as_yaml["metadata"]["uid"]


async def test_get_sorts_by_any_field(kubectl: Kubectl) -> None:
    """--sort-by sorts the output of get, even by fields that no column shows."""
    for name, key in (("a", "2"), ("b", "1"), ("c", "3")):
        await kubectl("create", "configmap", name, f"--from-literal=k={key}")
    await kubectl("label", "cm", "a", "b", "c", "is=sorted")

    printed = await kubectl("get", "cm", "-l", "is=sorted", "--sort-by={.data.k}", "--no-headers")
    assert [line.split()[0] for line in printed.splitlines()] == ["b", "a", "c"]


async def test_selectors_select(kubectl: Kubectl, namespace: str) -> None:
    """get selects by labels, fields and namespace, and all namespaces with -A."""
    for name in ("a", "b"):
        await kubectl("create", "configmap", name)
    await kubectl("label", "cm", "a", "tier=front")

    assert await kubectl("get", "cm", "-l", "tier in (front)", "-o", "name") == "configmap/a"
    assert await kubectl("get", "cm", "--field-selector", "metadata.name=b", "-o", "name") == "configmap/b"
    everywhere = await kubectl("get", "cm", "-A", "-l", "tier=front", "--no-headers")
    assert everywhere.split()[:2] == [namespace, "a"]


async def test_a_watch_shows_what_comes(kubectl: Kubectl) -> None:
    """`get --watch` prints the existing objects, then each change."""
    await kubectl("create", "configmap", "a")
    async with kubectl.lines("get", "cm", "a", "--watch", "-o", "jsonpath={.data.k}{'.\\n'}") as lines:
        assert await lines.readline() == b".\n"
        await kubectl("patch", "cm", "a", "--type=merge", "--patch", '{"data": {"k": "v"}}')
        assert await lines.readline() == b"v.\n"


async def test_describe_tells_the_story(kubectl: Kubectl, namespace: str) -> None:
    """describe and events show an event of an object."""
    await kubectl("create", "configmap", "a")
    uid = await kubectl("get", "cm", "a", "-o", "jsonpath={.metadata.uid}")
    about = {"kind": "ConfigMap", "apiVersion": "v1", "name": "a", "namespace": namespace, "uid": uid}
    event = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"}, "involvedObject": about}
    told = {"type": "Warning", "reason": "Haunted", "message": "boo", "lastTimestamp": "2026-01-02T03:04:05Z"}
    await kubectl("create", "-f", "-", stdin=json.dumps(event | told))

    assert "Haunted" in await kubectl("describe", "cm", "a")
    assert "boo" in await kubectl("events", "--for", "configmap/a")
    assert "Haunted" in await kubectl("get", "events", "--field-selector", "involvedObject.name=a")


async def test_discovery_is_there(kubectl: Kubectl) -> None:
    """api-resources, explain and version print what the server supports."""
    resources = (await kubectl("api-resources", "--api-group=apps", "-o", "wide")).splitlines()
    assert ["deployments", "deploy", "apps/v1", "true", "Deployment"] in [line.split()[:5] for line in resources]
    assert "replicas\t<integer>\n    Number of desired pods." in await kubectl("explain", "deployment.spec")
    old = await kubectl("explain", "deployment.spec", "--output", "plaintext-openapiv2")
    assert "replicas\t<integer>\n     Number of desired pods." in old
    assert "containers\t<[]Container> -required-" in await kubectl("explain", "pod.spec", "--recursive")
    assert "serverVersion" in json.loads(await kubectl("version", "-o", "json"))
    assert "apps/v1" in (await kubectl("api-versions")).split()


# -- changing --------------------------------------------------------------------------------------------------


async def test_every_patch_changes(kubectl: Kubectl) -> None:
    """Merge, JSON, strategic and subresource patches change the object."""
    await kubectl("create", "-f", "-", stdin=deployment())
    await kubectl("patch", "deploy", "web", "--type=merge", "-p", '{"spec": {"minReadySeconds": 1}}')
    await kubectl(
        "patch", "deploy", "web", "--type=json", "-p", '[{"op": "add", "path": "/spec/paused", "value": true}]'
    )
    containers = {"containers": [{"name": "c", "image": "nginx"}]}
    await kubectl("patch", "deploy", "web", "-p", json.dumps({"spec": {"template": {"spec": containers}}}))
    await kubectl("patch", "deploy", "web", "--subresource=scale", "--type=merge", "-p", '{"spec": {"replicas": 3}}')

    spec = json.loads(await kubectl("get", "deploy", "web", "-o", "json"))["spec"]
    container = spec["template"]["spec"]["containers"][0]
    assert (spec["minReadySeconds"], spec["paused"], spec["replicas"]) == (1, True, 3)
    assert (container["image"], container["terminationMessagePath"]) == ("nginx", "/dev/termination-log")


async def test_edit_and_replace_change(kubectl: Kubectl) -> None:
    """edit stores the edited file; replace overwrites the object, or recreates it with --force."""
    await kubectl("create", "configmap", "a", "--from-literal=k=before")
    assert await kubectl("edit", "cm", "a", editing=("before", "after")) == "configmap/a edited"
    assert await kubectl("get", "cm", "a", "-o", "jsonpath={.data.k}") == "after"
    uid = await kubectl("get", "cm", "a", "-o", "jsonpath={.metadata.uid}")

    await kubectl("replace", "-f", "-", stdin=config_map(k="replaced"))
    assert await kubectl("get", "cm", "a", "-o", "jsonpath={.data.k} {.metadata.uid}") == f"replaced {uid}"
    await kubectl("replace", "--force", "-f", "-", stdin=config_map(k="new"))
    assert await kubectl("get", "cm", "a", "-o", "jsonpath={.metadata.uid}") != uid


async def test_labels_and_annotations_change(kubectl: Kubectl) -> None:
    """label and annotate add and remove, and overwrite only with --overwrite."""
    await kubectl("create", "configmap", "a")
    await kubectl("label", "cm", "a", "x=1")
    assert (await kubectl.outcome("label", "cm", "a", "x=2")).code == 1
    await kubectl("label", "cm", "a", "x=2", "--overwrite")
    await kubectl("annotate", "cm", "a", "note=hello", "gone=soon")
    await kubectl("annotate", "cm", "a", "gone-")

    metadata = json.loads(await kubectl("get", "cm", "a", "-o", "json"))["metadata"]
    assert (metadata["labels"], metadata["annotations"]) == ({"x": "2"}, {"note": "hello"})


async def test_a_deployment_rolls(kubectl: Kubectl) -> None:
    """scale, set image, rollout status, history, undo and restart work on a Deployment."""
    await kubectl("create", "deployment", "web", "--image=busybox:1", "--replicas=1")
    await kubectl("rollout", "status", "deployment/web", "--timeout=30s")
    await kubectl("scale", "deployment/web", "--replicas=2", "--current-replicas=1")
    await kubectl("set", "image", "deployment/web", "busybox=busybox:2")
    assert "successfully rolled out" in await kubectl("rollout", "status", "deployment/web", "--timeout=30s")
    assert [line.split()[0] for line in (await kubectl("rollout", "history", "deployment/web")).splitlines()[2:]] == [
        "1",
        "2",
    ]
    assert "busybox:1" in await kubectl("rollout", "history", "deployment/web", "--revision=1")

    await kubectl("rollout", "undo", "deployment/web")
    await kubectl("rollout", "restart", "deployment/web")
    await kubectl("rollout", "status", "deployment/web", "--timeout=30s")

    await kubectl("wait", "--for=condition=Available", "deployment/web", "--timeout=30s")
    await kubectl("wait", "--for=jsonpath={.status.updatedReplicas}=2", "deployment/web", "--timeout=30s")
    template = json.loads(await kubectl("get", "deploy", "web", "-o", "json"))["spec"]["template"]
    assert template["spec"]["containers"][0]["image"] == "busybox:1"
    assert "kubectl.kubernetes.io/restartedAt" in template["metadata"]["annotations"]


# -- creating with options, which kubectl sends as protobuf -------------------------------------------------------


CREATED = {
    "secret generic x --from-literal=p=q": ("{.data.p}", "cQ=="),
    "serviceaccount x": ("{.metadata.name}", "x"),
    "role x --verb=get,list --resource=pods": ("{.rules[0].verbs}", '["get","list"]'),
    "rolebinding x --role=r --serviceaccount=n:bot": ("{.subjects[0].name}", "bot"),
    "job x --image=busybox -- true": ("{.spec.template.spec.containers[0].command[0]}", "true"),
    "cronjob x --image=busybox --schedule='1/5 * * * *'": ("{.spec.schedule}", "1/5 * * * *"),
    "quota x --hard=pods=2k": ("{.spec.hard.pods}", "2k"),
    "poddisruptionbudget x --selector=a=b --min-available=50%": ("{.spec.minAvailable}", "50%"),
    "ingress x --rule=a.b/c=web:80": ("{.spec.rules[0].http.paths[0].backend.service.port.number}", "80"),
    "service clusterip x --tcp=80:8080": ("{.spec.ports[0].targetPort}", "8080"),
}


@pytest.mark.parametrize("command", CREATED, ids=lambda command: command.split()[0])
async def test_create_with_options(kubectl: Kubectl, command: str) -> None:
    """Each `kubectl create KIND` creates what its options specify."""
    words = shlex.split(command)
    path, value = CREATED[command]

    await kubectl("create", *words)

    assert await kubectl("get", words[0], "x", "-o", f"jsonpath={path}") == value


async def test_namespaces_are_created_and_deleted(kubectl: Kubectl, namespace: str) -> None:
    """A namespace is created by name, and is gone once delete has waited."""
    name = f"{namespace}-more"
    assert await kubectl("create", "namespace", name) == f"namespace/{name} created"
    assert await kubectl("delete", "namespace", name, "--timeout=60s") == f'namespace "{name}" deleted'
    assert (await kubectl.outcome("get", "namespace", name)).code == 1


async def test_pods_and_services_are_made_by_their_commands(kubectl: Kubectl) -> None:
    """run creates a pod, expose a Service, autoscale an autoscaler for a Deployment."""
    await kubectl("run", "one", "--image=busybox", "--restart=Never", "--env=A=B")
    await kubectl("create", "-f", "-", stdin=deployment())
    await kubectl("expose", "deployment", "web", "--port=80")
    await kubectl("autoscale", "deployment", "web", "--min=1", "--max=3")

    assert await kubectl("get", "pod", "one", "-o", "jsonpath={.spec.containers[0].env[0].value}") == "B"
    assert await kubectl("get", "service", "web", "-o", "jsonpath={.spec.selector.app}") == "web"
    assert await kubectl("get", "hpa", "web", "-o", "jsonpath={.spec.scaleTargetRef.name}") == "web"


# -- deleting --------------------------------------------------------------------------------------------------


async def test_delete_cascades_as_it_is_told(kubectl: Kubectl) -> None:
    """Orphaned ReplicaSets remain, others are deleted; with --wait the owner is gone when the command ends."""
    for name in ("kept", "gone"):
        await kubectl("create", "-f", "-", stdin=deployment(name))
        await kubectl("rollout", "status", f"deployment/{name}", "--timeout=30s")

    await kubectl("delete", "deployment", "kept", "--cascade=orphan")
    await kubectl("delete", "deployment", "gone", "--cascade=foreground", "--timeout=60s")

    left = await kubectl("get", "replicasets", "-o", "jsonpath={.items[*].metadata.labels.app}")
    assert left.split() == ["kept"]
    await kubectl("delete", "replicaset", "-l", "app=kept", "--cascade=background", "--wait=false")
    await kubectl("wait", "--for=delete", "replicaset", "-l", "app=kept", "--timeout=30s")


async def test_delete_tells_what_is_not_there(kubectl: Kubectl) -> None:
    """Deleting a missing object is an error, unless --ignore-not-found is set."""
    missing = await kubectl.outcome("delete", "cm", "none")
    assert (missing.code, missing.err) == (1, 'Error from server (NotFound): configmaps "none" not found\n')
    assert await kubectl("delete", "cm", "none", "--ignore-not-found") == ""


# -- permissions -----------------------------------------------------------------------------------------------


async def test_who_one_is_and_what_one_may(kubectl: Kubectl) -> None:
    """whoami names the user, can-i allows an administrator, and create token makes a token."""
    assert "Groups" in await kubectl("auth", "whoami")
    assert await kubectl("auth", "can-i", "create", "pods") == "yes"
    assert "*.*" in await kubectl("auth", "can-i", "--list")
    await kubectl("create", "serviceaccount", "bot")
    assert (await kubectl("create", "token", "bot", "--duration=20m")).count(".") == 2


async def test_roles_are_reconciled(kubectl: Kubectl, namespace: str) -> None:
    """auth reconcile creates roles and bindings, and adds missing rules to existing ones."""
    rule = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
    version, metadata = "rbac.authorization.k8s.io/v1", {"name": "r", "namespace": namespace}
    role: dict[str, Any] = {"apiVersion": version, "kind": "Role", "metadata": metadata, "rules": [rule]}
    binding = {
        "apiVersion": version,
        "kind": "RoleBinding",
        "metadata": {"name": "b", "namespace": namespace},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "jane"}],
    }
    said = await kubectl("auth", "reconcile", "-f", "-", stdin=yaml.safe_dump_all([role, binding]))
    assert "role.rbac.authorization.k8s.io/r reconciled" in said
    assert "rolebinding.rbac.authorization.k8s.io/b reconciled" in said
    role["rules"] = [{**rule, "verbs": ["list"]}]
    await kubectl("auth", "reconcile", "-f", "-", stdin=yaml.safe_dump(role))
    rules = json.loads(await kubectl("get", "role", "r", "-o", "jsonpath={.rules}"))
    assert sorted(verb for each in rules for verb in each["verbs"]) == ["get", "list"]


# -- custom resources ------------------------------------------------------------------------------------------


async def test_custom_resources_are_like_all_others(kubectl: Kubectl, client: Client, namespace: str) -> None:
    """Custom resources can be applied, printed, explained, edited and deleted like built-in ones."""
    await install(client)  # may be shared with other tests, and so have other owners
    await kubectl("apply", "--server-side", "--force-conflicts", "-f", str(DEFINITION))
    await kubectl("wait", "--for=condition=Established", "crd/podsets.apps.jicki.cn", "--timeout=30s")
    podset = {"apiVersion": "apps.jicki.cn/v1alpha1", "kind": "PodSet", "metadata": {"name": "p"}, "spec": {"size": 3}}

    assert await kubectl("apply", "-f", "-", stdin=json.dumps(podset)) == "podset.apps.jicki.cn/p created"
    assert (await kubectl("get", "podsets")).split()[:5] == ["NAME", "SIZE", "AGE", "p", "3"]
    assert "size\t<integer> -required-" in await kubectl("explain", "podset.spec")
    await kubectl("edit", "podset", "p", editing=("size: 3", "size: 4"))
    assert await kubectl("get", "podset", "p", "-o", "jsonpath={.spec.size}") == "4"
    refused = await kubectl.outcome("patch", "podset", "p", "--type=merge", "-p", '{"spec": {"size": -1}}')
    assert "spec.size" in refused.err
    assert "Size:  4" in await kubectl("describe", "podset", "p")
    assert await kubectl("delete", "podset", "p") == 'podset.apps.jicki.cn "p" deleted'
