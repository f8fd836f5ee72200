"""Validation of metadata: names, labels, annotations, owners and finalizers."""

from __future__ import annotations

import re
from typing import Any

import pytest

from pyctrl.apiserver import ResourceRegistry
from pyctrl.apiserver._errors import StatusError
from tests.unit.apiserver._objects import complaints, create, install, spec_schema, thing, update


def _config(**metadata: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", **metadata}}


@pytest.mark.parametrize(
    ("metadata", "start"),
    [
        ({"name": "Upper"}, 'metadata.name: Invalid value: "Upper": a lowercase RFC 1123 subdomain must consist of'),
        ({"name": ""}, "metadata.name: Required value: name or generateName is required"),
        ({"labels": {"bad label": "x"}}, 'metadata.labels: Invalid value: "bad label": name part must consist of'),
        (
            {"labels": {"ok": "bad value!"}},
            'metadata.labels: Invalid value: "bad value!": a valid label must be an empty',
        ),
        (
            {"annotations": {"a/b/c": ""}},
            'metadata.annotations: Invalid value: "a/b/c": a valid label key must consist of',
        ),
        ({"annotations": {"k": "x" * 300_000}}, "metadata.annotations: Too long: may not be more than 262144 bytes"),
        (
            {"finalizers": ["orphan", "foregroundDeletion"]},
            'metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foreground',
        ),
        (
            {"finalizers": ["noslash"]},
            'metadata.finalizers[0]: Invalid value: "noslash": name is neither a standard finalizer name nor',
        ),
        (
            {"ownerReferences": [{"apiVersion": "v1", "kind": "K", "name": "n", "uid": ""}]},
            'metadata.ownerReferences.uid: Invalid value: "": must not be empty',
        ),
    ],
)
def test_bad_metadata_is_refused(metadata: dict[str, Any], start: str) -> None:
    """Invalid metadata is refused with kube-apiserver's message."""
    with pytest.raises(StatusError) as refused:
        create(ResourceRegistry(), _config(**metadata))
    (told,) = complaints(refused.value)
    assert told.startswith(start)


def test_one_owner_controls() -> None:
    """Two controlling owners are refused, and the message names both."""
    owners = [{"apiVersion": "v1", "kind": "K", "name": n, "uid": n, "controller": True} for n in "xy"]
    with pytest.raises(StatusError, match="in references for K/x and K/y"):
        create(ResourceRegistry(), _config(ownerReferences=owners))


def test_owners_are_shown_in_the_order_of_their_type() -> None:
    """The message has the fields of owners as Go writes them, in whatever order the client sent them."""
    owners = [{"controller": True, "uid": n, "name": n, "kind": "K", "apiVersion": "v1"} for n in "xy"]
    shown = '{"apiVersion":"v1","kind":"K","name":"x","uid":"x","controller":true}'
    with pytest.raises(StatusError, match=re.escape(shown)):
        create(ResourceRegistry(), _config(ownerReferences=owners))


def test_what_identifies_an_object_never_changes() -> None:
    """An update with another uid is refused, with the error twice as in kube-apiserver."""
    registry = ResourceRegistry()
    old, _ = create(registry, _config())
    with pytest.raises(StatusError) as refused:
        update(registry, _config(uid="other", namespace="default"), old)
    assert complaints(refused.value) == ['metadata.uid: Invalid value: "other": field is immutable'] * 2


def test_an_object_that_goes_takes_no_new_finalizers() -> None:
    """A deleted object accepts no new finalizers."""
    registry = ResourceRegistry()
    old, _ = create(registry, _config(finalizers=["x.io/f"]))
    old["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    new = _config(finalizers=["x.io/f", "x.io/g"])
    with pytest.raises(
        StatusError, match=r'no new finalizers can be added .* found new finalizers \[\]string\{"x.io/g"\}'
    ):
        update(registry, new, old)


def test_a_custom_resource_is_warned_about_a_bare_finalizer() -> None:
    """A finalizer without domain and path is accepted on custom resources, with a warning."""
    registry = ResourceRegistry()
    install(registry, spec_schema({}))
    _, warnings = create(registry, thing({}, metadata={"name": "a", "finalizers": ["mine"]}))
    (warning,) = warnings
    assert "prefer a domain-qualified finalizer name" in warning
