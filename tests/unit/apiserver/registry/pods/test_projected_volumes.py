"""Validation of volumes with files from several sources."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._registry._pods.projected_volumes import downward_api, projected, signer_name
from tests.unit.apiserver.registry._refusals import refusals


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({"items": [{"path": "a", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}]}, []),
        (
            {"items": [{"path": "/a"}]},
            [
                'v.path: Invalid value: "/a": must be a relative path',
                "v: Required value: one of fieldRef and resourceFieldRef is required",
            ],
        ),
        (
            {"defaultMode": 512},
            ["v.defaultMode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive"],
        ),
        (
            {"items": [{"path": "a", "resourceFieldRef": {"resource": "limits.cpu"}}]},
            ["v.resourceFieldRef.containerName: Required value"],
        ),
    ],
)
def test_downward_api(given: Any, refused: list[str]) -> None:
    """A file of the downward API has a relative path and one source."""
    assert refusals(downward_api(given, "v")) == refused


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        (
            {"sources": [{"secret": {"name": "s"}}, {"serviceAccountToken": {"path": "t", "expirationSeconds": 3600}}]},
            [],
        ),
        (
            {"sources": [{"secret": {"name": "s"}, "configMap": {"name": "s"}}]},
            ["v.sources[0]: Forbidden: may not specify more than 1 volume type per source"],
        ),
        (
            {
                "sources": [
                    {"configMap": {"items": [{"key": "a", "path": "x"}]}},
                    {"secret": {"name": "s", "items": [{"key": "a", "path": "x"}]}},
                ]
            },
            ["v.sources[0].configMap.name: Required value", 'v: Invalid value: "s": conflicting duplicate paths'],
        ),
        (
            {"sources": [{"serviceAccountToken": {"expirationSeconds": 599}}]},
            [
                "v.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 599: may not specify a durati",
                "v.path: Required value",
            ],
        ),
        (
            {"sources": [{"clusterTrustBundle": {"path": "p"}}]},
            ["v.sources[0].clusterTrustBundle: Required value: either name or signerName must be specified"],
        ),
        (
            {"sources": [{"podCertificate": {"signerName": "a.b/c", "keyType": "RSA"}}]},
            [
                'v.sources[0].podCertificate.keyType: Unsupported value: "RSA": supported values: "RSA3072", "RSA',
                "v.sources[0].podCertificate: Required value: specify at least one of credentialBundlePath, keyPa",
            ],
        ),
    ],
)
def test_projections(given: Any, refused: list[str]) -> None:
    """Each source of a projected volume is valid, and no two write the same file."""
    assert refusals(projected(given, "v")) == refused


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ("example.com/a", []),
        ("", ["s: Required value"]),
        (
            "example.com",
            ['s: Invalid value: "example.com": must be a fully qualified domain and path of the form \'example.'],
        ),
        ("example/a", ['s: Invalid value: "example": should be a domain with at least two segments separated by dots']),
        (
            "example.com/A",
            ['s: Invalid value: "A": validating label "A": a lowercase RFC 1123 subdomain must consist of lowe'],
        ),
    ],
)
def test_signer_names(given: Any, refused: list[str]) -> None:
    """The name of a signer is a domain and a path."""
    assert refusals(signer_name(given, "s")) == refused
