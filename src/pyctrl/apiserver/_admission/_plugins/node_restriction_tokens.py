"""The tokens that a kubelet may request: of pods on its node, for audiences of their volumes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pyctrl._go.text import aggregate_messages, quoted
from pyctrl.api import Access
from pyctrl.apiserver._admission.attributes import CREATE, Attributes
from pyctrl.apiserver._errors import not_found

if TYPE_CHECKING:
    from pyctrl.apiserver._authz import Authorizer
    from pyctrl.apiserver._storage.storage import Collection, Storage

__all__ = ["TokenRestriction"]


class TokenRestriction:
    """Checks the TokenRequests of nodes."""

    def __init__(self, storage: Storage, authorizer: Authorizer) -> None:
        self._pods = storage.collection("", "pods")
        self._claims = storage.collection("", "persistentvolumeclaims")
        self._volumes = storage.collection("", "persistentvolumes")
        self._drivers = storage.collection("storage.k8s.io", "csidrivers")
        self._authorizer = authorizer

    def check(self, attributes: Attributes, node: str) -> str:
        """Return why a node may not make a write of a service account; "" if it may.

        Raises:
            StatusError: 404, the pod of the token does not exist.
        """
        if attributes.operation != CREATE or attributes.subresource != "token" or attributes.object is None:
            return ""
        spec = attributes.object.get("spec") or {}
        reference = spec.get("boundObjectRef") or {}
        if (reference.get("apiVersion"), reference.get("kind")) != ("v1", "Pod") or not reference.get("name"):
            return "node requested token not bound to a pod"
        uid = reference.get("uid")
        if not uid:
            return "node requested token with a pod binding without a uid"
        stored = self._pods.find(attributes.namespace, reference["name"])
        if stored is None:
            raise not_found("pod", reference["name"])
        pod = stored.decode()
        if uid != pod["metadata"]["uid"]:
            return (
                f"the UID in the bound object reference ({uid}) does not match the UID in record. "
                "The object might have been deleted and then recreated"
            )
        if pod["spec"].get("nodeName") != node:
            return "node requested token bound to a pod scheduled on a different node"
        return self._check_audience(attributes, spec.get("audiences") or [], pod)

    def _check_audience(self, attributes: Attributes, audiences: list[str], pod: Mapping[str, Any]) -> str:
        if len(audiences) > 1:
            return "node may only request 0 or 1 audiences"
        audience = audiences[0] if audiences else ""
        errors: list[str] = []
        if any(audience == each for each in self._audiences(pod, errors)):
            return ""
        if errors:
            return f"error validating audience {quoted(audience)}: {aggregate_messages(errors)}"
        verb, user = "request-serviceaccounts-token-audience", attributes.user
        access = Access(verb=verb, resource=audience, namespace=attributes.namespace, name=attributes.name)
        decision = self._authorizer.decide(user, access)
        if decision.is_allowed:
            return ""
        missing = f"audience {quoted(audience)} not found in pod spec volume"
        if decision.error:
            why = f"error authorizing {user.name} to request tokens for this audience: {decision.error}"
            return f"{missing}, {why}"
        return f"{missing}, {user.name} is not authorized to request tokens for this audience"

    def _audiences(self, pod: Mapping[str, Any], errors: list[str]) -> Iterator[str]:
        """Yield the audiences of a pod's volumes: of projected tokens, and of CSI drivers."""
        for volume in pod["spec"].get("volumes") or ():
            for source in (volume.get("projected") or {}).get("sources") or ():
                if (token := source.get("serviceAccountToken")) is not None:
                    yield token.get("audience") or ""
            try:
                driver = self._driver(pod, volume)
                yield from self._audiences_of_driver(driver) if driver else ()
            except _Missing as missing:
                errors.append(str(missing))

    def _driver(self, pod: Mapping[str, Any], volume: Mapping[str, Any]) -> str:
        if volume.get("ephemeral") is not None:
            claim = f"{pod['metadata']['name']}-{volume['name']}"
        elif volume.get("persistentVolumeClaim") is not None:
            claim = volume["persistentVolumeClaim"].get("claimName") or ""
        else:
            return str((volume.get("csi") or {}).get("driver") or "")
        found = _get(self._claims, pod["metadata"]["namespace"], claim, "persistentvolumeclaim")
        persistent = _get(self._volumes, "", found["spec"].get("volumeName") or "", "persistentvolume")
        return str((persistent["spec"].get("csi") or {}).get("driver") or "")

    def _audiences_of_driver(self, name: str) -> Iterator[str]:
        driver = _get(self._drivers, "", name, "csidriver.storage.k8s.io")
        yield from (each.get("audience") or "" for each in driver["spec"].get("tokenRequests") or ())


class _Missing(Exception):
    """Raised if an object between a volume and its driver does not exist."""


def _get(collection: Collection, namespace: str, name: str, resource: str) -> dict[str, Any]:
    stored = collection.find(namespace, name)
    if stored is None:
        raise _Missing(f"{resource} {quoted(name)} not found")
    return stored.decode()
