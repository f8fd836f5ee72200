"""Definitions: what stands around the schema."""

from __future__ import annotations

from examples.podset.podset import PodSet
from pyctrl.manifests import definition


def test_a_definition_is_named_and_versioned_as_its_kind() -> None:
    """A definition has the names, the scope and the version of its class, whose only version is stored."""
    found = definition(PodSet)
    assert found["metadata"] == {"name": "podsets.apps.jicki.cn"}
    assert found["spec"]["names"] == {
        "kind": "PodSet",
        "listKind": "PodSetList",
        "plural": "podsets",
        "singular": "podset",
    }
    version = found["spec"]["versions"][0]
    assert (version["name"], version["served"], version["storage"]) == ("v1alpha1", True, True)
