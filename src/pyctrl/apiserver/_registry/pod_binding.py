"""What a Binding makes of a pod: the node that it is scheduled to, with labels and annotations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pyctrl.apiserver._errors import FieldError, bad_request, conflict, not_supported, required, unknown_error
from pyctrl.apiserver._meta.system_fields import timestamp

BINDINGS: Final = ("", "bindings")  # the collection to which a Binding may be posted as well

_KINDS = ("Node", "<empty>")


def check_binding(binding: Mapping[str, Any], name: str) -> None:
    """Check a Binding by itself.

    Args:
        name: of the pod that it is posted to.

    Raises:
        Refused: 400, it names another pod; 500, as in kube-apiserver, when its target is no node.
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


def check_bindable(pod: Mapping[str, Any]) -> None:
    """Refuse (409) a pod that is being deleted, has a node, or is not ready to be scheduled."""
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


def assign_pod(pod: dict[str, Any], binding: Mapping[str, Any]) -> None:
    """Schedule a pod as a Binding says, in place."""
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
