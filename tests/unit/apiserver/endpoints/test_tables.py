"""`Table` responses, which `kubectl get` prints."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from pyctrl import _clock
from pyctrl.apiserver import ResourceRegistry
from pyctrl.apiserver._endpoints.tables import convert_to_table
from tests.unit.apiserver._kit import MERGE, Asker
from tests.unit.apiserver._objects import GROUP, create, deployment, install, spec_schema, thing

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


CREATED = (NOW - timedelta(minutes=5)).strftime("%Y-%m-%dT%H:%M:%SZ")


def _cells(registry: ResourceRegistry, place: tuple[str, str, str], obj: dict[str, Any]) -> dict[str, Any]:
    found = registry.find(*place)
    assert found is not None
    obj["metadata"]["creationTimestamp"] = CREATED
    with _clock.use(lambda: NOW):
        made = convert_to_table(found, [obj], metadata={"resourceVersion": "7"})
    assert made["metadata"] == {"resourceVersion": "7"}
    names = [column["name"] for column in made["columnDefinitions"]]
    return dict(zip(names, made["rows"][0]["cells"], strict=True))


def test_a_custom_resource_has_the_columns_of_its_definition() -> None:
    """Printer columns show the values of their paths, converted to their type; absent values are null."""
    registry = ResourceRegistry()
    columns = [
        {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
        {"name": "All", "type": "string", "jsonPath": ".spec.nodes"},
        {"name": "Ready", "type": "string", "jsonPath": '.spec.conditions[?(@.type=="Ready")].status'},
        {"name": "None", "type": "string", "jsonPath": ".spec.none"},
        {"name": "Since", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
    ]
    install(registry, spec_schema({}), additionalPrinterColumns=columns)
    conditions = [{"type": "Ready", "status": "True"}]
    obj = thing({"size": 3, "nodes": ["x", "y"], "conditions": conditions})
    assert _cells(registry, (GROUP, "v1", "things"), obj) == {
        "Name": "a",
        "Size": 3,
        "All": '["x","y"]',
        "Ready": "True",
        "None": None,
        "Since": "5m",
    }


def test_without_columns_a_custom_resource_shows_its_age() -> None:
    """A definition without printer columns has name and age."""
    registry = ResourceRegistry()
    install(registry, spec_schema({}))
    assert _cells(registry, (GROUP, "v1", "things"), thing({})) == {"Name": "a", "Age": "5m"}


def test_columns_of_built_in_kinds_are_described() -> None:
    """Each column has kube-apiserver's description; that of Name and Age is the one of the metadata."""
    found = ResourceRegistry().find("", "v1", "pods")
    assert found is not None
    texts = {column["name"]: column["description"] for column in found.columns}
    assert texts["Ready"] == "The aggregate readiness state of this pod for accepting traffic."
    assert texts["Name"].startswith("Name must be unique within a namespace.")
    assert all(texts.values())


def test_a_deployment_shows_how_many_are_ready() -> None:
    """A Deployment's row counts ready, updated and available replicas, and names containers, images and selector."""
    registry = ResourceRegistry()
    obj, _ = create(registry, deployment(replicas=3))
    obj["status"] = {"readyReplicas": 1, "updatedReplicas": 2, "availableReplicas": 1}
    cells = _cells(registry, ("apps", "v1", "deployments"), obj)
    assert (cells["Ready"], cells["Up-to-date"], cells["Available"], cells["Age"]) == ("1/3", 2, 1, "5m")
    assert (cells["Containers"], cells["Images"], cells["Selector"]) == ("c", "busybox", "app=d")


def test_a_pod_shows_what_keeps_it_from_running() -> None:
    """The status of a pod is Terminating, else the reason of a waiting container, else the phase."""
    registry = ResourceRegistry()
    waiting = {"state": {"waiting": {"reason": "CrashLoopBackOff"}}, "restartCount": 2, "ready": False}
    pod: dict[str, Any] = {
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c"}]},
        "status": {"phase": "Running", "containerStatuses": [waiting]},
    }
    place = ("", "v1", "pods")
    cells = _cells(registry, place, pod)
    assert (cells["Ready"], cells["Status"], cells["Restarts"]) == ("0/1", "CrashLoopBackOff", "2")
    pod["metadata"]["deletionTimestamp"] = CREATED
    assert _cells(registry, place, pod)["Status"] == "Terminating"


def test_every_listable_kind_has_a_row_for_an_empty_object() -> None:
    """Every kind has a row for an object with only a name."""
    registry = ResourceRegistry()
    for found in registry:
        if "list" in found.verbs:
            obj = {**found.blank(), "metadata": {"name": "x"}}
            made = convert_to_table(found, [obj])
            more = found.plural == "ipaddresses"  # it has a cell for the age without a column
            assert len(made["rows"][0]["cells"]) == len(made["columnDefinitions"]) + more, found


def test_an_empty_table_of_a_kind_without_columns_has_no_rows(ask: Asker) -> None:
    """As in kube-apiserver, `rows` is null where the kind has no printer of its own, and a list elsewhere."""
    accept = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
    assert ask("GET", "/api/v1/limitranges", headers=accept)[1]["rows"] is None
    assert ask("GET", "/api/v1/pods", headers=accept)[1]["rows"] == []


def test_the_row_of_an_ended_pod_has_a_condition(ask: Asker) -> None:
    """The row of a pod that has succeeded is completed."""
    pods = "/api/v1/namespaces/default/pods"
    ask("POST", pods, {"metadata": {"name": "a"}, "spec": {"containers": [{"name": "a", "image": "a"}]}})
    ask("PATCH", f"{pods}/a/status", {"status": {"phase": "Succeeded"}}, headers=MERGE)
    _, table = ask("GET", pods, headers={"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"})
    assert [each["reason"] for each in table["rows"][0]["conditions"]] == ["Succeeded"]
