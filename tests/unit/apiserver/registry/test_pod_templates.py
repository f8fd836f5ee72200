"""Pod templates and selectors of workloads."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._registry.pod_templates import immutable_selector, validate_lasting_pods

CONTAINER = {"name": "c", "image": "i", "imagePullPolicy": "Always", "terminationMessagePolicy": "File"}


def _spec(selector: Any, **pod: Any) -> dict[str, Any]:
    spec = {"containers": [CONTAINER], "restartPolicy": "Always", "dnsPolicy": "ClusterFirst", **pod}
    return {"selector": selector, "template": {"metadata": {"labels": {"app": "a"}}, "spec": spec}}


@pytest.mark.parametrize(
    ("selector", "fields"),
    [
        ({"matchLabels": {"app": "a"}}, []),
        ({"matchLabels": {"app": "b"}}, ["spec.template.metadata.labels"]),
        (None, ["spec.selector", "spec.template.metadata.labels"]),
        ({}, ["spec.selector"]),
    ],
)
def test_a_selector_selects_the_labels_of_its_template(selector: Any, fields: list[str]) -> None:
    """A workload needs a selector that is not empty and that matches its pods."""
    assert [each.field for each in validate_lasting_pods(_spec(selector), "Deployment", noun="deployment")] == fields


def test_lasting_pods_restart_always() -> None:
    """A restart policy that is valid for a pod is not valid for a workload whose pods run forever."""
    found = validate_lasting_pods(
        _spec({"matchLabels": {"app": "a"}}, restartPolicy="Never"), "Deployment", noun="deployment"
    )
    assert [(each.field, each.reason) for each in found] == [
        ("spec.template.spec.restartPolicy", "FieldValueNotSupported")
    ]


def test_a_selector_is_immutable() -> None:
    """An update that changes the selector is refused; a create and an equal selector are not."""
    one, two = ({"spec": {"selector": {"matchLabels": {"app": app}}}} for app in "ab")
    assert [each.message.rpartition(": ")[2] for each in immutable_selector(two, one)] == ["field is immutable"]
    assert not [*immutable_selector(one, one), *immutable_selector(one, None)]
