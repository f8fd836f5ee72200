"""Requests for tests of admission plugins."""

from __future__ import annotations

from random import Random
from typing import Any

from pyctrl.apiserver import AdmissionPluginName, ApiServer
from tests.unit.apiserver._kit import Asker

NAMESPACE = "/api/v1/namespaces/default"
PODS, CLAIMS = f"{NAMESPACE}/pods", f"{NAMESPACE}/persistentvolumeclaims"


def pod(name: str = "p", **spec: Any) -> dict[str, Any]:
    """Return a pod with one container."""
    return {"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "i"}], **spec}}


def claim(name: str, **spec: Any) -> dict[str, Any]:
    """Return a claim of one gibibyte."""
    size = {"requests": {"storage": "1Gi"}}
    return {"metadata": {"name": name}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": size, **spec}}


def asking(*enable: AdmissionPluginName, disable: tuple[AdmissionPluginName, ...] = ()) -> Asker:
    """Return a client of a server with these plugins besides the default ones."""
    return Asker(ApiServer(random=Random(7), enable_admission_plugins=enable, disable_admission_plugins=disable))
