"""APIServices of the served group versions."""

from __future__ import annotations

from tests.unit.apiserver._kit import Asker
from tests.unit.apiserver._objects import GROUP, definition

SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def test_priorities_are_those_of_kube_apiserver(ask: Asker) -> None:
    """Built-in group versions have their priorities and are available."""
    _, apps = ask("GET", f"{SERVICES}/v1.apps")
    assert apps["spec"] == {"group": "apps", "version": "v1", "groupPriorityMinimum": 17800, "versionPriority": 15}
    assert [(each["type"], each["status"], each["reason"]) for each in apps["status"]["conditions"]] == [
        ("Available", "True", "Local")
    ]
    assert ask("GET", f"{SERVICES}/v1.")[1]["spec"]["versionPriority"] == 1


def test_a_group_of_a_definition_has_one_while_it_is_served(ask: Asker) -> None:
    """The APIService of a group exists while its definition is installed; those that clients create are kept."""
    body = {"metadata": {"name": "v1.mine"}, "spec": {"group": "mine", "version": "v1", "groupPriorityMinimum": 1}}
    assert ask("POST", SERVICES, {**body, "spec": {**body["spec"], "versionPriority": 1}})[0] == 201  # type: ignore[dict-item]
    made = definition({"type": "object"})
    del made["metadata"]["uid"]
    assert ask("POST", DEFINITIONS, made)[0] == 201
    code, custom = ask("GET", f"{SERVICES}/v1.{GROUP}")
    assert (code, custom["spec"]["groupPriorityMinimum"], custom["spec"]["versionPriority"]) == (200, 1000, 100)
    ask("DELETE", f"{DEFINITIONS}/{made['metadata']['name']}")
    assert ask("GET", f"{SERVICES}/v1.{GROUP}")[0] == 404
    assert ask("GET", f"{SERVICES}/v1.mine")[0] == 200
