"""Table cells of built-in kinds: those that kube-apiserver 1.36 shows for the same objects."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from pyctrl import _clock
from pyctrl.apiserver import ResourceRegistry
from pyctrl.apiserver._endpoints.tables import convert_to_table

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
ADMISSION, STORAGE = "admissionregistration.k8s.io", "storage.k8s.io"
CONTAINERS = {"spec": {"containers": [{"name": "c1", "image": "i1"}, {"name": "c2", "image": "i2"}]}}
UTILIZATION = {"type": "Utilization", "averageUtilization": 50}
METRICS: list[dict[str, Any]] = [
    {"type": "Resource", "resource": {"name": "cpu", "target": UTILIZATION}},
    {"type": "Pods", "pods": {"metric": {"name": "m"}, "target": {"type": "AverageValue", "averageValue": "10"}}},
    {"type": "External", "external": {"metric": {"name": "e"}, "target": {"type": "Value", "value": "30"}}},
]
MEASURED = [{"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": 40}}}]

ROWS: list[tuple[tuple[str, str, str], dict[str, Any], list[Any]]] = [
    (
        ("", "v1", "podtemplates"),
        {"template": {"metadata": {"labels": {"c": "d", "a": "b"}}, **CONTAINERS}},
        ["c1,c2", "i1,i2", "a=b,c=d"],
    ),
    (
        ("", "v1", "resourcequotas"),
        {"status": {"hard": {"pods": "20", "limits.cpu": "2", "cpu": "4"}, "used": {"pods": "2"}}},
        ["cpu: 0/4, pods: 2/20", "limits.cpu: 0/2"],
    ),
    (
        ("apiregistration.k8s.io", "v1", "apiservices"),
        {"spec": {"service": {"namespace": "n", "name": "s"}}},
        ["n/s", "Unknown"],
    ),
    (
        ("apiregistration.k8s.io", "v1", "apiservices"),
        {"status": {"conditions": [{"type": "Available", "status": "False", "reason": "ServiceNotFound"}]}},
        ["Local", "False (ServiceNotFound)"],
    ),
    (
        ("apps", "v1", "controllerrevisions"),
        {
            "metadata": {
                "ownerReferences": [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "controller": True}]
            },
            "revision": 3,
        },
        ["daemonset.apps/d", 3],
    ),
    (
        ("autoscaling", "v2", "horizontalpodautoscalers"),
        {
            "spec": {"scaleTargetRef": {"kind": "Deployment", "name": "d"}, "maxReplicas": 3, "metrics": METRICS[:1]},
            "status": {"currentMetrics": MEASURED},
        },
        ["Deployment/d", "cpu: 40%/50%", "<unset>", "3", "0"],
    ),
    (
        ("autoscaling", "v2", "horizontalpodautoscalers"),
        {
            "spec": {
                "scaleTargetRef": {"kind": "Deployment", "name": "d"},
                "minReplicas": 1,
                "maxReplicas": 3,
                "metrics": METRICS,
            }
        },
        ["Deployment/d", "cpu: <unknown>/50%, <unknown>/10 + 1 more...", "1", "3", "0"],
    ),
    (
        ("certificates.k8s.io", "v1", "certificatesigningrequests"),
        {
            "spec": {"signerName": "e.com/x", "username": "joe", "expirationSeconds": 86400},
            "status": {"conditions": [{"type": "Approved"}], "certificate": "x"},
        },
        ["e.com/x", "joe", "24h", "Approved,Issued"],
    ),
    (
        (ADMISSION, "v1", "validatingadmissionpolicies"),
        {"spec": {"validations": [{}, {}], "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}}},
        [2, "v1/ConfigMap"],
    ),
    ((ADMISSION, "v1", "mutatingadmissionpolicies"), {"spec": {"mutations": [{}]}}, [1, "<unset>"]),
    (
        (ADMISSION, "v1", "validatingadmissionpolicybindings"),
        {"spec": {"policyName": "p", "paramRef": {"name": "x", "namespace": "y"}}},
        ["p", "y/x"],
    ),
    ((ADMISSION, "v1", "mutatingadmissionpolicybindings"), {"spec": {"policyName": "p"}}, ["p", "<unset>"]),
    (
        ("flowcontrol.apiserver.k8s.io", "v1", "flowschemas"),
        {
            "spec": {"matchingPrecedence": 7000, "priorityLevelConfiguration": {"name": "l"}},
            "status": {"conditions": [{"type": "Dangling", "status": "True"}]},
        },
        ["l", 7000, "<none>", "True"],
    ),
    (
        ("flowcontrol.apiserver.k8s.io", "v1", "prioritylevelconfigurations"),
        {
            "spec": {
                "type": "Limited",
                "limited": {
                    "nominalConcurrencyShares": 3,
                    "limitResponse": {"queuing": {"queues": 4, "handSize": 2, "queueLengthLimit": 6}},
                },
            }
        },
        ["Limited", 3, 4, 2, 6],
    ),
    (
        ("networking.k8s.io", "v1", "ingressclasses"),
        {"spec": {"controller": "e.com/c", "parameters": {"apiGroup": "a.b", "kind": "P", "name": "p"}}},
        ["e.com/c", "P.a.b/p"],
    ),
    (
        ("networking.k8s.io", "v1", "ipaddresses"),
        {"spec": {"parentRef": {"resource": "services", "namespace": "n", "name": "s"}}},
        ["services/n/s"],
    ),
    (
        ("networking.k8s.io", "v1", "servicecidrs"),
        {"spec": {"cidrs": ["10.0.0.0/24", "fd00::/108"]}},
        ["10.0.0.0/24,fd00::/108"],
    ),
    (("node.k8s.io", "v1", "runtimeclasses"), {"handler": "h"}, ["h"]),
    (
        (STORAGE, "v1", "csidrivers"),
        {
            "spec": {
                "attachRequired": False,
                "tokenRequests": [{"audience": "a"}, {"audience": "b"}],
                "volumeLifecycleModes": ["Persistent"],
            }
        },
        [False, False, False, "a,b", False, "Persistent"],
    ),
    ((STORAGE, "v1", "csinodes"), {"spec": {"drivers": [{}, {}]}}, [2]),
    (
        (STORAGE, "v1", "volumeattachments"),
        {"spec": {"attacher": "a", "nodeName": "n", "source": {"persistentVolumeName": "v"}}},
        ["a", "v", "n", False],
    ),
    ((STORAGE, "v1", "volumeattributesclasses"), {"driverName": "d"}, ["d"]),
    (
        ("resource.k8s.io", "v1", "resourceclaims"),
        {"status": {"allocation": {"devices": {}}, "reservedFor": [{}]}},
        ["allocated,reserved"],
    ),
    (
        ("resource.k8s.io", "v1", "resourceslices"),
        {"spec": {"driver": "d", "nodeName": "n", "pool": {"name": "p"}}},
        ["n", "d", "p"],
    ),
]


@pytest.mark.parametrize(("place", "obj", "cells"), ROWS, ids=lambda each: each[2] if isinstance(each, tuple) else "")
def test_cells_of_a_row(place: tuple[str, str, str], obj: dict[str, Any], cells: list[Any]) -> None:
    """Each kind has the cells of its columns, beside name and age."""
    found = ResourceRegistry().find(*place)
    assert found is not None
    obj = {**obj, "metadata": {"name": "a", **obj.get("metadata", {})}}
    with _clock.use(lambda: NOW):
        made = convert_to_table(found, [obj], metadata={})
    names = [column["name"] for column in made["columnDefinitions"]]
    shown = dict(zip(names, made["rows"][0]["cells"], strict=True))
    assert [shown[name] for name in names if name not in ("Name", "Age")] == cells
