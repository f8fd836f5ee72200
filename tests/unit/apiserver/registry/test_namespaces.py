"""Namespaces: finalizer, phase and label."""

from __future__ import annotations

from pyctrl.apiserver import ResourceRegistry
from tests.unit.apiserver._kit import MERGE, Asker
from tests.unit.apiserver._objects import create


def test_a_new_namespace_has_finalizer_phase_and_label() -> None:
    """A new namespace is Active, and has its name as a label and the finalizer `kubernetes` in its spec."""
    created, _ = create(ResourceRegistry(), {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}})
    assert created["spec"] == {"finalizers": ["kubernetes"]}
    assert created["status"] == {"phase": "Active"}
    assert created["metadata"]["labels"] == {"kubernetes.io/metadata.name": "n"}


def test_a_namespace_goes_when_it_is_finalized(ask: Asker) -> None:
    """A deleted namespace stays until its controller empties spec.finalizers through /finalize."""
    path = "/api/v1/namespaces/n"
    ask("POST", "/api/v1/namespaces", {"metadata": {"name": "n"}})
    _, marked = ask("DELETE", path)
    assert marked["spec"]["finalizers"] == ["kubernetes"]
    ask("PATCH", path, {"spec": {"finalizers": None}}, headers=MERGE)
    assert ask("GET", path)[0] == 200
    assert ask("PUT", f"{path}/finalize", {**marked, "spec": {"finalizers": []}})[0] == 200
    assert ask("GET", path)[0] == 404


def test_finalizing_replaces_the_metadata_too(ask: Asker) -> None:
    """A body for /finalize without the namespace's finalizers removes them, and the deleted namespace goes."""
    path = "/api/v1/namespaces/n"
    ask("POST", "/api/v1/namespaces", {"metadata": {"name": "n", "finalizers": ["x.io/hold"], "labels": {"a": "b"}}})
    ask("DELETE", path)
    assert ask("PUT", f"{path}/finalize", {"metadata": {"name": "n"}, "spec": {"finalizers": ["x.io/a"]}})[0] == 200
    assert "finalizers" not in ask("GET", path)[1]["metadata"]
    assert ask("PUT", f"{path}/finalize", {"metadata": {"name": "n"}, "spec": {}})[0] == 200
    assert ask("GET", path)[0] == 404


def test_a_second_delete_does_not_remove_a_namespace_that_has_content(ask: Asker) -> None:
    """A namespace that is deleted is Terminating, also after more deletes, until it is finalized."""
    path = "/api/v1/namespaces/n"
    ask("POST", "/api/v1/namespaces", {"metadata": {"name": "n"}})
    for _ in range(2):
        code, marked = ask("DELETE", path)
        assert (code, marked["status"]) == (200, {"phase": "Terminating"})
    assert ask("GET", path)[1]["status"] == {"phase": "Terminating"}


def test_the_label_with_the_name_belongs_to_the_creator(ask: Asker) -> None:
    """The label is a default, so that it has the manager of the request, except with a generated name."""
    made = ask("POST", "/api/v1/namespaces", {"metadata": {"name": "labelled"}})[1]["metadata"]
    assert made["labels"] == {"kubernetes.io/metadata.name": "labelled"}
    owned = made["managedFields"][0]["fieldsV1"]["f:metadata"]["f:labels"]
    assert owned == {".": {}, "f:kubernetes.io/metadata.name": {}}
    generated = ask("POST", "/api/v1/namespaces", {"metadata": {"generateName": "n-"}})[1]["metadata"]
    assert generated["labels"] == {"kubernetes.io/metadata.name": generated["name"]}
    assert "f:labels" not in generated["managedFields"][0]["fieldsV1"]["f:metadata"]


def test_a_second_delete_leaves_the_finalizers(ask: Asker) -> None:
    """The propagation policy of the first delete of a namespace counts, not that of later ones."""
    path = "/api/v1/namespaces/going"
    ask("POST", "/api/v1/namespaces", {"metadata": {"name": "going", "finalizers": ["example.com/a"]}})
    assert ask("DELETE", path, {"propagationPolicy": "Orphan"})[1]["metadata"]["finalizers"] == [
        "example.com/a",
        "orphan",
    ]
    for dry_run in ([], ["All"]):
        _, shown = ask("DELETE", path, {"propagationPolicy": "Foreground", "dryRun": dry_run})
        assert shown["metadata"]["finalizers"] == ["example.com/a", "orphan"]
