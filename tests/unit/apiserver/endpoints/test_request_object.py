"""Tests of the objects that create, update and patch receive."""

from __future__ import annotations

import pytest

from pyctrl.apiserver._endpoints.request_object import read_request_object, track_managed_fields
from pyctrl.apiserver._errors import StatusError
from pyctrl.apiserver._request.options import WriteOptions
from tests.unit.apiserver._requests import REGISTRY, resource_request

PATH = "/api/v1/namespaces/default/configmaps"
OWNER = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u"}


def test_repeated_owners_are_dropped_with_a_warning() -> None:
    """An owner that is listed twice is stored once, and the client gets a warning with its uid."""
    body = {"metadata": {"name": "a", "ownerReferences": [OWNER, OWNER]}}
    request = resource_request("ConfigMap", PATH, body)
    obj = read_request_object(request, WriteOptions(), REGISTRY)
    assert [owner["uid"] for owner in obj["metadata"]["ownerReferences"]] == ["u"]
    (warning,) = request.warnings
    assert warning.endswith("duplicate UID(s) observed: u")


def test_strict_validation_refuses_an_unknown_field() -> None:
    """An unknown field is dropped with a warning by default, and refused with 400 by strict validation."""
    request = resource_request("ConfigMap", PATH, {"metadata": {"name": "a"}, "datas": {}})
    assert "datas" not in read_request_object(request, WriteOptions(), REGISTRY)
    assert request.warnings == ['unknown field "datas"']
    with pytest.raises(StatusError, match='unknown field "datas"') as refused:
        read_request_object(request, WriteOptions(field_validation="Strict"), REGISTRY)
    assert refused.value.code == 400


def test_a_number_that_does_not_fit_is_shown_as_it_was_written() -> None:
    """The error about an integer with an exponent shows the text of the client, not another form of the number."""
    path = "/api/v1/namespaces/default/replicationcontrollers"
    request = resource_request("ReplicationController", path, {})
    request.body = b'{"metadata": {"name": "a"}, "spec": {"replicas": 1e3}}'
    with pytest.raises(StatusError, match="json: cannot unmarshal number 1e3 into Go struct field"):
        read_request_object(request, WriteOptions(), REGISTRY)


def test_the_manager_of_the_request_owns_what_it_sets() -> None:
    """The fields of a new object are owned by the client that is named in the user agent."""
    request = resource_request("ConfigMap", PATH, {"metadata": {"name": "a"}, "data": {"key": "value"}})
    obj = read_request_object(request, WriteOptions(), REGISTRY)
    track_managed_fields(request, obj, None)
    (entry,) = obj["metadata"]["managedFields"]
    assert (entry["manager"], entry["operation"]) == ("kubectl", "Update")
    assert entry["fieldsV1"] == {"f:data": {".": {}, "f:key": {}}}
