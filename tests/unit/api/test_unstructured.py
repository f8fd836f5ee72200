"""Unstructured objects, schemes, and names of kinds."""

from __future__ import annotations

import pytest

from pyctrl.api import (
    CustomResource,
    GroupVersionKind,
    GroupVersionResource,
    Metadata,
    Model,
    Scheme,
    Unstructured,
    decode,
    is_metadata_only,
    kind_of,
)
from pyctrl.errors import BuilderError, DecodeError, NotRegistered


class LampSpec(Model):
    watts: int = 0


class Lamp(CustomResource[LampSpec], group="example.com", version="v1"):
    """A lamp."""


LAMP = Lamp.gvk
WIRE = b'{"apiVersion":"example.com/v1","kind":"Lamp","metadata":{"name":"a","x":1},"spec":{"watts":3}}'


def test_content_by_item_and_metadata_by_attribute() -> None:
    """Spec and status are items, metadata is typed, and both are encoded."""
    obj = Unstructured.from_wire(WIRE)
    obj["spec"]["watts"] = 4
    obj.metadata.labels["l"] = "v"
    assert obj.gvk == LAMP
    assert obj.to_wire() == {
        "apiVersion": "example.com/v1",
        "kind": "Lamp",
        "metadata": {"name": "a", "x": 1, "labels": {"l": "v"}},
        "spec": {"watts": 4},
    }
    assert Unstructured.from_wire(obj.to_json()) == obj
    assert list(obj) == ["apiVersion", "kind", "spec"]


def test_metadata_has_one_truth() -> None:
    """Setting metadata as an item is refused with an error that names the alternative."""
    obj = Unstructured.from_wire(WIRE)
    with pytest.raises(KeyError, match=r"\.metadata"):
        obj["metadata"]


def test_what_is_not_an_object_is_refused() -> None:
    """JSON that is no object, and text that is no JSON, are refused."""
    with pytest.raises(DecodeError, match="expected a JSON object, got list"):
        Unstructured.from_wire(b"[]")
    with pytest.raises(DecodeError, match="not JSON"):
        Unstructured.from_wire(b"{")


def test_copy_is_independent() -> None:
    """A copy shares no part with the original."""
    obj = Unstructured.from_wire(WIRE)
    copy = obj.deep_copy()
    copy["spec"]["watts"] = 9
    assert obj["spec"]["watts"] == 3


def test_items_of_lists_get_their_kind() -> None:
    """Items of built-in lists lack apiVersion and kind; decoding with a kind adds them."""
    item = b'{"metadata":{"name":"a"},"spec":{"watts":1}}'
    assert decode(LAMP, item).gvk == LAMP
    assert decode(Lamp, item).gvk == LAMP
    assert isinstance(decode(Metadata[Lamp], item), Metadata)


def test_kind_of_names_kinds_and_refuses_the_rest() -> None:
    """A class, a metadata view and a GroupVersionKind name a kind; a class without a group is refused."""
    assert kind_of(Lamp) == kind_of(Metadata[Lamp]) == kind_of(LAMP) == LAMP
    assert [is_metadata_only(kind) for kind in (Lamp, Metadata[Lamp], LAMP)] == [False, True, False]
    with pytest.raises(NotRegistered, match="LampSpec is not registered"):
        kind_of(LampSpec)  # type: ignore[type-var]  # the mistake under test


def test_scheme_finds_classes() -> None:
    """A scheme decodes known kinds to their class and others to Unstructured."""
    scheme = Scheme(Lamp)
    assert isinstance(scheme.decode(WIRE), Lamp)
    assert isinstance(Scheme().decode(WIRE), Unstructured)
    assert (scheme.require(LAMP), LAMP in scheme, list(scheme)) == (Lamp, True, [LAMP])
    with pytest.raises(NotRegistered, match="Kind=Lamp is not registered"):
        Scheme().require(LAMP)


def test_scheme_refuses_two_classes_of_a_kind() -> None:
    """A scheme refuses a second class for a kind."""

    class Other(CustomResource[LampSpec], group="example.com", version="v1", kind="Lamp"):
        """Another lamp."""

    with pytest.raises(BuilderError, match="is registered as Lamp"):
        Scheme(Lamp, Lamp, Other)


def test_names_print_as_kubernetes_does() -> None:
    """Kinds and resources print in Kubernetes' own form."""
    assert str(LAMP) == "example.com/v1, Kind=Lamp"
    assert str(LAMP.group_kind) == "Lamp.example.com"
    assert GroupVersionKind.parse("v1", "Pod") == GroupVersionKind("", "v1", "Pod")
    assert GroupVersionResource("", "v1", "pods").path == "/api/v1"
    assert GroupVersionResource("apps", "v1", "deployments").path == "/apis/apps/v1"
