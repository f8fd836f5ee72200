"""Conditions of FlowSchemas."""

from __future__ import annotations

from typing import Any

from tests.unit.apiserver._kit import Asker

FLOWS = "/apis/flowcontrol.apiserver.k8s.io/v1"
SCHEMA = {
    "metadata": {"name": "mine"},
    "spec": {"priorityLevelConfiguration": {"name": "mine"}, "matchingPrecedence": 500},
}
LEVEL = {
    "metadata": {"name": "mine"},
    "spec": {"type": "Limited", "limited": {"nominalConcurrencyShares": 1, "limitResponse": {"type": "Reject"}}},
}


def _condition(ask: Asker, name: str = "mine") -> dict[str, Any]:
    found: dict[str, Any] = ask("GET", f"{FLOWS}/flowschemas/{name}")[1]["status"]["conditions"][0]
    return found


def test_a_flow_schema_says_whether_its_priority_level_exists(ask: Asker) -> None:
    """The condition Dangling follows the creation and deletion of the priority level."""
    assert ask("POST", f"{FLOWS}/flowschemas", SCHEMA)[0] == 201
    dangling = _condition(ask)
    assert (dangling["type"], dangling["status"], dangling["reason"]) == ("Dangling", "True", "NotFound")
    assert dangling["message"] == (
        'This FlowSchema references the PriorityLevelConfiguration object named "mine" but there is no such object'
    )
    assert ask("POST", f"{FLOWS}/prioritylevelconfigurations", LEVEL)[0] == 201
    assert (_condition(ask)["status"], _condition(ask)["reason"]) == ("False", "Found")
    assert ask("DELETE", f"{FLOWS}/prioritylevelconfigurations/mine")[0] == 200
    assert _condition(ask)["status"] == "True"


def test_the_condition_is_of_the_server(ask: Asker) -> None:
    """The server applies the condition; the rest of the object stays that of its creator."""
    ask("POST", f"{FLOWS}/flowschemas", SCHEMA)
    _, found = ask("GET", f"{FLOWS}/flowschemas/mine")
    managers = [(each["operation"], each.get("subresource")) for each in found["metadata"]["managedFields"]]
    assert managers == [("Apply", "status"), ("Update", None)]
    assert found["metadata"]["generation"] == 1


def test_objects_that_did_not_change_are_not_written(ask: Asker) -> None:
    """A request about another object leaves the versions of the FlowSchemas as they are."""
    before = ask("GET", f"{FLOWS}/flowschemas/exempt")[1]["metadata"]["resourceVersion"]
    ask("POST", f"{FLOWS}/flowschemas", SCHEMA)
    assert ask("GET", f"{FLOWS}/flowschemas/exempt")[1]["metadata"]["resourceVersion"] == before
