"""Facts of Go types that OpenAPI documents do not have."""

from __future__ import annotations

import pytest

from pyctrl.apiserver._schema.go_types import go_path, is_always_written, is_pointer, type_name


@pytest.mark.parametrize(
    ("component", "field", "kept"),
    [
        ("io.k8s.api.apps.v1.DeploymentSpec", "replicas", True),
        ("io.k8s.api.apps.v1.DeploymentSpec", "paused", False),
        ("io.k8s.api.apps.v1.DeploymentStatus", "replicas", False),
        ("io.k8s.api.core.v1.SecretVolumeSource", "optional", True),
        ("io.k8s.api.core.v1.PodStatus", "startTime", True),
        ("io.k8s.api.core.v1.PodCondition", "lastTransitionTime", False),
    ],
)
def test_the_zero_of_a_pointer_is_kept(component: str, field: str, kept: bool) -> None:
    """The zero of a pointer is kept, and that of a plain value is not; an absent pointer to a time is omitted."""
    assert is_pointer(component, field) is kept


def test_a_field_has_the_name_of_its_go_type() -> None:
    """Decoding errors show the Go type of enumerations and of uids; other strings are plain."""
    fields = ("core.v1.PodSpec", "restartPolicy"), ("meta.v1.ObjectMeta", "uid"), ("core.v1.PodSpec", "nodeName")
    assert [type_name(*each) for each in fields] == ["v1.RestartPolicy", "types.UID", ""]


def test_a_field_of_an_embedded_struct_has_its_path() -> None:
    """Decoding errors name the embedded structs above a field."""
    assert go_path("NamedRuleWithOperations", "scope") == "RuleWithOperations.Rule.scope"
    assert go_path("NamedRuleWithOperations", "operations") == "RuleWithOperations.operations"
    assert go_path("Volume", "name") == "name"


def test_a_field_that_is_always_written_is_that_of_one_version() -> None:
    """The component is compared by group, version and struct, without the package before them."""
    assert is_always_written("io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerStatus", "currentMetrics")
    assert not is_always_written("io.k8s.api.autoscaling.v1.HorizontalPodAutoscalerStatus", "currentMetrics")
