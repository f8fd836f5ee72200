"""Pods that a simulated node does not admit, in virtual time."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pyctrl.api import Key, ObjectMeta
from pyctrl.client import Client, MergePatch, bind, wait_until_gone
from pyctrl.cluster._kubelet.node_objects import complete_nodes
from pyctrl.cluster._kubelet.pod_admission import find_rejection
from pyctrl.kinds.apps.v1 import StatefulSet
from pyctrl.kinds.core.v1 import Event, Node, NodeSpec, Pod, Taint
from tests.unit.cluster._pods import pod, until, until_phase

NODE = Key("", "node-1")


def direct(name: str = "p", **spec: Any) -> Pod:
    """Return a pod that is created with the name of its node."""
    return pod(name, nodeName=NODE.name, **spec)


def requesting(**requests: str) -> list[dict[str, Any]]:
    """Return one container with resource requests."""
    resources = {"requests": requests, "limits": {name: value for name, value in requests.items() if "/" in name}}
    return [{"name": "c", "image": "i", "resources": resources}]


def listening(port: int) -> list[dict[str, Any]]:
    """Return one container with a port of the node."""
    return [{"name": "c", "image": "i", "ports": [{"containerPort": port, "hostPort": port}]}]


async def rejected(client: Client, name: str = "p") -> tuple[str | None, str]:
    """Wait until a pod has failed; return its reason, and its message without the beginning."""
    found = await until_phase(client, name, "Failed")
    message = found.status.message or ""
    assert message.startswith("Pod was rejected: ")
    return found.status.reason, message.removeprefix("Pod was rejected: ")


@pytest.mark.parametrize(
    ("name", "value", "reason", "numbers"),
    [
        ("cpu", "1M", "OutOfcpu", "requested: 1000000000, used: 0, capacity: {milli}"),
        ("memory", "1Ei", "OutOfmemory", "requested: 1152921504606846976, used: 0, capacity: {whole}"),
        ("ephemeral-storage", "1Ei", "OutOfephemeral-storage", "requested: {want}, used: 0, capacity: {whole}"),
    ],
)
async def test_requests_beyond_the_node_are_rejected(
    client: Client, name: str, value: str, reason: str, numbers: str
) -> None:
    """A pod that names its node and does not fit fails, with the kubelet's reason, message and Event."""
    await client.create(direct(containers=requesting(**{name: value})))
    allocatable = (await client.get(Node, NODE)).status.allocatable[name].value
    shown = numbers.format(milli=int(allocatable * 1000), whole=int(allocatable), want=2**60)
    message = f"Node didn't have enough resource: {name}, {shown}"
    assert await rejected(client) == (reason, message)
    await asyncio.sleep(1)
    events = [(each.type, each.reason, each.message) for each in await client.list(Event)]
    assert ("Warning", reason, message) in events


async def test_the_requests_of_other_pods_count(client: Client) -> None:
    """Requests of the pods that run on the node are used; those of finished pods are not."""
    allocatable = (await client.get(Node, NODE)).status.allocatable["cpu"].value
    cpu = str(int(allocatable * 600)) + "m"
    await client.create(pod("a", containers=requesting(cpu=cpu)))
    await until_phase(client, "a", "Running")
    await client.create(direct("b", containers=requesting(cpu=cpu)))
    assert (await rejected(client, "b"))[0] == "OutOfcpu"
    await client.delete(Pod, Key("default", "a"))
    await wait_until_gone(client, Pod, Key("default", "a"))
    await client.create(direct("c", containers=requesting(cpu=cpu)))
    await until_phase(client, "c", "Running")


@pytest.mark.parametrize(
    ("spec", "reason", "message"),
    [
        ({"nodeSelector": {"disk": "ssd"}}, "NodeAffinity", "node(s) didn't match Pod's node affinity/selector"),
        ({"containers": listening(80)}, "NodePorts", "node(s) didn't have free ports for the requested pod ports"),
    ],
)
async def test_a_predicate_of_the_scheduler_rejects(
    client: Client, spec: dict[str, Any], reason: str, message: str
) -> None:
    """A pod that names its node is rejected for its node selector and for ports that another pod has."""
    await client.create(pod("other", containers=listening(80)))
    await until_phase(client, "other", "Running")
    await client.create(direct(**spec))
    assert await rejected(client) == (reason, f"Predicate {reason} failed: {message}")


def test_a_taint_rejects() -> None:
    """A pod that names its node is rejected for a NoExecute taint, unless it tolerates the taint."""
    (node,) = complete_nodes(
        [Node(metadata=ObjectMeta(name="a"), spec=NodeSpec(taints=[Taint(key="gone", effect="NoExecute")]))]
    )
    message = "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate"
    assert find_rejection(direct(), node, ()) == ("TaintToleration", message)
    assert find_rejection(direct(tolerations=[{"operator": "Exists"}]), node, ()) is None


