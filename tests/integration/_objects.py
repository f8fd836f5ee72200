"""Objects that several integration tests create, and lookups in them."""

from __future__ import annotations

from collections.abc import Sequence

from pyctrl.api import GroupVersionKind, KubernetesObject, ObjectMeta, Unstructured
from pyctrl.kinds.apps.v1 import Deployment, DeploymentSpec
from pyctrl.kinds.core.v1 import ConfigMap, Container, Pod, PodSpec, PodTemplateSpec
from pyctrl.kinds.meta.v1 import LabelSelector

CONFIG_MAP = GroupVersionKind("", "v1", "ConfigMap")


def config_map(namespace: str, name: str = "a", **data: str) -> ConfigMap:
    """Make a ConfigMap."""
    return ConfigMap(metadata=ObjectMeta(name=name, namespace=namespace), data=data)


def pod(namespace: str, name: str = "a") -> Pod:
    """Make a pod; on a control plane without nodes the pod stays Pending."""
    return Pod(
        metadata=ObjectMeta(name=name, namespace=namespace),
        spec=PodSpec(containers=[Container(name="c", image="busybox")], termination_grace_period_seconds=0),
    )


def deployment(namespace: str, replicas: int, *, name: str = "a", containers: Sequence[str] = ("c",)) -> Deployment:
    """Make a Deployment."""
    labels = {"app": "a"}
    template = PodTemplateSpec(
        metadata=ObjectMeta(labels=labels),
        spec=PodSpec(containers=[Container(name=container, image="busybox") for container in containers]),
    )
    return Deployment(
        metadata=ObjectMeta(name=name, namespace=namespace),
        spec=DeploymentSpec(replicas=replicas, selector=LabelSelector(match_labels=labels), template=template),
    )


def owners_of(obj: KubernetesObject | Unstructured) -> set[tuple[str, str]]:
    """Return the managers that own fields of an object, with the operation of each."""
    return {(entry["manager"], entry["operation"]) for entry in obj.metadata.managed_fields}
