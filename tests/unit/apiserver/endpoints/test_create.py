"""create: system fields, refused bodies, dry runs and missing namespaces."""

from __future__ import annotations

from tests.unit.apiserver._kit import CONFIGMAPS, Asker


def test_an_object_cannot_be_made_with_a_version(ask: Asker) -> None:
    """A create with a resourceVersion is 500, as in kube-apiserver."""
    code, status = ask("POST", CONFIGMAPS, {"metadata": {"name": "a", "resourceVersion": "5"}})
    assert (code, status["message"]) == (500, "resourceVersion should not be set on objects to be created")


def test_a_dry_run_changes_nothing(ask: Asker) -> None:
    """dryRun=All returns the object and stores nothing."""
    before = ask.server.storage.version
    code, made = ask("POST", CONFIGMAPS, {"metadata": {"name": "a"}}, dryRun="All")
    assert (code, "resourceVersion" in made["metadata"]) == (201, False)
    assert ask("GET", f"{CONFIGMAPS}/a")[0] == 404
    assert ask.server.storage.version == before


def test_creating_needs_a_living_namespace(ask: Asker) -> None:
    """A missing namespace is 404, a terminating one is 403."""
    ask("POST", "/api/v1/namespaces", {"metadata": {"name": "n"}})
    path = "/api/v1/namespaces/n/configmaps"
    assert ask("POST", path, {"metadata": {"name": "a"}})[0] == 201
    assert ask("DELETE", "/api/v1/namespaces/n")[1]["status"]["phase"] == "Terminating"
    code, status = ask("POST", path, {"metadata": {"name": "b"}})
    assert (code, status["details"]["causes"][0]["reason"]) == (403, "NamespaceTerminating")
    assert ask("POST", "/api/v1/namespaces/none/configmaps", {"metadata": {"name": "b"}})[0] == 404


def test_a_name_is_taken_until_its_object_is_removed(ask: Asker) -> None:
    """The conflict with an object that is being deleted says so."""
    ask.make("a", finalizers=["x.io/f"])
    assert ask("POST", CONFIGMAPS, {"metadata": {"name": "a"}})[1]["message"] == 'configmaps "a" already exists'
    ask("DELETE", f"{CONFIGMAPS}/a")
    message = ask("POST", CONFIGMAPS, {"metadata": {"name": "a"}})[1]["message"]
    assert message == 'object is being deleted: configmaps "a" already exists'
