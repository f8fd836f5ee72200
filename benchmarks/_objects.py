"""Objects for benchmarks of the API server: a database with the schema of an operator's definition, and a pod."""

from __future__ import annotations

from typing import Any

import msgspec

GROUP, VERSION, PLURAL = "benchmarks.example.com", "v1", "databases"

_NUMBER = r"([0-9]+(\.[0-9]*)?)|(\.[0-9]+)"
_QUANTITY = {
    "anyOf": [{"type": "integer"}, {"type": "string"}],
    "pattern": rf"^(\+|-)?({_NUMBER})(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?({_NUMBER})))?$",
    "x-kubernetes-int-or-string": True,
}
_NAME = {"type": "string", "minLength": 1, "maxLength": 63, "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"}
_TEXT = {"type": "string"}
_RESOURCES = {
    "type": "object",
    "properties": {
        "requests": {"type": "object", "additionalProperties": _QUANTITY},
        "limits": {"type": "object", "additionalProperties": _QUANTITY},
    },
}
_CONDITION = {
    "type": "object",
    "required": ["type", "status", "lastTransitionTime", "reason", "message"],
    "properties": {
        "type": {"type": "string", "maxLength": 316},
        "status": {"type": "string", "enum": ["True", "False", "Unknown"]},
        "observedGeneration": {"type": "integer", "format": "int64", "minimum": 0},
        "lastTransitionTime": {"type": "string", "format": "date-time"},
        "reason": {"type": "string", "minLength": 1, "maxLength": 1024},
        "message": {"type": "string", "maxLength": 32768},
    },
}
_SPEC = {
    "type": "object",
    "required": ["engine", "version", "storage"],
    "properties": {
        "engine": {"type": "string", "enum": ["postgres", "mysql", "mariadb"]},
        "version": {"type": "string", "pattern": r"^\d+(\.\d+){0,2}$"},
        "replicas": {"type": "integer", "format": "int32", "minimum": 0, "maximum": 99, "default": 1},
        "paused": {"type": "boolean", "default": False},
        "image": {
            "type": "object",
            "properties": {
                "repository": _TEXT,
                "tag": _TEXT,
                "pullPolicy": {
                    "type": "string",
                    "enum": ["Always", "IfNotPresent", "Never"],
                    "default": "IfNotPresent",
                },
            },
        },
        "storage": {
            "type": "object",
            "required": ["size"],
            "properties": {
                "size": _QUANTITY,
                "storageClassName": {"type": "string", "default": "standard"},
                "accessModes": {"type": "array", "items": _TEXT, "x-kubernetes-list-type": "set"},
            },
        },
        "resources": _RESOURCES,
        "parameters": {"type": "object", "additionalProperties": _TEXT, "maxProperties": 200},
        "ports": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            "items": {
                "type": "object",
                "required": ["name", "port"],
                "properties": {
                    "name": _NAME,
                    "port": {"type": "integer", "format": "int32", "minimum": 1, "maximum": 65535},
                    "protocol": {"type": "string", "enum": ["TCP", "UDP"], "default": "TCP"},
                },
            },
        },
        "users": {
            "type": "array",
            "maxItems": 100,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            "items": {
                "type": "object",
                "required": ["name"],
                "properties": {
                    "name": _NAME,
                    "databases": {"type": "array", "items": _NAME},
                    "roles": {"type": "array", "items": {"type": "string", "enum": ["read", "write", "admin"]}},
                    "passwordSecretRef": {
                        "type": "object",
                        "required": ["name"],
                        "properties": {"name": _NAME, "key": {"type": "string", "default": "password"}},
                    },
                },
            },
        },
        "backup": {
            "type": "object",
            "properties": {
                "enabled": {"type": "boolean", "default": True},
                "schedule": {"type": "string", "pattern": r"^(\S+\s+){4}\S+$"},
                "retentionDays": {"type": "integer", "minimum": 1, "maximum": 365, "default": 7},
                "destination": {
                    "type": "object",
                    "properties": {"bucket": _TEXT, "prefix": _TEXT, "endpoint": {"type": "string", "format": "uri"}},
                },
            },
        },
        "env": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["name"],
                "properties": {"name": _TEXT, "value": {"type": "string", "default": ""}},
            },
        },
        "tolerations": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "key": _TEXT,
                    "operator": {"type": "string", "enum": ["Exists", "Equal"], "default": "Equal"},
                    "value": _TEXT,
                    "effect": _TEXT,
                    "tolerationSeconds": {"type": "integer", "format": "int64", "nullable": True},
                },
            },
        },
        "nodeSelector": {"type": "object", "additionalProperties": _TEXT},
    },
}
_STATUS = {
    "type": "object",
    "properties": {
        "phase": {"type": "string", "enum": ["Pending", "Running", "Failed"]},
        "readyReplicas": {"type": "integer"},
        "conditions": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["type"],
            "items": _CONDITION,
        },
    },
}

