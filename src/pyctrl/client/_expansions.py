"""Functions for sub-resources with a purpose of their own: token, eviction, binding and scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from pyctrl.api import Key, KindLike, KubernetesObject, LabelSelector, Unstructured
from pyctrl.client._requests.options import Preconditions, delete_options
from pyctrl.client._requests.patch import MergePatch
from pyctrl.client._requests.resource_client import checked_key
from pyctrl.client._subresources import HasSubResources

__all__ = ["CurrentScale", "ServiceAccountToken", "bind", "create_token", "evict", "get_scale", "set_scale"]


class _Pod(KubernetesObject, group="", version="v1", kind="Pod"):
    """The resource of pods; their fields are not needed here."""


class _ServiceAccount(KubernetesObject, group="", version="v1", kind="ServiceAccount"):
    """The resource of service accounts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceAccountToken:
    """A token of a service account, and when it expires. ``repr`` does not show the token."""

    token: str
    expires_at: datetime

    def __repr__(self) -> str:
        return f"ServiceAccountToken(expires_at={self.expires_at.isoformat()})"


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentScale:
    """Desired and current replicas, and the selector of the pods that count."""

    replicas: int
    current_replicas: int
    selector: LabelSelector
    resource_version: str


async def create_token(
    client: HasSubResources,
    service_account: Key,
    *,
    audiences: Sequence[str] = (),
    expiration_seconds: int | None = None,
    bound_to: Mapping[str, str] | None = None,
) -> ServiceAccountToken:
    """Request a token of a service account. The server may grant a longer or shorter lifetime than requested.

    Args:
        client: a client whose user may create ``serviceaccounts/token``.
        service_account: the account.
        audiences: who may accept the token; by default the API server.
        expiration_seconds: the requested lifetime, at least 600; an hour by default.
        bound_to: the object with which the token becomes invalid: ``kind`` (Pod, Secret or Node), ``apiVersion``,
            ``name`` and optionally ``uid``.

    Raises:
        NotFound: the account, or the object to bind the token to, does not exist.
    """
    spec = {"audiences": list(audiences), "expirationSeconds": expiration_seconds, "boundObjectRef": bound_to}
    answer = await client.subresource("token").create(
        _ServiceAccount,
        service_account,
        {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {name: value for name, value in spec.items() if value},
        },
    )
    status = answer["status"]
    return ServiceAccountToken(token=status["token"], expires_at=datetime.fromisoformat(status["expirationTimestamp"]))


async def evict(
    client: HasSubResources,
    pod: Key,
    *,
    grace_period_seconds: int | None = None,
    preconditions: Preconditions | None = None,
    dry_run: bool = False,
) -> None:
    """Evict a pod, if its disruption budgets allow it.

    Raises:
        TooManyRequests: a budget does not allow the eviction now; try again later.
        NotFound: the pod does not exist.
    """
    options = delete_options(
        propagation=None, grace_period_seconds=grace_period_seconds, preconditions=preconditions, dry_run=dry_run
    )
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": _metadata(pod)}
    if options:
        eviction["deleteOptions"] = options
    await client.subresource("eviction").create(_Pod, pod, eviction, dry_run=dry_run)


async def bind(client: HasSubResources, pod: Key, node: str) -> None:
    """Bind a pod to a node, as a scheduler does. Raises Conflict when the pod is bound already."""
    binding = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": _metadata(pod),
        "target": {"apiVersion": "v1", "kind": "Node", "name": node},
    }
    await client.subresource("binding").create(_Pod, pod, binding)


async def get_scale(client: HasSubResources, kind: KindLike, key: Key) -> CurrentScale:
    """Return the scale of an object, of any kind with a scale sub-resource."""
    return _scale(await client.subresource("scale").get(kind, key))


async def set_scale(client: HasSubResources, kind: KindLike, key: Key, replicas: int) -> CurrentScale:
    """Set the desired replicas. Changes nothing else of the object, and needs no resource version."""
    patch = MergePatch({"spec": {"replicas": replicas}})
    return _scale(await client.subresource("scale").patch(kind, key, patch))


def _scale(scale: Unstructured) -> CurrentScale:
    spec, status = scale.get("spec") or {}, scale.get("status") or {}
    return CurrentScale(
        replicas=spec.get("replicas") or 0,
        current_replicas=status.get("replicas") or 0,
        selector=LabelSelector.parse(status.get("selector") or ""),
        resource_version=scale.metadata.resource_version,
    )


def _metadata(pod: Key) -> dict[str, str]:
    key = checked_key(_Pod.gvk, pod)
    return {"name": key.name, "namespace": key.namespace}
