"""Annotations of AppArmor and seccomp profiles of pods."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._registry._pods.profile_annotations import (
    APP_ARMOR,
    copy_app_armor_profiles,
    validate_profile_annotations,
    validate_profiles_match,
    warnings_of_app_armor,
)

SECCOMP = "seccomp.security.alpha.kubernetes.io/pod"


def _pod(annotation: str, security: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    container = {"name": "c", **({"securityContext": security} if security else {})}
    return {"metadata": {"annotations": {f"{APP_ARMOR}c": annotation}}, "spec": {"containers": [container], **spec}}


def _copied(pod: dict[str, Any]) -> Any:
    copy_app_armor_profiles(pod)
    return pod["spec"]["containers"][0].get("securityContext")


@pytest.mark.parametrize(
    ("annotation", "profile"),
    [
        ("runtime/default", {"type": "RuntimeDefault"}),
        ("unconfined", {"type": "Unconfined"}),
        ("localhost/a/b", {"type": "Localhost", "localhostProfile": "a/b"}),
    ],
)
def test_a_profile_is_copied_to_the_field(annotation: str, profile: dict[str, str]) -> None:
    """The profile of an annotation becomes the field of the container, with a warning."""
    pod = _pod(annotation)
    assert len(list(warnings_of_app_armor(pod))) == 1
    assert _copied(pod) == {"appArmorProfile": profile}
    assert list(warnings_of_app_armor(pod)) == []  # the container has the field now


@pytest.mark.parametrize("annotation", ["", "localhost/", "localhost/ padded", "other"])
def test_a_value_without_a_profile_is_not_copied(annotation: str) -> None:
    """An annotation that stands for no valid profile sets no field, but gives the warning."""
    assert _copied(_pod(annotation)) is None
    assert len(list(warnings_of_app_armor(_pod(annotation)))) == 1


def test_a_field_and_the_profile_of_the_pod_have_precedence() -> None:
    """A field is kept, and the profile that the whole pod has is not repeated in the container; Windows has none."""
    field = {"appArmorProfile": {"type": "Unconfined"}}
    assert _copied(_pod("runtime/default", dict(field))) == field
    assert _copied(_pod("unconfined", securityContext=field)) is None
    assert _copied(_pod("unconfined", os={"name": "windows"})) is None


def test_annotations_are_of_a_container_and_have_a_known_form() -> None:
    """Unknown containers and unknown values are refused."""
    spec = {"containers": [{"name": "c"}]}
    annotations = {f"{APP_ARMOR}c": "x", f"{APP_ARMOR}d": "unconfined", SECCOMP: "x"}
    found = [each.message for each in validate_profile_annotations(annotations, spec, "at")]
    assert found == [
        'Invalid value: "x": must be a valid seccomp profile',
        'Invalid value: "x": invalid AppArmor profile name: "x"',
        'Invalid value: "d": container not found',
    ]


@pytest.mark.parametrize(
    ("annotation", "profile", "field"),
    [
        ("unconfined", {"type": "Unconfined"}, ""),
        ("unconfined", {"type": "RuntimeDefault"}, "type"),
        ("localhost/a", {"type": "Localhost", "localhostProfile": "b"}, "localhostProfile"),
        ("unconfined", {"type": "Localhost", "localhostProfile": "b"}, "type"),
    ],
)
def test_annotations_agree_with_the_fields(annotation: str, profile: dict[str, str], field: str) -> None:
    """An annotation with another profile than the field is refused, at the part that differs."""
    found = [each.field for each in validate_profiles_match(_pod(annotation, {"appArmorProfile": profile}), "spec")]
    assert found == ([f"spec.containers[0].securityContext.appArmorProfile.{field}"] if field else [])


def test_the_seccomp_annotation_of_a_pod_agrees_with_its_field() -> None:
    """Docker's name of the default profile is the default profile."""
    spec = {"containers": [], "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}}}
    for value, field in (("docker/default", ""), ("unconfined", "spec.securityContext.seccompProfile.type")):
        pod = {"metadata": {"annotations": {SECCOMP: value}}, "spec": spec}
        assert [each.field for each in validate_profiles_match(pod, "spec")] == ([field] if field else [])
