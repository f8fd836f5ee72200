"""Validation of the status of ResourceClaims."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._registry.claim_status_validation import drop_deallocated_devices, validate_claim_status
from tests.unit.apiserver.registry._refusals import refusals

RESULT = {"request": "a", "driver": "d.example.com", "pool": "p", "device": "x"}
DEVICE = {key: RESULT[key] for key in ("driver", "pool", "device")}
USER = {"resource": "pods", "name": "p", "uid": "u"}


def claim(status: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    """Return a claim of one request."""
    return {"metadata": metadata, "spec": {"devices": {"requests": [{"name": "a"}]}}, "status": status}


def allocated(*results: dict[str, Any], **status: Any) -> dict[str, Any]:
    """Return the status of a claim whose devices are allocated."""
    return {"allocation": {"devices": {"results": list(results)}}, **status}


@pytest.mark.parametrize(
    ("status", "refused"),
    [
        (allocated(RESULT, devices=[DEVICE], reservedFor=[USER]), []),
        ({"reservedFor": [USER]}, ["status.reservedFor: Forbidden: may not be specified when `allocated` is not set"]),
        (
            allocated(RESULT, reservedFor=[{"uid": "u"}, USER]),
            [
                "status.reservedFor[0].resource: Required value",
                "status.reservedFor[0].name: Required value",
                'status.reservedFor[1]: Duplicate value: "u"',
            ],
        ),
        (
            allocated(RESULT, devices=[{**DEVICE, "device": ""}]),
            [
                'status.devices[0].device: Invalid value: "": a lowercase RFC 1123 label must consist of lower ca',
                'status.devices[0]: Invalid value: {"Driver":"d.example.com","Pool":"p","Device":"","ShareID":""}',
            ],
        ),
        (
            allocated({**RESULT, "request": "b", "pool": "", "shareID": "x"}),
            [
                'status.allocation.devices.results[0].request: Invalid value: "b": must be the name of a request ',
                "status.allocation.devices.results[0].pool: Required value",
                'status.allocation.devices.results[0].shareID: Invalid value: "x": error validating uid: invalid ',
            ],
        ),
        (
            allocated(RESULT, devices=[{**DEVICE, "networkData": {"ips": ["10.0.0.1", "10.0.0.1/08", "10.0.0.1/8"]}}]),
            [
                'status.devices[0].networkData.ips[0]: Invalid value: "10.0.0.1": must be a valid address in CIDR',
                'status.devices[0].networkData.ips[1]: Invalid value: "10.0.0.1/08": must be in canonical form ("',
            ],
        ),
    ],
)
def test_statuses_of_claims_are_checked(status: dict[str, Any], refused: list[str]) -> None:
    """Consumers need an allocation; devices are those of a request, with valid names and addresses."""
    assert refusals(validate_claim_status(claim(status), claim({}))) == refused


def test_a_device_without_an_allocation_is_refused() -> None:
    """A status is of an allocated device only."""
    found = refusals(validate_claim_status(claim({"devices": [DEVICE, DEVICE]}), claim({})))
    assert [each.partition(" value")[0] for each in found] == [
        "status.devices[0]: Invalid",
        "status.devices[1]: Invalid",
        "status.devices[1]: Duplicate",
    ]


def test_an_allocation_does_not_change() -> None:
    """An allocation is made and removed, but not replaced; a claim that is deleted gets no new consumers."""
    old, other = claim(allocated(RESULT)), {**RESULT, "device": "y"}
    [refused] = refusals(validate_claim_status(claim(allocated(other)), old))
    assert refused.startswith("status.allocation: Invalid value: ")
    assert refusals(validate_claim_status(claim({}), old)) == []
    going = claim(allocated(RESULT, reservedFor=[USER]), deletionTimestamp="2026-01-01T00:00:00Z")
    [refused] = refusals(validate_claim_status(going, old))
    assert refused.startswith("status.reservedFor: Forbidden: new entries may not be added")


def test_devices_that_are_deallocated_lose_their_status() -> None:
    """The status of a device goes with its allocation, without the help of its driver."""
    new = claim({"devices": [DEVICE]})
    drop_deallocated_devices(new, claim(allocated(RESULT, devices=[DEVICE])))
    assert new["status"] == {}
