"""Facts of Go types that OpenAPI documents do not have."""

from __future__ import annotations

import pytest

from pyctrl.apiserver._schema.go_types import is_always_written, is_optional_time, is_pointer, named_text


@pytest.mark.parametrize(
    ("struct", "field", "kept"),
    [
        ("DeploymentSpec", "replicas", True),
        ("DeploymentSpec", "paused", False),
        ("DeploymentStatus", "replicas", False),
        ("SecretVolumeSource", "optional", True),
    ],
)
def test_the_zero_of_a_pointer_is_kept(struct: str, field: str, kept: bool) -> None:
    """A field is a pointer in one struct, in all of them, or in none."""
    assert is_pointer(struct, field) is kept


def test_a_string_field_has_the_name_of_its_go_type() -> None:
    """Decoding errors show the Go type of enumerations and of uids; other strings are plain."""
    fields = ("PodSpec", "restartPolicy"), ("ObjectMeta", "uid"), ("PodSpec", "nodeName")
    assert [named_text(*each) for each in fields] == ["v1.RestartPolicy", "types.UID", "string"]


def test_an_optional_time_is_omitted() -> None:
    """An absent pointer to a time is omitted, and an absent plain time is written as null."""
    assert is_optional_time("PodStatus", "startTime")
    assert not is_optional_time("PodCondition", "lastTransitionTime")


def test_a_field_that_is_always_written_is_that_of_one_version() -> None:
    """The component is compared by group, version and struct, without the package before them."""
    assert is_always_written("io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerStatus", "currentMetrics")
    assert not is_always_written("io.k8s.api.autoscaling.v1.HorizontalPodAutoscalerStatus", "currentMetrics")
