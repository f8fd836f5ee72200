"""APIServices of the served group versions."""

from __future__ import annotations

from tests.unit.apiserver._kit import MERGE, Asker
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


def test_that_of_a_definition_is_created_again(ask: Asker) -> None:
    """A client cannot delete or change it; one with a service of its own is kept until it is deleted."""
    made = definition({"type": "object"})
    del made["metadata"]["uid"]
    path = f"{SERVICES}/v1.{GROUP}"
    own = {"group": GROUP, "version": "v1", "groupPriorityMinimum": 7, "versionPriority": 7}
    body = {"metadata": {"name": f"v1.{GROUP}"}, "spec": own | {"service": {"namespace": "a", "name": "b"}}}
    assert ask("POST", SERVICES, body)[0] == 201
    ask("POST", DEFINITIONS, made)
    assert ask("GET", path)[1]["spec"]["groupPriorityMinimum"] == 7
    ask("DELETE", path)
    assert ask("GET", path)[1]["spec"] == own | {"groupPriorityMinimum": 1000, "versionPriority": 100}
    ask("PATCH", path, {"spec": {"versionPriority": 1}}, headers=MERGE)
    assert ask("GET", path)[1]["spec"]["versionPriority"] == 100


def test_that_of_a_built_in_group_is_created_at_the_start_only(ask: Asker) -> None:
    """A client may delete or change it."""
    ask("PATCH", f"{SERVICES}/v1.batch", {"spec": {"versionPriority": 1}}, headers=MERGE)
    assert ask("GET", f"{SERVICES}/v1.batch")[1]["spec"]["versionPriority"] == 1
    ask("DELETE", f"{SERVICES}/v1.apps")
    assert ask("GET", f"{SERVICES}/v1.apps")[0] == 404
