"""create: system fields, refused bodies, dry runs and missing namespaces."""

from __future__ import annotations

from random import Random
from typing import Any

from pyctrl.apiserver import ApiServer
from tests.unit.apiserver._kit import CONFIGMAPS, Asker


def test_a_new_object_gets_its_system_fields(ask: Asker) -> None:
    """The server sets uid, creationTimestamp and resourceVersion, whatever the client sent."""
    made = ask.make("a", uid="mine", creationTimestamp="2001-01-01T00:00:00Z", deletionTimestamp="2001-01-01T00:00:00Z")
    metadata = made["metadata"]
    assert metadata["uid"] != "mine"
    assert not metadata["creationTimestamp"].startswith("2001")
    assert "deletionTimestamp" not in metadata
    assert metadata["namespace"] == "default"


def test_the_same_randomness_makes_the_same_objects() -> None:
    """Two servers with the same seed create the same uids and names, so that tests are reproducible."""

    def made() -> Any:
        return Asker(ApiServer(random=Random(1)))("POST", CONFIGMAPS, {"metadata": {"generateName": "a-"}})[1]

    first, second = made(), made()
    assert first["metadata"]["uid"] == second["metadata"]["uid"]
    assert first["metadata"]["name"] == second["metadata"]["name"]
    assert len(first["metadata"]["name"]) == len("a-") + 5


def test_an_object_cannot_be_made_with_a_version(ask: Asker) -> None:
    """A create with a resourceVersion is 500, as in kube-apiserver."""
    code, status = ask("POST", CONFIGMAPS, {"metadata": {"name": "a", "resourceVersion": "5"}})
    assert (code, status["message"]) == (500, "resourceVersion should not be set on objects to be created")


def test_a_refusal_shows_how_the_body_begins(ask: Asker) -> None:
    """The error for a body that is no object has its first bytes, in hexadecimal if it does not look like JSON."""
    assert ask("POST", CONFIGMAPS, b"")[1]["message"].endswith("unexpected end of JSON input (<empty>)")
    assert ask("POST", CONFIGMAPS, b"[1]")[1]["message"].endswith("(5b315d)")
    assert ask("POST", CONFIGMAPS, b"{" + b"x" * 40)[1]["message"].endswith("({" + "x" * 29 + " ...)")


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
