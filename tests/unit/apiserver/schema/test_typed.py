"""Decoding of built-in kinds as by Go's types."""

from __future__ import annotations

import json
from datetime import date
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from pyctrl.apiserver import ResourceRegistry
from pyctrl.apiserver._schema.schema import SchemaNode
from pyctrl.apiserver._schema.typed import DecodeFailed, decode, empty


def _schema(group: str, plural: str) -> SchemaNode:
    found = ResourceRegistry().find(group, "v1", plural)
    assert found is not None
    return found.schema


def _read(group: str, plural: str, value: dict[str, Any]) -> dict[str, Any]:
    unknown: list[str] = []
    read: dict[str, Any] = decode(_schema(group, plural), value, unknown)
    assert unknown == []
    return read


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            {"replicas": "x"},
            "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32",
        ),
        (
            {"replicas": 1.5},
            "json: cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32",
        ),
        (
            {"replicas": 2**32},
            "json: cannot unmarshal number 4294967296 into Go struct field DeploymentSpec.spec.replicas of type int32",
        ),
        ([], "json: cannot unmarshal array into Go struct field Deployment.spec of type v1.DeploymentSpec"),
        (
            {"template": {"spec": {"containers": {}}}},
            (
                "json: cannot unmarshal object into Go struct field PodSpec.spec.template.spec.containers of type "
                "[]v1.Container"
            ),
        ),
    ],
)
def test_wrong_types_are_told_as_go_tells_them(spec: Any, message: str) -> None:
    """The error of a wrong type is Go's, with struct and path."""
    with pytest.raises(DecodeFailed) as failed:
        decode(_schema("apps", "deployments"), {"spec": spec}, [])
    assert str(failed.value) == message


def test_zeros_nulls_and_empty_lists_are_written_as_go_writes_them() -> None:
    """Zeros of pointers are kept; other zeros, nulls and empty lists are dropped; structs are always written."""
    read = _read(
        "apps", "deployments", {"metadata": {"labels": {}, "name": "d"}, "spec": {"replicas": 0, "paused": False}}
    )
    assert read["metadata"] == {"name": "d"}
    assert read["spec"]["replicas"] == 0
    assert "paused" not in read["spec"]
    assert (read["spec"]["strategy"], read["status"]) == ({}, {})


def test_required_zeros_are_always_there() -> None:
    """Required counts in a new status are zero."""
    assert empty(_schema("apps", "daemonsets").properties["status"]) == {
        "currentNumberScheduled": 0,
        "numberMisscheduled": 0,
        "desiredNumberScheduled": 0,
        "numberReady": 0,
    }


def test_quantities_and_times_are_canonical() -> None:
    """Quantities and times are normalized to their canonical form; times of leases need microseconds."""
    claim = {"spec": {"resources": {"requests": {"storage": "1024Mi"}}}}
    assert _read("", "persistentvolumeclaims", claim)["spec"]["resources"]["requests"] == {"storage": "1Gi"}
    lease = _read("coordination.k8s.io", "leases", {"spec": {"renewTime": "2026-01-01T01:00:00.000000+01:00"}})
    assert lease["spec"]["renewTime"] == "2026-01-01T00:00:00.000000Z"
    with pytest.raises(DecodeFailed, match='cannot parse "Z" as ".000000"'):
        _read("coordination.k8s.io", "leases", {"spec": {"renewTime": "2026-01-01T01:00:00Z"}})


def test_only_days_that_exist_are_times() -> None:
    """A time in canonical form is kept for each day of the calendar, and refused for all others."""
    claim, kept = _schema("", "persistentvolumeclaims"), list[date]()
    for year, month, day in product((2023, 2024), range(14), range(33)):
        text = f"{year}-{month:02}-{day:02}T23:59:59Z"
        try:
            read = decode(claim, {"metadata": {"creationTimestamp": text}}, [])
        except DecodeFailed:
            continue
        assert read["metadata"]["creationTimestamp"] == text
        kept.append(date(year, month, day))
    assert (len(kept), kept[0], kept[-1]) == (365 + 366, date(2023, 1, 1), date(2024, 12, 31))


def test_text_that_is_no_quantity_is_refused() -> None:
    """The error of an invalid quantity has the grammar of quantities."""
    claim = {"spec": {"resources": {"requests": {"storage": "much"}}}}
    with pytest.raises(DecodeFailed, match="quantities must match the regular expression"):
        decode(_schema("", "persistentvolumeclaims"), claim, [])


def test_bytes_are_base64() -> None:
    """Data of a Secret that is not base64 is rejected."""
    with pytest.raises(DecodeFailed, match="illegal base64 data at input byte 3"):
        decode(_schema("", "secrets"), {"data": {"k": "abc!"}}, [])


def _recorded() -> list[dict[str, Any]]:
    """Yield every built-in object in the recordings of a real server."""
    cases = Path(__file__).parents[3] / "conformance" / "cases"
    found: list[dict[str, Any]] = []
    for file in sorted(cases.glob("*.json")):
        for step in json.loads(file.read_text())["steps"]:
            body = step.get("response", {}).get("body")
            if isinstance(body, dict) and "uid" in (body.get("metadata") or {}) and body["metadata"]["uid"]:
                found.append(body)
    return found


def test_what_the_real_server_wrote_is_written_back_as_it_was() -> None:
    """Decoding does not change the objects of a real server."""
    registry = ResourceRegistry()
    seen = 0
    for body in _recorded():
        group, _, version = body["apiVersion"].rpartition("/")
        found = registry.by_kind(group, version, body["kind"])
        if found is None or body["kind"] == "Scale":
            continue
        unknown: list[str] = []
        assert decode(found.schema, body, unknown) == body, body["kind"]
        assert unknown == []
        seen += 1
    assert seen > 100


def test_fields_that_were_decoded_are_kept() -> None:
    """Fields that were decoded before stay the same objects, in their place; the others are decoded."""
    spec = {"replicas": 1, "unknown": True}
    value = {"metadata": {"name": "a", "unknown": 1}, "spec": spec, "status": {"replicas": 0}}
    unknown: list[str] = []
    read: Any = decode(_schema("apps", "deployments"), value, unknown, ["spec"])
    assert read["spec"] is spec
    assert (list(read), read["metadata"], read["status"]) == (["metadata", "spec", "status"], {"name": "a"}, {})
    assert unknown == ["metadata.unknown"]
