"""Objects of the canned server: custom resources and pods of a given size, as kube-apiserver writes them.

A custom resource of 4 KB has 39 % managedFields in two entries; 7 % other metadata with two labels and an annotation;
27 % spec with 18 settings; 25 % status with a condition and nine endpoints. At 1 KB and 10 KB managedFields are 41 and
40 %. Among 282 objects from a kube-apiserver 1.36 the median of managedFields is 40 %, and eight in ten objects have
28 to 49 %. A change modifies one number in the status. Pods of 4 KB have 16 % managedFields; the rest of their size is
the environment of their one container.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from random import Random
from typing import Any

import msgspec
from _prepared_server import added, encoded, pod

BATCH = 1_000  # objects that share a label and an index value
NAMESPACES = 50
CREATED = "2026-01-01T00:00:00Z"


@dataclass(frozen=True)
class Kind:
    """A served kind."""

    kind: str
    plural: str
    group: str

    @property
    def api_version(self) -> str:
        """The `apiVersion` of the objects."""
        return f"{self.group}/v1" if self.group else "v1"

    @property
    def path(self) -> str:
        """The path of the kind's API version."""
        return f"/apis/{self.group}/v1" if self.group else "/api/v1"


KINDS = {
    "widgets": Kind("Widget", "widgets", "benchmarks.example.com"),
    "pods": Kind("Pod", "pods", ""),
}

#: Served kinds without objects; kopf waits until it can watch definitions.
EMPTY = (
    Kind("CustomResourceDefinition", "customresourcedefinitions", "apiextensions.k8s.io"),
    Kind("Namespace", "namespaces", ""),
)


def objects(kind: Kind, count: int, size: int, first_version: int) -> list[bytes]:
    """Make this many objects in the order of their keys, without their kind, as in lists."""
    random = Random(1)
    if not kind.group:
        return sorted((pod(n, size, first_version + n, random) for n in range(count)), key=_key)
    batches = max(1, count // BATCH)
    made = [_widget(n, batches, size, first_version + n, random) for n in range(count)]
    return sorted(made, key=_key)


class _Names(msgspec.Struct):
    namespace: str
    name: str


class _Named(msgspec.Struct):
    metadata: _Names


_named = msgspec.json.Decoder(_Named)


def _key(data: bytes) -> tuple[str, str]:
    metadata = _named.decode(data).metadata
    return metadata.namespace, metadata.name


def _widget(number: int, batches: int, size: int, version: int, random: Random) -> bytes:
    """Make a custom resource with all parts of a typical one, and more of each part up to its size."""
    spec_fields: dict[str, Any] = {"f:image": {}, "f:pool": {}, "f:replicas": {}}
    status_fields: dict[str, Any] = {"f:conditions": {}, "f:phase": {}, "f:readyReplicas": {}}
    env: list[dict[str, str]] = []
    endpoints: list[dict[str, object]] = []
    document = {
        "metadata": {
            "name": f"widget-{number:06}",
            "namespace": f"team-{number % NAMESPACES:02}",
            "uid": str(uuid.UUID(int=random.getrandbits(128))),
            "resourceVersion": str(version),
            "generation": 1,
            "creationTimestamp": CREATED,
            "labels": {"app": "widget", "batch": f"b-{number % batches}"},
            "annotations": {"example.com/checksum": f"{random.getrandbits(128):032x}"},
            "managedFields": [
                _fields("kubectl", {"f:spec": spec_fields}),
                _fields("operator", {"f:status": status_fields}),
            ],
        },
        "spec": {"image": "registry.example.com/w:1.36", "pool": f"p-{number % batches}", "replicas": 3, "env": env},
        "status": {"phase": "Ready", "readyReplicas": 3, "conditions": [_condition("Ready")], "endpoints": endpoints},
    }
    return _filled(document, size, env, endpoints, spec_fields, random)


def _fields(manager: str, fields: dict[str, Any]) -> dict[str, Any]:
    return {
        "manager": manager,
        "operation": "Update",
        "apiVersion": KINDS["widgets"].api_version,
        "time": CREATED,
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
    }


def _condition(name: str) -> dict[str, object]:
    return {
        "type": name,
        "status": "True",
        "reason": "AllIsWell",
        "message": "",
        "lastTransitionTime": CREATED,
        "observedGeneration": 1,
    }


def _filled(
    document: dict[str, Any],
    size: int,
    env: list[dict[str, str]],
    endpoints: list[dict[str, object]],
    fields: dict[str, Any],
    random: Random,
) -> bytes:
    """Add settings with their managed fields, and endpoints, until the object has exactly the requested bytes."""
    keys = fields.setdefault("f:env", {})
    missing = size - len(encoded(document))
    while missing > 400:
        number = len(env)
        setting = {"name": f"SETTING_{number:03}", "value": f"{random.getrandbits(96):024x}"}
        owned: dict[str, Any] = {f'k:{{"name":"SETTING_{number:03}"}}': {".": {}, "f:name": {}, "f:value": {}}}
        missing -= added(setting, env) + added(owned, keys) - len("{}")
        env.append(setting)
        keys |= owned
        if number % 2:
            host = f"10.{random.randrange(256)}.{random.randrange(256)}.{random.randrange(256)}"
            endpoint = {"host": host, "port": 8080, "ready": True, "zone": f"zone-{number % 3}"}
            missing -= added(endpoint, endpoints)
            endpoints.append(endpoint)
    if missing > 0:
        document["status"]["conditions"][0]["message"] = f"{random.getrandbits(4 * missing):0{missing}x}"
    return msgspec.json.encode(document, order="deterministic")  # keys sorted, as in kube-apiserver