@pytest.mark.parametrize("name", [NODE.name, None])
async def test_another_operating_system_is_rejected(client: Client, name: str | None) -> None:
    """A pod for Windows does not run on a node with Linux, also if the scheduler has chosen the node."""
    await client.create(pod(os={"name": "windows"}, nodeName=name))
    message = "Failed to admit pod as the OS field doesn't match node OS"
    assert await rejected(client) == ("PodOSNotSupported", message)


@pytest.mark.parametrize(
    ("name", "host", "why"),
    [
        ("kernel.msgmax", {}, '"kernel.msgmax" not allowlisted'),
        ("net/ipv4/tcp_rmem", {"hostNetwork": True}, '"net.ipv4.tcp_rmem" not allowed with host net enabled'),
        ("kernel.shm_rmid_forced", {"hostIPC": True}, '"kernel.shm_rmid_forced" not allowed with host ipc enabled'),
        ("net/ipv4/tcp_rmem", {"hostIPC": True}, ""),
    ],
)
def test_sysctls_are_limited(name: str, host: dict[str, Any], why: str) -> None:
    """A pod may set the safe sysctls of the namespaces that it does not share with its node."""
    (node,) = complete_nodes(1)
    found = find_rejection(pod(securityContext={"sysctls": [{"name": name, "value": "1"}]}, **host), node, None)
    assert found == (("SysctlForbidden", f"forbidden sysctl: {why}") if why else None)


async def test_a_label_of_another_operating_system_is_rejected(client: Client) -> None:
    """The label kubernetes.io/os of a pod has to be that of the node."""
    made = pod()
    made.metadata.labels["kubernetes.io/os"] = "windows"
    await client.create(made)
    assert (await rejected(client))[0] == "PodOSSelectorNodeLabelDoesNotMatch"


async def test_a_pod_that_another_scheduler_binds_is_checked(client: Client) -> None:
    """A pod that a client binds to a node where it does not fit is rejected, and its generation is observed."""
    await client.create(pod(containers=requesting(cpu="1M"), schedulerName="mine"))
    await bind(client, Key("default", "p"), NODE.name)
    assert (await rejected(client))[0] == "OutOfcpu"
    assert (await client.get(Pod, Key("default", "p"))).status.observed_generation == 1


async def test_a_rejected_pod_can_be_deleted(client: Client) -> None:
    """A rejected pod has not started, stays Failed when it changes, and ends when it is deleted."""
    await client.create(direct(nodeSelector={"disk": "ssd"}))
    await rejected(client)
    await client.patch(Pod, Key("default", "p"), MergePatch({"metadata": {"labels": {"x": "y"}}}))
    await asyncio.sleep(5)
    found = await client.get(Pod, Key("default", "p"))
    assert (found.status.phase, found.status.reason, found.status.container_statuses) == ("Failed", "NodeAffinity", [])
    await client.delete(found)
    await wait_until_gone(client, Pod, Key("default", "p"))


async def test_a_controller_replaces_a_rejected_pod_until_it_fits(client: Client) -> None:
    """The pod of a StatefulSet is rejected and replaced while a port is in use, and runs when it is free."""
    await client.create(pod("other", containers=listening(80)))
    await until_phase(client, "other", "Running")
    labels = {"app": "db"}
    spec = {"nodeName": NODE.name, "containers": listening(80)}
    template = {"metadata": {"labels": labels}, "spec": spec}
    wire = {"selector": {"matchLabels": labels}, "serviceName": "db", "replicas": 1, "template": template}
    await client.create(StatefulSet.from_wire({"metadata": {"name": "db", "namespace": "default"}, "spec": wire}))
    await until(client, "db-0", lambda found: found.status.phase == "Pending")
    first = (await client.get(Pod, Key("default", "db-0"))).metadata.uid
    await asyncio.sleep(10)
    again = await client.get(Pod, Key("default", "db-0"))
    assert again.metadata.uid != first
    await client.delete(Pod, Key("default", "other"))
    await until_phase(client, "db-0", "Running")


async def test_an_added_resource_of_a_node_is_allocatable(client: Client) -> None:
    """A resource that a user adds to the capacity of a node becomes allocatable, and ends with it."""
    await client.create(pod(containers=requesting(**{"example.com/dongle": "2"})))
    await client.status.patch(Node, NODE, MergePatch({"status": {"capacity": {"example.com/dongle": "4"}}}))
    await until_phase(client, "p", "Running")
    assert str((await client.get(Node, NODE)).status.allocatable["example.com/dongle"]) == "4"
    await client.status.patch(Node, NODE, MergePatch({"status": {"capacity": {"example.com/dongle": None}}}))
    await asyncio.sleep(1)
    assert "example.com/dongle" not in (await client.get(Node, NODE)).status.allocatable
