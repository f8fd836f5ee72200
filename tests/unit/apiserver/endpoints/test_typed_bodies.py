"""Tests of request bodies that are of another kind than their resource."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._endpoints.typed_bodies import (
    EVICTION,
    SCALE,
    check_kind_of,
    decode_subresource_body,
    decode_subresource_object,
    read_delete_options,
)
from pyctrl.apiserver._errors import StatusError
from tests.unit.apiserver._requests import REGISTRY, resource_request

SCALE_PATH = "/apis/apps/v1/namespaces/default/deployments/web/scale"
POD_PATH = "/api/v1/namespaces/default/pods/a"


def test_a_body_may_leave_out_its_kind() -> None:
    """A body of a subresource without kind and apiVersion is of the subresource's kind."""
    request = resource_request("Deployment", SCALE_PATH, {"spec": {"replicas": 2}}, method="PUT")
    assert decode_subresource_body(request, SCALE, REGISTRY)["spec"] == {"replicas": 2}


def test_an_older_version_is_accepted_for_an_eviction_only() -> None:
    """An Eviction of policy/v1beta1 is accepted, while a Scale of an older version is refused."""
    check_kind_of({"kind": "Eviction", "apiVersion": "policy/v1beta1"}, EVICTION, REGISTRY)
    with pytest.raises(StatusError, match=r"does not match the expected API version \(autoscaling/v1\)"):
        check_kind_of({"kind": "Scale", "apiVersion": "apps/v1beta1"}, SCALE, REGISTRY)


@pytest.mark.parametrize(
    ("obj", "why"),
    [
        ({"kind": "Pod", "apiVersion": "v1"}, r"converting \(v1.Pod\) to \(autoscaling.Scale\): unknown conversion"),
        ({"kind": "List", "apiVersion": "v1"}, r"converting \(v1.List\) to \(autoscaling.Scale\): unknown conversion"),
        ({"kind": "Widget", "apiVersion": "v1"}, 'no kind "Widget" is registered for version "v1"'),
    ],
)
def test_a_body_of_another_kind_is_refused(obj: dict[str, Any], why: str) -> None:
    """A body of another kind is refused with 400, and the message depends on whether the server knows the kind."""
    with pytest.raises(StatusError, match=why) as refused:
        check_kind_of(obj, SCALE, REGISTRY)
    assert refused.value.code == 400


@pytest.mark.parametrize(
    ("obj", "why"),
    [
        ({"apiVersion": "v1", "kind": "Secret", "data": {"a": "!"}}, "illegal base64 data at input byte 0"),
        ({"apiVersion": "v1", "kind": "Pod", "spec": {"containers": 5}}, "Go struct field PodSpec.spec.containers"),
        ({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": 5}, "Go struct field Eviction.metadata"),
        ({"apiVersion": "policy/v1", "kind": "Eviction"}, "converting .v1.Eviction. to .autoscaling.Scale."),
        ({"apiVersion": "v1", "kind": "PodExecOptions"}, "converting .v1.PodExecOptions. to .autoscaling.Scale."),
    ],
)
def test_a_body_of_another_kind_is_decoded_as_that_kind(obj: dict[str, Any], why: str) -> None:
    """A body that does not even fit its own kind is refused for that."""
    with pytest.raises(StatusError, match=why):
        check_kind_of(obj, SCALE, REGISTRY)


def test_delete_options_may_have_the_group_version_of_the_resource() -> None:
    """Delete options are read in any group version, as clients send them with that of the resource."""
    body = {"kind": "DeleteOptions", "apiVersion": "apps/v1", "gracePeriodSeconds": 3}
    request = resource_request("Pod", POD_PATH, body, method="DELETE")
    assert read_delete_options(request, REGISTRY.components)["gracePeriodSeconds"] == 3
    other = resource_request("Pod", POD_PATH, {"kind": "Widget", "apiVersion": "v1"}, method="DELETE")
    with pytest.raises(StatusError, match='no kind "Widget" is registered'):
        read_delete_options(other, REGISTRY.components)


def test_a_value_of_the_wrong_type_does_not_decode() -> None:
    """A body with a value of the wrong type is refused with 400."""
    with pytest.raises(StatusError, match="Scale in version") as refused:
        decode_subresource_object({"spec": {"replicas": "two"}}, SCALE, REGISTRY.components)
    assert refused.value.code == 400


def test_an_error_shows_a_number_as_it_was_written() -> None:
    """The error about delete options with 1e1 seconds has that text."""
    request = resource_request("Pod", POD_PATH, {}, method="DELETE")
    request.body = b'{"gracePeriodSeconds": 1e1}'
    with pytest.raises(StatusError, match="json: cannot unmarshal number 1e1 into Go struct field"):
        read_delete_options(request, REGISTRY.components)
