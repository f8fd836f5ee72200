"""The workload controllers on any cluster; the cluster's own or those of pyctrl."""

from __future__ import annotations

import pytest

from pyctrl.api import Key, ObjectMeta
from pyctrl.client import Client, MergePatch, wait_for, wait_for_list
from pyctrl.kinds.apps.v1 import (
    ControllerRevision,
    Deployment,
    DeploymentSpec,
    ReplicaSet,
    StatefulSet,
    StatefulSetSpec,
)
from pyctrl.kinds.batch.v1 import Job, JobSpec
from pyctrl.kinds.core.v1 import Container, Event, Pod, PodSpec, PodTemplateSpec
from pyctrl.kinds.meta.v1 import LabelSelector
from pyctrl.kinds.policy.v1 import PodDisruptionBudget, PodDisruptionBudgetSpec

pytestmark = [pytest.mark.virtual_time, pytest.mark.usefixtures("running_pods")]  # where the cluster is embedded

LABELS = {"app": "web"}
SELECTOR = LabelSelector(match_labels=LABELS)
PATIENCE = 90.0  # seconds, for a cluster that pulls images
REVISION = "deployment.kubernetes.io/revision"


def template(note: str = "") -> PodTemplateSpec:
    """Make a pod template; a different note makes a different template."""
    container = Container(name="c", image="registry.k8s.io/pause:3.10")
    metadata = ObjectMeta(labels=dict(LABELS), annotations={"note": note} if note else {})
    return PodTemplateSpec(metadata=metadata, spec=PodSpec(containers=[container]))


async def rolled_out(client: Client, key: Key, replicas: int) -> Deployment:
    """Wait until a Deployment says that its rollout is complete."""

    def is_done(found: Deployment) -> bool:
        status = found.status
        is_seen = status.observed_generation == found.metadata.generation
        return is_seen and status.updated_replicas == status.available_replicas == status.replicas == replicas

    return await wait_for(client, Deployment, key, is_done, timeout=PATIENCE)


async def test_a_deployment_rolls_to_another_template_and_back(client: Client, namespace: str) -> None:
    """Each template has a ReplicaSet and revision; a rollback reuses the old ReplicaSet with a new revision."""
    key = Key(namespace, "web")
    spec = DeploymentSpec(replicas=2, selector=SELECTOR, template=template())
    await client.create(Deployment(metadata=ObjectMeta(name="web", namespace=namespace), spec=spec))
    first = done = await rolled_out(client, key, 2)
    for note in ("other", None):
        annotations = {"note": note}
        change = {"spec": {"template": {"metadata": {"annotations": annotations}}}}
        await client.patch(Deployment, key, MergePatch(change))
        done = await rolled_out(client, key, 2)
    assert first.metadata.annotations[REVISION] == "1"
    assert done.metadata.annotations[REVISION] == "3"
    conditions = {condition.type: (condition.status, condition.reason) for condition in done.status.conditions}
    assert conditions["Available"] == ("True", "MinimumReplicasAvailable")
    assert conditions["Progressing"] == ("True", "NewReplicaSetAvailable")
    sets = await client.list(ReplicaSet, namespace=namespace, labels=LABELS)
    assert sorted(found.metadata.annotations[REVISION] for found in sets) == ["2", "3"]


async def test_controllers_tell_what_they_do(client: Client, namespace: str) -> None:
    """The Deployment's event names the ReplicaSet and its sizes."""
    spec = DeploymentSpec(replicas=2, selector=SELECTOR, template=template())
    await client.create(Deployment(metadata=ObjectMeta(name="web", namespace=namespace), spec=spec))
    (found,) = await wait_for_list(client, ReplicaSet, lambda sets: len(sets) == 1, namespace=namespace)
    message = f"Scaled up replica set {found.metadata.name} from 0 to 2"
    await wait_for_list(client, Event, lambda told: message in {e.message for e in told}, namespace=namespace)


async def test_a_stateful_set_names_and_orders_its_pods(client: Client, namespace: str) -> None:
    """Pods are numbered and labelled with their revision; an update reaches all of them."""
    key = Key(namespace, "db")
    spec = StatefulSetSpec(replicas=2, service_name="db", selector=SELECTOR, template=template())
    await client.create(StatefulSet(metadata=ObjectMeta(name="db", namespace=namespace), spec=spec))
    before = await wait_for(client, StatefulSet, key, lambda s: s.status.ready_replicas == 2, timeout=PATIENCE)
    change = {"spec": {"template": {"metadata": {"annotations": {"note": "other"}}}}}
    await client.patch(StatefulSet, key, MergePatch(change))

    def is_updated(found: StatefulSet) -> bool:
        status = found.status
        is_new = status.current_revision == status.update_revision != before.status.current_revision
        return is_new and status.ready_replicas == status.updated_replicas == 2

    done = await wait_for(client, StatefulSet, key, is_updated, timeout=PATIENCE)
    pods = await client.list(Pod, namespace=namespace)
    assert {pod.metadata.name: pod.metadata.labels["controller-revision-hash"] for pod in pods} == {
        f"db-{number}": done.status.current_revision for number in (0, 1)
    }
    revisions = await client.list(ControllerRevision, namespace=namespace)
    assert sorted(found.revision for found in revisions) == [1, 2]


async def test_a_job_runs_to_its_end(client: Client, namespace: str) -> None:
    """Enough pods succeed, each is counted once, and the conditions appear in order."""
    container = Container(name="c", image="busybox", command=["true"])
    pods = PodTemplateSpec(spec=PodSpec(restart_policy="Never", containers=[container]))
    spec = JobSpec(completions=3, parallelism=2, template=pods)
    await client.create(Job(metadata=ObjectMeta(name="work", namespace=namespace), spec=spec))

    def is_complete(found: Job) -> bool:
        return any(condition.type == "Complete" for condition in found.status.conditions)

    done = await wait_for(client, Job, Key(namespace, "work"), is_complete, timeout=PATIENCE)
    assert done.status.succeeded == 3
    assert [condition.type for condition in done.status.conditions] == ["SuccessCriteriaMet", "Complete"]
    found = await client.list(Pod, namespace=namespace)
    assert not any("batch.kubernetes.io/job-tracking" in pod.metadata.finalizers for pod in found)


async def test_a_budget_knows_what_can_go(client: Client, namespace: str) -> None:
    """The status of a PodDisruptionBudget follows the pods of the Deployment."""
    spec = DeploymentSpec(replicas=3, selector=SELECTOR, template=template())
    await client.create(Deployment(metadata=ObjectMeta(name="web", namespace=namespace), spec=spec))
    budget = PodDisruptionBudgetSpec(max_unavailable="50%", selector=SELECTOR)
    await client.create(PodDisruptionBudget(metadata=ObjectMeta(name="b", namespace=namespace), spec=budget))

    def allows_two(found: PodDisruptionBudget) -> bool:
        return found.status.disruptions_allowed == 2

    found = await wait_for(client, PodDisruptionBudget, Key(namespace, "b"), allows_two, timeout=PATIENCE)
    assert (found.status.expected_pods, found.status.desired_healthy) == (3, 1)
