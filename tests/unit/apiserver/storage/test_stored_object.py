"""Stored objects."""

from __future__ import annotations

from pyctrl.apiserver import ResourceRegistry
from pyctrl.apiserver._storage.stored_object import StoredObject, key_of

CONFIGMAPS = ResourceRegistry().require("", "v1", "configmaps")
OBJECT = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a", "namespace": "n", "labels": {"x": "y"}}}


def test_an_object_that_is_read_again_is_the_same() -> None:
    """An object made of the bytes of another has its key, labels, bytes and version, and reads like it."""
    written = StoredObject(OBJECT, 5, CONFIGMAPS)
    again = StoredObject(written.decode(), 5, None, written.data)
    assert (again.key, again.labels, again.version, again.data) == ("n/a", {"x": "y"}, 5, written.data)
    assert again.read(CONFIGMAPS) == written.read(CONFIGMAPS) == OBJECT
    assert not again.lacks(CONFIGMAPS)


def test_an_object_at_another_version_says_so() -> None:
    """The last state in a DELETED event has the version of the removal."""
    moved = StoredObject(OBJECT, 5, CONFIGMAPS).at(9)
    assert (moved.version, moved.decode()["metadata"]["resourceVersion"]) == (9, "9")


def test_keys_sort_by_namespace() -> None:
    """A key is namespace/name, or the name of a cluster-scoped object."""
    assert (key_of("n", "a"), key_of("", "a")) == ("n/a", "a")
