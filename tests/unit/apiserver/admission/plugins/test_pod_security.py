"""The admission plugin PodSecurity, as of a kube-apiserver 1.36."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._admission._plugins.pod_security import PodSecurityConfiguration
from tests.unit.apiserver._kit import MERGE, Asker
from tests.unit.apiserver.admission.plugins._admitted import NAMESPACE, PODS, pod

PREFIX = "pod-security.kubernetes.io/"
DETAIL = "host namespaces (hostPID=true)"


def _label(ask: Asker, **labels: str | None) -> tuple[int, Any, list[str]]:
    body = {"metadata": {"labels": {f"{PREFIX}{mode}": value for mode, value in labels.items()}}}
    answer = ask.answer("PATCH", NAMESPACE, body, headers=MERGE)
    return answer.status, answer.body, [value for name, value in answer.headers if name == "Warning"]


def test_a_pod_that_violates_the_standard_is_denied(ask: Asker) -> None:
    """The message names the level, the version, and all violations."""
    _label(ask, enforce="baseline")
    code, status = ask("POST", PODS, pod(hostPID=True))
    assert code == 403
    assert status["message"] == f'pods "p" is forbidden: violates PodSecurity "baseline:latest": {DETAIL}'
    assert ask("POST", PODS, pod())[0] == 201


def test_warnings_do_not_deny(ask: Asker) -> None:
    """A template of pods is not denied: its pods will be."""
    _label(ask, enforce="baseline")
    template = {"metadata": {"labels": {"a": "b"}}, "spec": pod(hostPID=True)["spec"]}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    answer = ask.answer(
        "POST", "/apis/apps/v1/namespaces/default/deployments", {"metadata": {"name": "d"}, "spec": spec}
    )
    assert answer.status == 201
    told = f'299 - "would violate PodSecurity \\"baseline:latest\\": {DETAIL}"'
    assert ("Warning", told) in answer.headers


def test_an_update_that_changes_no_image_is_not_checked(ask: Asker) -> None:
    """A pod that is older than the standard can be labelled, but gets no other image."""
    ask("POST", PODS, pod(hostPID=True))
    _label(ask, enforce="baseline")
    assert ask("PATCH", f"{PODS}/p", {"metadata": {"labels": {"a": "b"}}}, headers=MERGE)[0] == 200
    image = {"spec": {"containers": [{"name": "c", "image": "j"}]}}
    strategic = {"Content-Type": "application/strategic-merge-patch+json"}
    assert ask("PATCH", f"{PODS}/p", image, headers=strategic)[0] == 403


def test_a_stricter_label_warns_of_existing_pods(ask: Asker) -> None:
    """Pods with the same violations are one warning."""
    for name in ("b", "a", "c"):
        ask("POST", PODS, pod(name, hostPID=True))
    ask("POST", PODS, pod("d", hostIPC=True, volumes=[{"name": "v", "hostPath": {"path": "/"}}]))
    code, _, warnings = _label(ask, enforce="baseline")
    assert code == 200
    level = '\\"baseline:latest\\"'
    assert warnings == [
        f'299 - "existing pods in namespace \\"default\\" violate the new PodSecurity enforce level {level}"',
        '299 - "a (and 2 other pods): host namespaces"',
        '299 - "d: host namespaces, hostPath volumes"',
    ]
    assert _label(ask, enforce="privileged")[2] == []


@pytest.mark.parametrize("labels", [{"enforce": "x"}, {"warn-version": "1"}])
def test_an_invalid_label_is_refused(ask: Asker, labels: dict[str, str]) -> None:
    """On create and on update."""
    named = {f"{PREFIX}{mode}": value for mode, value in labels.items()}
    assert ask("POST", "/api/v1/namespaces", {"metadata": {"name": "n", "labels": named}})[0] == 422
    assert _label(ask, **labels)[0] == 422


def test_the_configuration_exempts_nothing_by_default() -> None:
    """Users, namespaces and runtime classes are exempt only if they are named."""
    configuration = PodSecurityConfiguration()
    assert configuration.defaults.is_privileged
    assert not (configuration.usernames)
    assert not (configuration.namespaces)
    assert not (configuration.runtime_classes)
