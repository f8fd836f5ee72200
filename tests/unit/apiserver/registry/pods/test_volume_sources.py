"""Validation of volume sources."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._registry._pods.volume_sources import (
    azure_disk,
    csi_driver_name,
    fibre_channel,
    flex_volume,
    flocker,
    host_path,
    iscsi,
    nfs,
    pull_policy,
    quobyte,
)
from tests.unit.apiserver.registry._refusals import refusals


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({"path": "/a", "type": ""}, []),
        ({}, ["v.path: Required value"]),
        (
            {"path": "/a/..", "type": "Disk"},
            [
                "v.path: Invalid value: \"/a/..\": must not contain '..'",
                'v.type: Unsupported value: "Disk": supported values: "", "BlockDevice", "CharDevice", "Directory',
            ],
        ),
    ],
)
def test_host_paths(given: Any, refused: list[str]) -> None:
    """A host path is set, without `..`, and has a known type."""
    assert refusals(host_path(given, "v")) == refused


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({"server": "a", "path": "/b"}, []),
        ({"path": "b"}, ["v.server: Required value", 'v.path: Invalid value: "b": must be an absolute path']),
    ],
)
def test_nfs(given: Any, refused: list[str]) -> None:
    """An NFS volume has a server and an absolute path."""
    assert refusals(nfs(given, "v")) == refused


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({"targetPortal": "a", "iqn": "iqn.2015-02.example.com:a"}, []),
        (
            {"iqn": "abc", "lun": 256, "chapAuthSession": True},
            [
                "v.targetPortal: Required value",
                'v.iqn: Invalid value: "abc": must be valid format starting with iqn, eui, or naa',
                "v.lun: Invalid value: 256: must be between 0 and 255, inclusive",
                "v.secretRef: Required value",
            ],
        ),
    ],
)
def test_iscsi(given: Any, refused: list[str]) -> None:
    """An iSCSI volume has valid names, and a secret if it uses CHAP."""
    assert refusals(iscsi(given, "v")) == refused


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({"wwids": ["a"]}, []),
        ({}, ["v.targetWWNs: Required value: must specify either targetWWNs or wwids, but not both"]),
        ({"targetWWNs": ["a"]}, ["v.lun: Required value: lun is required if targetWWNs is specified"]),
        (
            {"targetWWNs": ["a"], "wwids": ["b"], "lun": -1},
            [
                'v.targetWWNs: Invalid value: ["a"]: targetWWNs and wwids can not be specified simultaneously',
                "v.lun: Invalid value: -1: must be between 0 and 255, inclusive",
            ],
        ),
    ],
)
def test_fibre_channel(given: Any, refused: list[str]) -> None:
    """A Fibre Channel volume has target names with a LUN, or world wide identifiers."""
    assert refusals(fibre_channel(given, "v")) == refused


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({"diskName": "a", "diskURI": "https://a", "kind": "Shared"}, []),
        (
            {"diskName": "a", "diskURI": "b", "kind": "Managed", "cachingMode": "a"},
            [
                'v.cachingMode: Unsupported value: "a": supported values: "None", "ReadOnly", "ReadWrite"',
                'v.diskURI: Unsupported value: "b": supported values: "/subscriptions/{sub-id}/resourcegroups/{gr',
            ],
        ),
    ],
)
def test_azure_disks(given: Any, refused: list[str]) -> None:
    """The address of an Azure disk fits its kind."""
    assert refusals(azure_disk(given, "v")) == refused


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({"datasetName": "a"}, []),
        ({}, ["v: Required value: one of datasetName and datasetUUID is required"]),
        (
            {"datasetName": "a/b", "datasetUUID": "c"},
            [
                'v: Invalid value: "resource": datasetName and datasetUUID can not be specified simultaneously',
                "v.datasetName: Invalid value: \"a/b\": must not contain '/'",
            ],
        ),
    ],
)
def test_other_sources(given: Any, refused: list[str]) -> None:
    """Flocker, Quobyte, FlexVolume and StorageOS volumes are checked by their fields."""
    assert refusals(flocker(given, "v")) == refused


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({"registry": "a:1,b:2", "volume": "v"}, []),
        (
            {},
            [
                "v.registry: Required value: must be a host:port pair or multiple pairs separated by commas",
                "v.volume: Required value",
            ],
        ),
        (
            {"registry": "a", "volume": "v"},
            ['v.registry: Invalid value: "a": must be a host:port pair or multiple pairs separated by commas'],
        ),
    ],
)
def test_quobyte(given: Any, refused: list[str]) -> None:
    """A Quobyte registry is a list of hosts with ports."""
    assert refusals(quobyte(given, "v")) == refused


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({"driver": "a", "options": {"b/c": "d"}}, []),
        (
            {"options": {"kubernetes.io/a": "b"}},
            [
                "v.driver: Required value",
                'v.options[kubernetes.io/a]: Invalid value: "kubernetes.io/a": kubernetes.io and k8s.io namespace',
            ],
        ),
    ],
)
def test_flex_volumes(given: Any, refused: list[str]) -> None:
    """The options of a FlexVolume are not of the namespaces of Kubernetes."""
    assert refusals(flex_volume(given, "v")) == refused


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ("a.b", []),
        ("", ["v: Required value"]),
        ("a_b", ['v: Invalid value: "a_b": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric ']),
        (
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            ["v: Too long: may not be more than 63 bytes"],
        ),
    ],
)
def test_csi_drivers(given: Any, refused: list[str]) -> None:
    """The name of a CSI driver is a domain of at most 63 characters."""
    assert refusals(csi_driver_name(given, "v")) == refused


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ("Always", []),
        ("", ["p: Required value"]),
        ("Sometimes", ['p: Unsupported value: "Sometimes": supported values: "Always", "IfNotPresent", "Never"']),
    ],
)
def test_pull_policies(given: Any, refused: list[str]) -> None:
    """A pull policy is one of three."""
    assert refusals(pull_policy(given, "p")) == refused
