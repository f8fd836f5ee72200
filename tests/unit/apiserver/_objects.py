"""CRDs and objects for several tests."""

from __future__ import annotations

import copy
from typing import Any

from pyctrl.apiserver import ResourceRegistry
from pyctrl.apiserver._errors import StatusError
from pyctrl.apiserver._meta.system_fields import keep_system_fields

GROUP = "test.example.com"


def definition(
    schema: dict[str, Any], *, plural: str = "things", kind: str = "Thing", **version: Any
) -> dict[str, Any]:
    """Return a definition of one version with a schema."""
    first = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}, **version}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}", "uid": "u"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"plural": plural, "kind": kind},
            "versions": [first],
        },
    }


def spec_schema(properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return the schema of an object whose spec has these properties."""
    return {"type": "object", "properties": {"spec": {"type": "object", "properties": properties, **more}}}


def create(
    registry: ResourceRegistry, obj: dict[str, Any], *, field_validation: str = "Warn"
) -> tuple[dict[str, Any], list[str]]:
    """Prepare an object for create; return it with the warnings."""
    group, _, version = obj["apiVersion"].rpartition("/")
    found = registry.by_kind(group, version, obj["kind"])
    assert found is not None
    created = copy.deepcopy(obj)
    created["metadata"].setdefault("uid", "uid-of-it")
    created["metadata"].setdefault("creationTimestamp", "2026-01-01T00:00:00Z")
    if found.namespaced:
        created["metadata"].setdefault("namespace", "default")
    warnings: list[str] = []
    found.decode(created, field_validation=field_validation, warnings=warnings)
    found.prepare_create(created, warnings=warnings)
    return created, warnings


def update(
    registry: ResourceRegistry, new: dict[str, Any], old: dict[str, Any], *, subresource: str | None = None
) -> dict[str, Any]:
    """Prepare an object for update."""
    group, _, version = new["apiVersion"].rpartition("/")
    found = registry.by_kind(group, version, new["kind"])
    assert found is not None
    changed = copy.deepcopy(new)
    found.decode(changed, field_validation="Warn", warnings=[])
    if found.namespaced:
        changed["metadata"].setdefault("namespace", old["metadata"]["namespace"])
    keep_system_fields(changed["metadata"], old["metadata"])
    found.prepare_update(changed, old, subresource=subresource, warnings=[])
    return changed


def install(registry: ResourceRegistry, schema: dict[str, Any], **version: Any) -> None:
    """Install a definition of the kind Thing."""
    created, _ = create(registry, definition(schema, **version))
    registry.install(created)


def thing(spec: Any = None, **more: Any) -> dict[str, Any]:
    """Return a Thing."""
    obj: dict[str, Any] = {"apiVersion": f"{GROUP}/v1", "kind": "Thing", "metadata": {"name": "a"}, **more}
    return obj if spec is None else {**obj, "spec": spec}


def pod(**container: Any) -> dict[str, Any]:
    """Return a Pod with one container."""
    spec = {"containers": [{"name": "c", "image": "busybox:1", **container}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}


def deployment(**spec: Any) -> dict[str, Any]:
    """Return a minimal Deployment."""
    template = {"metadata": {"labels": {"app": "d"}}, "spec": {"containers": [{"name": "c", "image": "busybox"}]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d"},
        "spec": {"selector": {"matchLabels": {"app": "d"}}, "template": template, **spec},
    }


def complaints(refused: StatusError) -> list[str]:
    """Return the causes of an error as `field: message`."""
    return [f"{cause['field']}: {cause['message']}" for cause in refused.status["details"]["causes"]]