DEFINITION: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"{PLURAL}.{GROUP}"},
    "spec": {
        "group": GROUP,
        "scope": "Namespaced",
        "names": {"plural": PLURAL, "singular": "database", "kind": "Database", "listKind": "DatabaseList"},
        "versions": [
            {
                "name": VERSION,
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": _SPEC, "status": _STATUS}}},
            }
        ],
    },
}

_LABELS = {
    "app.kubernetes.io/name": "database",
    "app.kubernetes.io/instance": "orders",
    "app.kubernetes.io/part-of": "shop",
    "app.kubernetes.io/managed-by": "benchmarks",
}


def database(name: str) -> dict[str, Any]:
    """Return a database of about 3 KB as a client sends it, without the fields that have defaults."""
    users = ("app", "reporting", "migrations", "backup")
    return {
        "apiVersion": f"{GROUP}/{VERSION}",
        "kind": "Database",
        "metadata": {
            "name": name,
            "namespace": "default",
            "labels": _LABELS,
            "annotations": {"example.com/owner": "team-orders", "example.com/ticket": "SHOP-4711"},
            "finalizers": ["benchmarks.example.com/cleanup"],
        },
        "spec": {
            "engine": "postgres",
            "version": "16.4",
            "replicas": 3,
            "image": {"repository": "registry.example.com/library/postgres", "tag": "16.4-bookworm"},
            "storage": {"size": "100Gi", "accessModes": ["ReadWriteOnce"]},
            "resources": {"requests": {"cpu": "500m", "memory": "2Gi"}, "limits": {"cpu": 2, "memory": "4Gi"}},
            "parameters": {
                "max_connections": "200",
                "shared_buffers": "512MB",
                "effective_cache_size": "1536MB",
                "maintenance_work_mem": "128MB",
                "checkpoint_completion_target": "0.9",
                "wal_buffers": "16MB",
                "default_statistics_target": "100",
                "random_page_cost": "1.1",
            },
            "ports": [{"name": "sql", "port": 5432}, {"name": "metrics", "port": 9187, "protocol": "TCP"}],
            "users": [
                {
                    "name": user,
                    "databases": ["orders", "customers"],
                    "roles": ["read", "write"],
                    "passwordSecretRef": {"name": f"orders-{user}-credentials"},
                }
                for user in users
            ],
            "backup": {
                "schedule": "30 2 * * *",
                "retentionDays": 14,
                "destination": {
                    "bucket": "shop-backups",
                    "prefix": "orders/production",
                    "endpoint": "https://objects.example.com:9000",
                },
            },
            "env": [{"name": f"SETTING_{number}", "value": f"the value of setting {number}"} for number in range(10)],
            "tolerations": [{"key": "dedicated", "value": "databases", "effect": "NoSchedule"}],
            "nodeSelector": {"kubernetes.io/os": "linux", "node.example.com/disk": "nvme"},
        },
    }


def pod(name: str) -> dict[str, Any]:
    """Return a pod of about 3 KB as a controller makes it."""
    probe = {"httpGet": {"path": "/healthz", "port": "http"}, "periodSeconds": 10, "timeoutSeconds": 2}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "default",
            "labels": {**_LABELS, "pod-template-hash": "5d9f8c7b6d"},
            "annotations": {"prometheus.io/scrape": "true", "prometheus.io/port": "9187"},
            "ownerReferences": [
                {
                    "apiVersion": "apps/v1",
                    "kind": "ReplicaSet",
                    "name": "orders-5d9f8c7b6d",
                    "uid": "8f9a1f0e-5b7c-4d2a-9f1e-2c3d4e5f6a7b",
                    "controller": True,
                    "blockOwnerDeletion": True,
                }
            ],
        },
        "spec": {
            "serviceAccountName": "default",
            "nodeSelector": {"kubernetes.io/os": "linux"},
            "containers": [
                {
                    "name": container,
                    "image": f"registry.example.com/shop/{container}:1.27.3",
                    "args": ["--listen=:8080", "--log-level=info", "--config=/etc/shop/config.yaml"],
                    "ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP"}],
                    "env": [
                        {"name": f"SETTING_{number}", "value": f"the value of setting {number}"} for number in range(8)
                    ],
                    "resources": {
                        "requests": {"cpu": "100m", "memory": "128Mi"},
                        "limits": {"cpu": "500m", "memory": "256Mi"},
                    },
                    "livenessProbe": probe,
                    "readinessProbe": probe,
                    "volumeMounts": [{"name": "config", "mountPath": "/etc/shop", "readOnly": True}],
                }
                for container in ("orders", "proxy")
            ],
            "volumes": [{"name": "config", "configMap": {"name": "orders-config"}}],
        },
    }


def encoded(obj: dict[str, Any]) -> bytes:
    """Return an object as a client sends it."""
    return msgspec.json.encode(obj)
