"""Deployments: defaults, generation, validation."""

from __future__ import annotations

import pytest

from pyctrl.apiserver import ResourceRegistry
from pyctrl.apiserver._errors import StatusError
from tests.unit.apiserver._objects import complaints, create, deployment, update


def test_a_deployment_gets_defaults() -> None:
    """A minimal Deployment gets one replica, a rolling update by quarters, and containers with every default."""
    created, _ = create(ResourceRegistry(), deployment())
    spec = created["spec"]
    assert (spec["replicas"], spec["revisionHistoryLimit"], spec["progressDeadlineSeconds"]) == (1, 10, 600)
    assert spec["strategy"]["rollingUpdate"] == {"maxUnavailable": "25%", "maxSurge": "25%"}
    container = spec["template"]["spec"]["containers"][0]
    assert (container["imagePullPolicy"], container["terminationMessagePolicy"]) == ("Always", "File")
    assert created["metadata"]["generation"] == 1


def test_spec_and_annotations_increment_the_generation_of_a_deployment() -> None:
    """Changes of spec and annotations increment the generation; changes of labels and status do not."""
    registry = ResourceRegistry()
    old, _ = create(registry, deployment())
    labelled = update(registry, {**deployment(), "metadata": {"name": "d", "labels": {"a": "b"}}}, old)
    assert labelled["metadata"]["generation"] == 1
    annotated = update(registry, {**deployment(), "metadata": {"name": "d", "annotations": {"a": "b"}}}, old)
    assert annotated["metadata"]["generation"] == 2
    assert update(registry, deployment(replicas=2), old)["metadata"]["generation"] == 2
    status = update(registry, {**old, "status": {"replicas": 1}}, old, subresource="status")
    assert (status["metadata"]["generation"], status["status"]) == (1, {"replicas": 1})


def test_a_selector_that_does_not_match_the_template_is_refused() -> None:
    """The selector must match the labels of the template, and is immutable."""
    registry = ResourceRegistry()
    old, _ = create(registry, deployment())
    with pytest.raises(StatusError) as refused:
        update(registry, deployment(selector={"matchLabels": {"app": "other"}}), old)
    assert complaints(refused.value) == [
        'spec.template.metadata.labels: Invalid value: {"app":"d"}: `selector` does not match template `labels`',
        'spec.selector: Invalid value: {"matchLabels":{"app":"other"}}: field is immutable',
    ]
