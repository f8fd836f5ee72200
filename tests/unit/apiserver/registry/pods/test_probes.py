"""Validation of probes and lifecycle handlers."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._registry._pods.probes import validate_lifecycle, validate_probe
from tests.unit.apiserver.registry._refusals import refusals


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({"exec": {"command": ["a"]}, "successThreshold": 1}, []),
        ({"successThreshold": 1}, ["p: Required value: must specify a handler type"]),
        (
            {"exec": {}, "grpc": {"port": 1}, "successThreshold": 2},
            [
                "p.exec.command: Required value",
                "p.grpc: Forbidden: may not specify more than 1 handler type",
                "p.successThreshold: Invalid value: 2: must be 1",
            ],
        ),
        (
            {"tcpSocket": {"port": 0}, "successThreshold": 1, "periodSeconds": -1},
            [
                "p.tcpSocket.port: Invalid value: 0: must be between 1 and 65535, inclusive",
                "p.periodSeconds: Invalid value: -1: must be greater than or equal to 0",
            ],
        ),
        (
            {
                "httpGet": {"path": "/", "port": "no name", "scheme": "ftp", "httpHeaders": [{"name": "a b"}]},
                "successThreshold": 1,
            },
            [
                'p.httpGet.port: Invalid value: "no name": must contain only alpha-numeric characters (a-z, 0-9),',
                'p.httpGet.scheme: Unsupported value: "ftp": supported values: "HTTP", "HTTPS"',
                'p.httpGet.httpHeaders: Invalid value: "a b": a valid HTTP header must consist of alphanumeric ch',
            ],
        ),
        (
            {"exec": {"command": ["a"]}, "successThreshold": 1, "terminationGracePeriodSeconds": 0},
            ["p.terminationGracePeriodSeconds: Invalid value: 0: must be greater than 0"],
        ),
    ],
)
def test_probes(given: Any, refused: list[str]) -> None:
    """A probe has one handler, no negative times, and succeeds once unless it is about readiness."""
    assert refusals(validate_probe("livenessProbe", given, "p", 30)) == refused


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({"preStop": {"sleep": {"seconds": 30}}}, []),
        (
            {"preStop": {"sleep": {"seconds": 31}}},
            ["l.preStop.sleep: Invalid value: 31: must be non-negative and less than terminationGracePeriodSec"],
        ),
        ({"postStart": {}}, ["l.postStart: Required value: must specify a handler type"]),
        (
            {"stopSignal": "SIGTERM"},
            ["l.stopSignal: Forbidden: may not be set for containers with empty `spec.os.name`"],
        ),
    ],
)
def test_lifecycles(given: Any, refused: list[str]) -> None:
    """A handler sleeps no longer than the pod may take to end, and a stop signal needs an operating system."""
    assert refusals(validate_lifecycle(given, "l", 30, None)) == refused
