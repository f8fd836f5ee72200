"""Validation of Endpoints and EndpointSlices."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._registry.endpoint_validation import validate_endpoint_slice, validate_endpoints
from tests.unit.apiserver.registry._refusals import refusals


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({"addresses": [{"ip": "10.0.0.1"}], "ports": [{"port": 1, "protocol": "TCP"}]}, []),
        ({}, ["subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`"]),
        (
            {"addresses": [{"ip": "127.0.0.1", "nodeName": "A"}]},
            [
                'subsets[0].addresses[0].nodeName: Invalid value: "A": a lowercase RFC 1123 subdomain must consis',
                'subsets[0].addresses[0].ip: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.',
            ],
        ),
        (
            {"addresses": [{"ip": "x", "hostname": "A"}]},
            [
                'subsets[0].addresses[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 20',
                'subsets[0].addresses[0].hostname: Invalid value: "A": a lowercase RFC 1123 label must consist of',
                'subsets[0].addresses[0].ip: Invalid value: "x": must be a valid IP address',
            ],
        ),
        (
            {
                "notReadyAddresses": [{"ip": "10.0.0.1"}],
                "ports": [{"port": 0, "protocol": "TCP", "name": "a"}, {"port": 1}],
            },
            [
                "subsets[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive",
                "subsets[0].ports[1].name: Required value",
                'subsets[0].ports[1].protocol: Unsupported value: "": supported values: "SCTP", "TCP", "UDP"',
            ],
        ),
    ],
)
def test_endpoints(given: Any, refused: list[str]) -> None:
    """A subset has addresses that other hosts can reach, and named ports if there are several."""
    assert refusals(validate_endpoints({"subsets": [given]}, None)) == refused


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({"addressType": "IPv4", "endpoints": [{"addresses": ["10.0.0.1"]}]}, []),
        ({}, ["addressType: Required value"]),
        (
            {"addressType": "IPv6", "endpoints": [{"addresses": ["10.0.0.1"]}]},
            ['endpoints[0].addresses: Invalid value: "10.0.0.1": must be an IPv6 address'],
        ),
        (
            {"addressType": "FQDN", "endpoints": [{"addresses": ["a.b", "a", ""]}]},
            [
                'endpoints[0].addresses[1]: Invalid value: "a": should be a domain with at least two segments sep',
                "endpoints[0].addresses[2]: Required value",
            ],
        ),
        (
            {"addressType": "IPv4", "endpoints": [{}]},
            ["endpoints[0].addresses: Required value: must contain at least 1 address"],
        ),
        (
            {
                "addressType": "IPv4",
                "ports": [{"protocol": "TCP"}, {"protocol": "UP", "name": "A"}, {"protocol": "TCP"}],
            },
            [
                'ports[1].name: Invalid value: "A": a lowercase RFC 1123 label must consist of lower case alphanu',
                'ports[1].protocol: Unsupported value: "UP": supported values: "SCTP", "TCP", "UDP"',
                'ports[2].name: Duplicate value: ""',
            ],
        ),
        (
            {
                "addressType": "IPv4",
                "endpoints": [{"addresses": ["10.0.0.1"], "hints": {"forZones": [{"name": "a"}, {"name": "a"}]}}],
            },
            ['endpoints[0].hints.forZones[1].name: Duplicate value: "a"'],
        ),
    ],
)
def test_slices(given: Any, refused: list[str]) -> None:
    """The addresses of an EndpointSlice are of its type."""
    assert refusals(validate_endpoint_slice(given, None)) == refused
