"""Policies that patch the objects of subresources with kinds of their own."""

from __future__ import annotations

from typing import Any

from tests.unit.apiserver._kit import CONFIGMAPS, Asker
from tests.unit.apiserver.admission._policies import apply_configuration, bind_mutating, json_patch

DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
PODS = "/api/v1/namespaces/default/pods"
SCALE = {"apiGroups": ["apps"], "apiVersions": ["v1"], "resources": ["deployments/scale"], "operations": ["UPDATE"]}
MERGE = {"Content-Type": "application/merge-patch+json"}


def scaled(ask: Asker, mutation: dict[str, Any]) -> tuple[int, Any]:
    """Return the answer to a patch of the Scale of a Deployment, under a policy."""
    bind_mutating(ask, mutation, rule=SCALE)
    labels = {"a": "b"}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    ask(
        "POST", DEPLOYMENTS, {"metadata": {"name": "d"}, "spec": {"selector": {"matchLabels": labels}, "template": pod}}
    )
    code, body = ask("PATCH", f"{DEPLOYMENTS}/d/scale", {"spec": {"replicas": 3}}, headers=MERGE)
    return code, body


def test_a_json_patch_changes_a_scale(ask: Asker) -> None:
    """The Deployment gets the replicas of the patched Scale."""
    code, scale = scaled(ask, json_patch('[JSONPatch{op: "replace", path: "/spec/replicas", value: 7}]'))
    assert (code, scale["spec"]) == (200, {"replicas": 7})
    assert ask("GET", f"{DEPLOYMENTS}/d")[1]["spec"]["replicas"] == 7


def test_an_apply_configuration_of_a_scale_is_refused(ask: Asker) -> None:
    """As in a cluster, which publishes no type for it, and the Deployment stays."""
    code, status = scaled(ask, apply_configuration("Object{spec: Object.spec{replicas: 7}}"))
    assert code == 403
    assert status["message"].endswith("typed object: no corresponding type for autoscaling/v1, Kind=Scale")
    assert ask("GET", f"{DEPLOYMENTS}/d")[1]["spec"]["replicas"] == 1


def test_an_apply_configuration_of_a_binding_is_merged(ask: Asker) -> None:
    """A cluster publishes the type of a Binding. Its labels are not stored."""
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods/binding"], "operations": ["CREATE"]}
    bind_mutating(ask, apply_configuration("Object{metadata: Object.metadata{labels: {'x': '1'}}}"), rule=rule)
    ask("POST", PODS, {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}})
    assert ask("POST", f"{PODS}/p/binding", {"metadata": {"name": "p"}, "target": {"name": "n"}})[0] == 201


def test_a_json_patch_that_does_not_fit_a_scale_fails(ask: Asker) -> None:
    """A patched Scale that does not decode is an internal error, as in a cluster."""
    code, status = scaled(ask, json_patch('[JSONPatch{op: "replace", path: "/spec/replicas", value: "7"}]'))
    assert (code, "spec.replicas" in status["message"]) == (500, True)


def test_a_patch_that_changes_the_kind_fails(ask: Asker) -> None:
    """An object of another kind or version is an internal error, in the words of kube-apiserver."""
    bind_mutating(ask, json_patch('[JSONPatch{op: "replace", path: "/kind", value: "Secret"}]'))
    code, status = ask("POST", CONFIGMAPS, {"metadata": {"name": "a"}})
    why = "failed to convert object: converting (v1.Secret) to (core.ConfigMap): unknown conversion"
    assert (code, status["message"]) == (500, f"Internal error occurred: {why}")


def test_a_whole_number_is_an_integer(ask: Asker) -> None:
    """A double without a fraction fits a field of integers, as Go writes it."""
    rule = {**SCALE, "resources": ["deployments"], "operations": ["CREATE"]}
    bind_mutating(ask, apply_configuration("Object{spec: Object.spec{replicas: 3.0}}"), rule=rule)
    labels = {"a": "b"}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"selector": {"matchLabels": labels}, "template": pod}
    code, made = ask("POST", DEPLOYMENTS, {"metadata": {"name": "d"}, "spec": spec})
    assert (code, made["spec"]["replicas"]) == (201, 3)


def test_a_policy_for_another_version_of_a_built_in_kind_is_refused(ask: Asker) -> None:
    """As in a cluster: the patched object is not converted back to the version of the request."""
    rule = {"apiGroups": ["autoscaling"], "apiVersions": ["v1"], "resources": ["horizontalpodautoscalers"]}
    change = apply_configuration("Object{metadata: Object.metadata{labels: {'x': '1'}}}")
    bind_mutating(ask, change, rule={**rule, "operations": ["CREATE"]})
    target = {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"}
    scaler = {"metadata": {"name": "h"}, "spec": {"maxReplicas": 3, "scaleTargetRef": target}}
    code, status = ask("POST", "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers", scaler)
    assert code == 403
    why = "converting (v1.HorizontalPodAutoscaler) to (v2.HorizontalPodAutoscaler): unknown conversion"
    assert status["message"].endswith(why)
