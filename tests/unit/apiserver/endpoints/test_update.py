"""update: resource versions, PUT that creates, and the status subresource."""

from __future__ import annotations

from tests.unit.apiserver._kit import CONFIGMAPS, MERGE, Asker


def test_an_unchanged_write_keeps_the_version(ask: Asker) -> None:
    """A write without changes keeps the resourceVersion and sends no event."""
    made = ask.make("a", data={"k": "v"})
    code, again = ask("PUT", f"{CONFIGMAPS}/a", {"metadata": {"name": "a"}, "data": {"k": "v"}})
    assert code == 200
    assert again["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]
    assert ask.change("a", data={"k": "v"})["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]


def test_a_replacement_of_an_older_version_is_a_conflict(ask: Asker) -> None:
    """An update with an old resourceVersion is a conflict; without one the last writer wins."""
    old = ask.make("a")["metadata"]["resourceVersion"]
    ask.change("a", data={"k": "1"})
    body = {"metadata": {"name": "a", "resourceVersion": old}, "data": {"k": "2"}}
    code, status = ask("PUT", f"{CONFIGMAPS}/a", body)
    assert (code, status["reason"]) == (409, "Conflict")
    assert ask("PUT", f"{CONFIGMAPS}/a", {"metadata": {"name": "a"}, "data": {"k": "2"}})[0] == 200


LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"


def test_a_replacement_may_create_a_lease(ask: Asker) -> None:
    """A PUT to a name that does not exist creates some kinds and is 404 for others."""
    assert ask("PUT", f"{LEASES}/a", {"metadata": {"name": "a"}, "spec": {"holderIdentity": "x"}})[0] == 201
    assert ask("PUT", f"{CONFIGMAPS}/a", {"metadata": {"name": "a"}})[0] == 404


def test_some_kinds_are_only_replaced_by_who_names_a_version(ask: Asker) -> None:
    """An update of a Lease without a resourceVersion is refused."""
    made = ask("PUT", f"{LEASES}/a", {"metadata": {"name": "a"}, "spec": {"holderIdentity": "x"}})[1]
    code, status = ask("PUT", f"{LEASES}/a", {"metadata": {"name": "a"}, "spec": {"holderIdentity": "y"}})
    assert (code, status["details"]["causes"][0]["field"]) == (422, "metadata.resourceVersion")
    made["spec"]["holderIdentity"] = "y"
    assert ask("PUT", f"{LEASES}/a", made)[0] == 200


def test_status_has_its_own_door(ask: Asker) -> None:
    """A write of the object does not change its status, a write of the status changes nothing else."""
    nodes = "/api/v1/nodes"
    ask("POST", nodes, {"metadata": {"name": "n"}, "spec": {"podCIDR": "10.1.0.0/24"}})
    wish = {"spec": {"unschedulable": True}, "status": {"phase": "Running"}}
    _, changed = ask("PATCH", f"{nodes}/n", wish, headers=MERGE)
    assert (changed["spec"].get("unschedulable"), changed["status"].get("phase")) == (True, None)
    wish = {"spec": {"unschedulable": None}, "status": {"phase": "Running"}}
    _, changed = ask("PATCH", f"{nodes}/n/status", wish, headers=MERGE)
    assert (changed["spec"].get("unschedulable"), changed["status"].get("phase")) == (True, "Running")


def test_a_replacement_for_another_uid_is_a_conflict(ask: Asker) -> None:
    """An update of an object that was deleted does not change the new object of its name."""
    old = ask.make("a")
    ask("DELETE", f"{CONFIGMAPS}/a")
    ask.make("a")
    body = {"metadata": {"name": "a", "uid": old["metadata"]["uid"]}, "data": {"k": "2"}}
    code, status = ask("PUT", f"{CONFIGMAPS}/a", body)
    assert (code, status["reason"]) == (409, "Conflict")


def test_a_dry_run_of_an_update_stores_nothing(ask: Asker) -> None:
    """The response to a dry run has the change; the stored object does not, and stays without its finalizers."""
    made = ask.make("a", finalizers=["x.io/f"])
    body = {"metadata": {"name": "a"}, "data": {"k": "v"}}
    code, shown = ask("PUT", f"{CONFIGMAPS}/a", body, dryRun="All")
    assert (code, shown["data"], "finalizers" in shown["metadata"]) == (200, {"k": "v"}, False)
    assert ask("GET", f"{CONFIGMAPS}/a")[1] == made

    _, marked = ask("DELETE", f"{CONFIGMAPS}/a")
    assert ask("PUT", f"{CONFIGMAPS}/a", body, dryRun="All")[0] == 200
    assert ask("GET", f"{CONFIGMAPS}/a")[1] == marked
