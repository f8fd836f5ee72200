"""ComponentStatuses."""

from __future__ import annotations

from tests.unit.apiserver._kit import Asker

PATH = "/api/v1/componentstatuses"


def test_components_that_do_not_run_are_unhealthy(ask: Asker) -> None:
    """A server alone reports its storage as healthy, and the other components as a kube-apiserver on its own does."""
    code, found = ask("GET", PATH)
    assert (code, found["metadata"]) == (200, {})
    health = {each["metadata"]["name"]: each["conditions"][0] for each in found["items"]}
    assert {name: each["status"] for name, each in health.items()} == {
        "scheduler": "False",
        "controller-manager": "False",
        "etcd-0": "True",
    }
    assert health["scheduler"]["message"] == (
        'Get "https://127.0.0.1:10259/healthz": dial tcp 127.0.0.1:10259: connect: connection refused'
    )


def test_components_that_run_are_healthy(ask: Asker) -> None:
    """A component that was announced is healthy; unknown ones do not exist, and none can be written."""
    ask.server.components.add("scheduler")
    assert ask("GET", f"{PATH}/scheduler")[1]["conditions"] == [{"type": "Healthy", "status": "True", "message": "ok"}]
    code, missing = ask("GET", f"{PATH}/other")
    assert (code, missing["message"]) == (404, 'componentstatus "other" not found')
    assert ask("DELETE", f"{PATH}/scheduler")[0] == 405


def test_selectors_choose_components(ask: Asker) -> None:
    """A field selector chooses by name; no component has labels."""
    _, found = ask("GET", PATH, fieldSelector="metadata.name=etcd-0")
    assert [each["metadata"]["name"] for each in found["items"]] == ["etcd-0"]
    assert ask("GET", PATH, labelSelector="a=b")[1]["items"] == []


def test_a_table_shows_the_health(ask: Asker) -> None:
    """`kubectl get componentstatuses` shows status, message and error."""
    _, table = ask("GET", PATH, headers={"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"})
    assert [each["name"] for each in table["columnDefinitions"]] == ["Name", "Status", "Message", "Error"]
    assert table["rows"][2]["cells"] == ["etcd-0", "Healthy", "ok", ""]


def test_components_cannot_be_watched(ask: Asker) -> None:
    """A watch is refused with the name of the resource, as of every kind that can only be listed."""
    code, told = ask("GET", PATH, watch="true")
    assert (code, told["message"]) == (405, 'watch is not supported on resources of kind "componentstatuses"')
