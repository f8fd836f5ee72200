"""Objects of webhook tests: PodSets in two versions, and the reviews that an API server sends."""

from __future__ import annotations

import base64
import json
from typing import Any

from pydantic import Field

from pyctrl.api import CustomResource, Int32, Model, Quantity
from pyctrl.errors import Denied, Rejected
from pyctrl.webhook import AdmissionRequest, Defaulter, FieldError, Validator, Warnings

GROUP = "apps.jicki.cn"


class PodSetSpec(Model):
    size: Int32 = Field(default=0)
    image: str | None = None
    tags: list[str] = []
    memory: Quantity | None = None


class PodSet(CustomResource[PodSetSpec], group=GROUP, version="v1alpha1"):
    """Keeps a number of pods running."""


class PodSetWebhook(Defaulter[PodSet], Validator[PodSet]):
    """Completes the image and validates sizes."""

    def default(self, obj: PodSet, request: AdmissionRequest) -> None:
        obj.spec.image = obj.spec.image or "nginx"

    def validate_create(self, obj: PodSet, request: AdmissionRequest) -> Warnings:
        if obj.spec.size == 13:
            raise RuntimeError("nobody thought of 13")
        if obj.spec.size % 2:
            raise Rejected(FieldError.invalid("spec.size", obj.spec.size, "must be even"))
        return "that is a lot" if obj.spec.size > 100 else None

    async def validate_update(self, old: PodSet, new: PodSet, request: AdmissionRequest) -> list[str]:
        problems = []
        if new.spec.size < old.spec.size:
            problems.append(FieldError.forbidden("spec.size", "must not shrink"))
        if not new.spec.image:
            problems.append(FieldError.required("spec.image"))
        if problems:
            raise Rejected(*problems)
        return []

    def validate_delete(self, obj: PodSet, request: AdmissionRequest) -> None:
        if request.user.username != "jane" and obj.spec.size:
            raise Denied(f"{request.user.username} may delete empty PodSets only")


def podset(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": f"{GROUP}/v1alpha1",
        "kind": "PodSet",
        "metadata": {"name": "a", "namespace": "default", "creationTimestamp": None},
        "spec": spec,
    }


def question(operation: str, new: Any = None, old: Any = None, **more: Any) -> dict[str, Any]:
    """Return the AdmissionReview that an API server sends."""
    request = {
        "uid": "7",
        "kind": {"group": GROUP, "version": "v1alpha1", "kind": "PodSet"},
        "resource": {"group": GROUP, "version": "v1alpha1", "resource": "podsets"},
        "name": "a",
        "namespace": "default",
        "operation": operation,
        "userInfo": {"username": "joe", "groups": ["system:authenticated"]},
        "object": new,
        "oldObject": old,
        "dryRun": False,
        "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
        **more,
    }
    return {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request}


def patch_of(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the JSON patch of an answered AdmissionReview."""
    response = answer["response"]
    if "patch" not in response:
        assert "patchType" not in response
        return []
    assert response["patchType"] == "JSONPatch"
    patch: list[dict[str, Any]] = json.loads(base64.b64decode(response["patch"]))
    return patch
