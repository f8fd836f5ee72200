"""Bindings: POST to the subresource binding of a pod, or to the collection bindings, assigns the pod to a node."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from pyctrl.apiserver._endpoints.typed_bodies import BINDING, decode_subresource_body
from pyctrl.apiserver._endpoints.update import UpdatedObject
from pyctrl.apiserver._errors import FieldError, Response, bad_request, conflict, not_supported, required, unknown_error
from pyctrl.apiserver._meta.system_fields import timestamp
from pyctrl.apiserver._registry._pods.admission import admit_posted, created_response
from pyctrl.apiserver._registry.builtin_resource import RESTContext
from pyctrl.apiserver._request.options import write_options
from pyctrl.apiserver._request.request import ResourceRequest
from pyctrl.apiserver._storage.preconditions import check_storage_preconditions

__all__ = ["BindingREST"]

_KINDS = ("Node", "<empty>")


class BindingREST:
    """POST of a Binding."""

    def __init__(self, context: RESTContext) -> None:
        self._backend = context.backend
        self._updates = context.updates

    async def create(self, request: ResourceRequest) -> Response:
        """Assign the pod that the URL names, or in the collection the one that the Binding names, whatever its uid."""
        options = write_options(request.query, "CreateOptions")
        binding = decode_subresource_body(request, BINDING, self._backend.registry)

        def check(binding: dict[str, Any]) -> None:
            _check_binding(binding, request.target.name or binding["metadata"].get("name", ""))

        binding = await admit_posted(self._backend, request, BINDING, binding, options, check)
        metadata = binding["metadata"]
        uid = metadata.get("uid") if request.target.name else None
        target = request.target._replace(resource="pods", name=metadata["name"])
        pods = replace(request, target=target, resource=self._backend.registry.require("", "v1", "pods"))
        stored = self._backend.live(pods)
        check_storage_preconditions(stored, pods.resource, uid=uid, version=metadata.get("resourceVersion"))
        new, old = stored.read(pods.resource), stored.read(pods.resource)
        _check_bindable(new)
        _assign(new, binding)
        self._updates.commit(pods, stored, UpdatedObject(new=new, old=old, options=options))
        return created_response(request)


def _check_binding(binding: Mapping[str, Any], name: str) -> None:
    """Check a Binding.

    Args:
        name: The name of the pod in the URL.

    Raises:
        StatusError: 400, the Binding names another pod; 500, as in kube-apiserver, its target is not a node.
    """
    if (binding["metadata"].get("name") or "") != name:
        raise bad_request("name in URL does not match name in Binding object")
    causes = [f"{cause.field}: {cause.message}" for cause in _target_causes(binding.get("target") or {})]
    if causes:
        raise unknown_error(causes[0] if len(causes) == 1 else f"[{', '.join(causes)}]")
    if not name:
        raise bad_request("Name parameter required.")


def _target_causes(target: Mapping[str, Any]) -> Iterator[FieldError]:
    if target.get("kind") not in (None, "", "Node"):
        yield not_supported("target.kind", target["kind"], _KINDS)
    if not target.get("name"):
        yield required("target.name")


def _check_bindable(pod: Mapping[str, Any]) -> None:
    """Refuse (409) a pod that is being deleted, is assigned to a node, or has scheduling gates."""
    name = pod["metadata"]["name"]
    why, node = "", pod["spec"].get("nodeName")
    if "deletionTimestamp" in pod["metadata"]:
        why = "is being deleted, cannot be assigned to a host"
    elif node:
        why = f'is already assigned to node "{node}"'
    elif pod["spec"].get("schedulingGates"):
        why = "has non-empty .spec.schedulingGates"
    if why:
        raise conflict("pods/binding", name, why=f"pod {name} {why}")


def _assign(pod: dict[str, Any], binding: Mapping[str, Any]) -> None:
    """Assign a pod to the node of a Binding, in place."""
    pod["spec"]["nodeName"] = binding["target"]["name"]
    for key in ("labels", "annotations"):
        if added := binding["metadata"].get(key):
            pod["metadata"][key] = {**(pod["metadata"].get(key) or {}), **added}
    status = pod.setdefault("status", {})
    status.pop("nominatedNodeName", None)
    _set_scheduled(status.setdefault("conditions", []))


def _set_scheduled(conditions: list[dict[str, Any]]) -> None:
    scheduled = {"type": "PodScheduled", "status": "True", "lastProbeTime": None, "lastTransitionTime": timestamp()}
    for index, condition in enumerate(conditions):
        if condition["type"] == "PodScheduled":
            if condition["status"] == "True":
                scheduled["lastTransitionTime"] = condition.get("lastTransitionTime")
            conditions[index] = scheduled
            return
    conditions.append(scheduled)
