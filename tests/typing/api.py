"""Return types, as type checkers see them. Checked by mypy and pyright, never run.

The name of each function is the behaviour; `assert_type` fails the check when the type is any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, assert_type

from pyctrl.api import (
    CustomResource,
    GroupVersionKind,
    Int32,
    Key,
    LabelSelector,
    Metadata,
    Model,
    ObjectMeta,
    OwnerReference,
    Quantity,
    Unstructured,
    controller_of,
    merge_patch_diff,
    set_controller_reference,
)
from pyctrl.client import (
    Client,
    Config,
    JsonPatch,
    MergePatch,
    Reader,
    StrategicMergePatch,
    Writer,
    in_namespace,
    merge_from,
)
from pyctrl.kinds.apps.v1 import Deployment, DeploymentSpec
from pyctrl.kinds.core.v1 import Pod

POD_SETS = GroupVersionKind("apps.jicki.cn", "v1alpha1", "PodSet")
KEY = Key("default", "web")


class PodSetSpec(Model):
    """A user's spec."""

    size: Int32 = 0


class PodSetStatus(Model):
    """A user's status."""

    nodes: list[str] = []


class PodSet(CustomResource[PodSetSpec, PodSetStatus], group="apps.jicki.cn", version="v1alpha1"):
    """A user's kind."""


def fields_have_the_types_they_were_given(podset: PodSet, deployment: Deployment) -> None:
    """Spec and status of a custom resource are the user's own classes; the built-ins are typed down to their leaves."""
    assert_type(podset.spec, PodSetSpec)
    assert_type(podset.spec.size, int)
    assert_type(podset.status.nodes, list[str])
    assert_type(podset.metadata, ObjectMeta)
    assert_type(podset.metadata.labels, dict[str, str])
    assert_type(podset.metadata.owner_references, list[OwnerReference])
    assert_type(PodSet.gvk, GroupVersionKind)
    assert_type(deployment.spec, DeploymentSpec)
    assert_type(deployment.spec.replicas, int | None)
    assert_type(deployment.spec.template.spec.containers[0].image, str | None)


def classes_are_built_by_field_name() -> None:
    """Fields are keyword arguments in snake case."""
    podset = PodSet(metadata=ObjectMeta(name="web", namespace="default"), spec=PodSetSpec(size=3))
    assert_type(podset, PodSet)
    assert_type(PodSet.from_wire(b"{}"), PodSet)
    assert_type(podset.to_wire(), dict[str, Any])
    assert_type(podset.to_json(), bytes)


async def reads_give_the_kind_that_was_asked_for(reader: Reader) -> None:
    """A class returns its objects, a GroupVersionKind Unstructured, Metadata[T] Metadata[T]."""
    assert_type(await reader.get(PodSet, KEY), PodSet)
    assert_type(await reader.find(PodSet, KEY), PodSet | None)
    assert_type(await reader.list(Pod, namespace="default", labels="app=web"), Sequence[Pod])
    assert_type(await reader.get(POD_SETS, KEY), Unstructured)
    assert_type(await reader.find(POD_SETS, KEY), Unstructured | None)
    assert_type(await reader.list(POD_SETS), Sequence[Unstructured])
    assert_type(await reader.get(Metadata[PodSet], KEY), Metadata[PodSet])


async def writes_give_back_what_they_were_given(writer: Writer, podset: PodSet, untyped: Unstructured) -> None:
    """Each write returns the type of its argument."""
    assert_type(await writer.create(podset), PodSet)
    assert_type(await writer.update(untyped), Unstructured)
    assert_type(await writer.patch(podset, merge_from(podset)), PodSet)
    assert_type(await writer.patch(PodSet, KEY, MergePatch({"spec": {"size": 1}})), PodSet)
    assert_type(await writer.patch(POD_SETS, KEY, JsonPatch([])), Unstructured)
    assert_type(await writer.patch(Pod, KEY, StrategicMergePatch({})), Pod)
    assert_type(await writer.apply(podset, force=True), PodSet)
    assert_type(await writer.apply({"apiVersion": "v1", "kind": "Pod"}), Unstructured)
    assert_type(await writer.status.update(podset), PodSet)
    assert_type(await writer.status.patch(podset, merge_from(podset)), PodSet)
    await writer.delete(podset)
    await writer.delete(Pod, KEY, grace_period_seconds=0)


async def a_client_reads_and_writes(config: Config, podset: PodSet, untyped: Unstructured) -> None:
    """A client is both a Reader and a Writer, and so are its wrappers."""
    async with Client.connect(config) as client:
        assert_type(client, Client)
        reader: Reader = client
        writer: Writer = client
        elsewhere: Reader = in_namespace(client, "elsewhere")
        await reads_give_the_kind_that_was_asked_for(reader)
        await reads_give_the_kind_that_was_asked_for(elsewhere)
        await writes_give_back_what_they_were_given(writer, podset, untyped)


def pure_functions_are_typed(podset: PodSet, deployment: Deployment) -> None:
    """Selectors, quantities, patches and owners need no casts."""
    assert_type(LabelSelector.parse("app in (web, db),!legacy").matches(podset.metadata.labels), bool)
    assert_type(Quantity("500m") + Quantity("1"), Quantity)
    assert_type(Quantity("1Gi") > Quantity("1G"), bool)
    assert_type(merge_patch_diff({"a": 1}, {}), dict[str, Any])
    set_controller_reference(podset, deployment)
    assert_type(controller_of(deployment), OwnerReference | None)
    assert_type(Key.parse("default/web"), Key)
