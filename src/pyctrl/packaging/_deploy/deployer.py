"""Deployment of a project to a cluster, and its removal."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from pyctrl.api import GroupVersionKind, Key, Unstructured
from pyctrl.client import Client, wait_for, wait_until_gone
from pyctrl.errors import ApiError, CommandFailed, NotFound, UnknownKind
from pyctrl.packaging._objects.parts import install
from pyctrl.packaging._project import Project
from pyctrl.program import install_definitions

__all__ = ["OWNER", "Deployer", "Step"]

OWNER = "pyctrl-deploy"  # the field manager of applied fields

DEFINITION = GroupVersionKind("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
DEPLOYMENT = GroupVersionKind("apps", "v1", "Deployment")
NAMESPACE = GroupVersionKind("", "v1", "Namespace")
POD = GroupVersionKind("", "v1", "Pod")

_RBAC, _ADMISSION = "rbac.authorization.k8s.io", "admissionregistration.k8s.io"
#: The kinds of objects that are pruned, in deletion order.
_PRUNED = (
    GroupVersionKind(_ADMISSION, "v1", "ValidatingWebhookConfiguration"),
    GroupVersionKind(_ADMISSION, "v1", "MutatingWebhookConfiguration"),
    GroupVersionKind("monitoring.coreos.com", "v1", "ServiceMonitor"),
    DEPLOYMENT,
    GroupVersionKind("networking.k8s.io", "v1", "NetworkPolicy"),
    GroupVersionKind("cert-manager.io", "v1", "Certificate"),
    GroupVersionKind("cert-manager.io", "v1", "Issuer"),
    GroupVersionKind("", "v1", "Service"),
    GroupVersionKind(_RBAC, "v1", "ClusterRoleBinding"),
    GroupVersionKind(_RBAC, "v1", "RoleBinding"),
    GroupVersionKind(_RBAC, "v1", "ClusterRole"),
    GroupVersionKind(_RBAC, "v1", "Role"),
    GroupVersionKind("", "v1", "ServiceAccount"),
)


@dataclass(frozen=True, slots=True)
class Step:
    """One action on one object, such as "applied"."""

    what: str
    kind: str
    key: Key

    def __str__(self) -> str:
        return f"{self.what} {self.kind} {self.key}"


class Deployer:
    """Applies the objects of a project to a cluster, and removes them.

    Each step is yielded once it is done, as progress. Only objects with the project's labels are deleted.
    CustomResourceDefinitions have no such labels, because deleting them deletes all of their objects.
    """

    def __init__(self, client: Client, project: Project, *, allow_loss: bool = False) -> None:
        """Prepare a deployment.

        Args:
            client: needs the permissions for all objects of the project.
            project: the project to deploy.
            allow_loss: see `pyctrl.program.install_definitions`.
        """
        self._client = client
        self._project = project
        self._allow_loss = allow_loss

    # --- deploy ---

    async def deploy(self) -> AsyncIterator[Step]:
        """Apply all objects, dependencies first, then prune the objects that are no longer part of the project.

        Raises:
            CommandFailed: the cluster rejects an object or does not serve its kind, or an existing
                CustomResourceDefinition would lose a version or its conversion; the message names the object.
        """
        applied = set()
        for obj in install(self._project):
            gvk, key = _gvk(obj), _key(obj)
            if gvk == NAMESPACE and await self._is_theirs(key):
                continue
            if gvk == DEFINITION:
                await install_definitions(self._client, [obj], allow_loss=self._allow_loss)
            else:
                await self._apply(obj, gvk, key)
            applied.add((gvk.group_kind, key))
            yield Step("applied", gvk.kind, key)
        async for gvk, key in self._owned():
            if (gvk.group_kind, key) not in applied and await self._delete(gvk, key):
                yield Step("removed", gvk.kind, key)

    async def _apply(self, obj: dict[str, Any], gvk: GroupVersionKind, key: Key) -> None:
        try:
            await self._client.apply(obj, field_owner=OWNER, force=True)
        except UnknownKind as error:
            fix = _NEEDS.get(gvk.group, "install its CustomResourceDefinition")
            raise CommandFailed(f"the cluster does not serve {gvk.kind}: {fix}") from error
        except ApiError as error:
            raise CommandFailed(f"the cluster rejected {gvk.kind} {key}: {error}") from error

    async def wait(self, timeout: timedelta) -> None:
        """Wait until all replicas of the program are available.

        Raises:
            CommandFailed: they are not available in time; the message has the reasons that the cluster reports.
        """
        key = self._project.account
        try:
            await wait_for(self._client, DEPLOYMENT, key, _is_available, timeout=timeout.total_seconds())
        except TimeoutError as error:
            why = "".join([f"\n  {reason}" async for reason in self._reasons(key)])
            seconds = f"{timeout.total_seconds():g}s"
            raise CommandFailed(f"Deployment {key} is not available after {seconds}:{why}") from error

    async def _reasons(self, key: Key) -> AsyncIterator[str]:
        deployment = await self._client.find(DEPLOYMENT, key)
        status: dict[str, Any] = (deployment.get("status") if deployment is not None else None) or {}
        if not status.get("observedGeneration"):
            yield "no controller reconciles Deployments in this cluster: is kube-controller-manager running?"
            return
        for condition in status.get("conditions") or []:
            if condition["type"] == "ReplicaFailure":
                yield f"no pod is created: {condition.get('message', '')}"
        pods = await self._client.list(POD, namespace=key.namespace, labels=self._project.selector)
        for pod in pods.items:
            yield f"pod {pod.metadata.name}: {'; '.join(_pod_problems(pod))}"

    # --- undeploy ---

    async def undeploy(self, *, delete_definitions: bool) -> AsyncIterator[Step]:
        """Delete all objects except CustomResourceDefinitions, in reverse order.

        Args:
            delete_definitions: also delete the definitions, and with them all objects of their kinds. They are deleted
                first, while the program still runs to handle finalizers.

        Raises:
            CommandFailed: an object is not deleted in time, or its deletion is forbidden.
        """
        for definition in self._project.definitions:
            key = _key(definition)
            if delete_definitions and await self._delete(DEFINITION, key):
                await self._gone(DEFINITION, key)
                yield Step("removed", DEFINITION.kind, key)
            elif await self._client.find(DEFINITION, key) is not None:
                yield Step("kept", DEFINITION.kind, key)
        async for gvk, key in self._owned():
            if await self._delete(gvk, key):
                yield Step("removed", gvk.kind, key)
        namespace = Key("", self._project.namespace)
        found = await self._client.find(NAMESPACE, namespace)
        if found is not None and self._is_ours(found):
            await self._delete(NAMESPACE, namespace)
            await self._gone(NAMESPACE, namespace)
            yield Step("removed", NAMESPACE.kind, namespace)

    async def _owned(self) -> AsyncIterator[tuple[GroupVersionKind, Key]]:
        """Yield the objects with the labels of the project."""
        for gvk in _PRUNED:
            try:
                found = await self._client.list(gvk, labels=self._project.labels)
            except (UnknownKind, NotFound):
                continue  # not installed here
            for each in found.items:
                yield gvk, each.key

    async def _delete(self, gvk: GroupVersionKind, key: Key) -> bool:
        try:
            await self._client.delete(gvk, key, propagation="Background")
        except NotFound:
            return False
        except ApiError as error:
            raise CommandFailed(f"{gvk.kind} {key} cannot be deleted: {error}") from error
        return True

    async def _gone(self, gvk: GroupVersionKind, key: Key) -> None:
        try:
            await wait_until_gone(self._client, gvk, key, timeout=GONE_SECONDS)
        except TimeoutError as error:
            raise CommandFailed(
                f"{gvk.kind} {key} is not deleted: {error}; look for objects whose finalizers are not removed"
            ) from error

    async def _is_theirs(self, namespace: Key) -> bool:
        """Return whether the namespace was created by others: it is neither changed nor deleted."""
        found = await self._client.find(NAMESPACE, namespace)
        return found is not None and not self._is_ours(found)

    def _is_ours(self, found: Unstructured) -> bool:
        wanted: Mapping[str, str] = self._project.labels
        return wanted.items() <= found.metadata.labels.items()


GONE_SECONDS = 120.0  # for a namespace with pods: their grace period of 40 s, and garbage collection

_NEEDS = {
    "monitoring.coreos.com": "install the Prometheus operator, or leave out --prometheus",
    "cert-manager.io": "install cert-manager, or let the program make its certificates: --webhook-certificates managed",
}


def _is_available(deployment: Unstructured) -> bool:
    status, wanted = deployment.get("status") or {}, deployment["spec"].get("replicas", 1)
    is_seen = status.get("observedGeneration", 0) >= deployment.metadata.generation
    return bool(is_seen and min(status.get("updatedReplicas", 0), status.get("availableReplicas", 0)) >= wanted)


def _pod_problems(pod: Unstructured) -> Iterator[str]:
    """Yield the reasons why a pod is not ready."""
    status = pod.get("status") or {}
    for each in status.get("containerStatuses") or ():
        waiting = (each.get("state") or {}).get("waiting") or {}
        ended = (each.get("lastState") or {}).get("terminated") or {}
        if waiting:
            yield f"{waiting.get('reason')}: {waiting.get('message', '')}".rstrip(": ")
        if ended:
            yield f"exited with code {ended.get('exitCode')}"
    for condition in status.get("conditions") or ():
        if condition["type"] == "PodScheduled" and condition["status"] == "False":
            yield f"not scheduled: {condition.get('message', '')}"
    if not status.get("containerStatuses") and not (pod.get("spec") or {}).get("nodeName"):
        yield "no node runs it: does the cluster have a scheduler and nodes?"
    elif not status.get("containerStatuses"):
        yield f"phase {status.get('phase')}"


def _gvk(obj: Mapping[str, Any]) -> GroupVersionKind:
    return GroupVersionKind.parse(obj["apiVersion"], obj["kind"])


def _key(obj: Mapping[str, Any]) -> Key:
    return Key(obj["metadata"].get("namespace", ""), obj["metadata"]["name"])
