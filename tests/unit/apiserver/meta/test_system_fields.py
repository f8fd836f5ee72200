"""System fields of metadata."""

from __future__ import annotations

from random import Random
from typing import Any

from pyctrl.apiserver import ApiServer, ResourceRegistry
from pyctrl.apiserver._meta.system_fields import generated_name, keep_system_fields
from tests.unit.apiserver._kit import CONFIGMAPS, Asker
from tests.unit.apiserver._objects import create, update


def _config(**metadata: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", **metadata}}


def test_a_replacement_may_leave_out_system_metadata() -> None:
    """An update without uid and timestamps keeps those of the live object."""
    registry = ResourceRegistry()
    old, _ = create(registry, _config(creationTimestamp="2026-01-01T00:00:00Z"))
    new = update(registry, _config(), old)
    assert new["metadata"] == old["metadata"]


def test_a_new_object_gets_its_system_fields(ask: Asker) -> None:
    """The server sets uid, creationTimestamp and resourceVersion, and ignores the client's values."""
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


def test_a_write_cannot_undo_a_deletion_or_set_a_generation() -> None:
    """An update keeps the deletion timestamp, the grace period and the generation, whatever the client sends."""
    old = {"creationTimestamp": "c", "uid": "u", "generation": 3, "deletionTimestamp": "d"}
    old["deletionGracePeriodSeconds"] = 0
    new = {"name": "a", "generation": 9, "uid": "u"}

    keep_system_fields(new, old)

    assert new == {"name": "a", **old}


def test_a_generated_name_fits_a_label() -> None:
    """A long prefix is cut, so that the name with its suffix has at most 63 characters."""
    made = generated_name("a" * 80, Random(1))

    assert (len(made), made[:58]) == (63, "a" * 58)
