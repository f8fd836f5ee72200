"""Checks of the Pod Security Standards, with the messages of a kube-apiserver 1.36."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._admission._plugins.pod_security_checks import evaluate_pod
from pyctrl.apiserver._admission._plugins.pod_security_policy import LATEST, Level, LevelVersion

RIGHT = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}


def _found(spec: dict[str, Any], level: Level = "baseline", version: int = LATEST, **metadata: Any) -> list[str]:
    return [str(each) for each in evaluate_pod(LevelVersion(level, version), metadata, spec)]


def _pod(*contexts: dict[str, Any], **spec: Any) -> dict[str, Any]:
    names = [{"name": f"c{index}", "securityContext": each} for index, each in enumerate(contexts)]
    return {"containers": names, **spec}


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (_pod({}, hostNetwork=True, hostIPC=True), "host namespaces (hostNetwork=true, hostIPC=true)"),
        (_pod({}, volumes=[{"name": "v", "hostPath": {}}]), 'hostPath volumes (volume "v")'),
        (
            {"containers": [{"name": "c", "ports": [{"hostPort": 80}, {"hostPort": 443}]}]},
            'hostPort (container "c" uses hostPorts 443, 80)',
        ),
        (
            {"initContainers": [{"name": "c", "livenessProbe": {"httpGet": {"host": "h"}}}]},
            'probe or lifecycle host (container "c" uses probe or lifecycle host "h")',
        ),
        (
            _pod({"privileged": True}, {"privileged": True}),
            'privileged (containers "c0", "c1" must not set securityContext.privileged=true)',
        ),
        (
            _pod({"capabilities": {"add": ["SYS_TIME", "KILL", "NET_RAW"]}}),
            (
                'non-default capabilities (container "c0" must not include "NET_RAW", "SYS_TIME" in '
                "securityContext.capabilities.add)"
            ),
        ),
        (
            _pod({"seLinuxOptions": {"type": "a", "user": "u"}}, securityContext={"seLinuxOptions": {"role": "r"}}),
            (
                'seLinuxOptions (pod and container "c0" set forbidden securityContext.seLinuxOptions: type '
                '"a"; user may '
                "not be set; role may not be set)"
            ),
        ),
        (
            _pod({"seccompProfile": {"type": "Unconfined"}}),
            'seccompProfile (container "c0" must not set securityContext.seccompProfile.type to "Unconfined")',
        ),
        (_pod({}, securityContext={"sysctls": [{"name": "a.b"}]}), "forbidden sysctls (a.b)"),
        (
            _pod({"windowsOptions": {"hostProcess": True}}),
            'hostProcess (container "c0" must not set securityContext.windowsOptions.hostProcess=true)',
        ),
        (
            _pod({"procMount": "Unmasked"}),
            'procMount (container "c0" must not set securityContext.procMount to "Unmasked")',
        ),
    ],
)
def test_the_baseline_level_forbids(spec: dict[str, Any], message: str) -> None:
    """A message names the containers and the values."""
    assert _found(spec) == [message]


@pytest.mark.parametrize(
    ("context", "message"),
    [
        (
            {**RIGHT, "allowPrivilegeEscalation": None},
            (
                'allowPrivilegeEscalation != false (container "c0" must set '
                "securityContext.allowPrivilegeEscalation=false)"
            ),
        ),
        (
            {**RIGHT, "capabilities": {"add": ["CHOWN"]}},
            (
                'unrestricted capabilities (container "c0" must set '
                'securityContext.capabilities.drop=["ALL"]; container '
                '"c0" must not include "CHOWN" in securityContext.capabilities.add)'
            ),
        ),
        (
            {**RIGHT, "runAsNonRoot": False},
            'runAsNonRoot != true (container "c0" must not set securityContext.runAsNonRoot=false)',
        ),
        (
            {**RIGHT, "runAsNonRoot": None},
            'runAsNonRoot != true (pod or container "c0" must set securityContext.runAsNonRoot=true)',
        ),
        ({**RIGHT, "runAsUser": 0}, 'runAsUser=0 (container "c0" must not set runAsUser=0)'),
        (
            {**RIGHT, "seccompProfile": None},
            (
                'seccompProfile (pod or container "c0" must set securityContext.seccompProfile.type to '
                '"RuntimeDefault" or '
                '"Localhost")'
            ),
        ),
    ],
)
def test_the_restricted_level_requires(context: dict[str, Any], message: str) -> None:
    """A restricted pod has a security context."""
    assert not _found(_pod(RIGHT), "restricted")
    assert _found(_pod(context), "restricted") == [message]


def test_restricted_volumes_are_reported_once() -> None:
    """The restricted check replaces that of hostPath volumes."""
    spec = _pod(RIGHT, volumes=[{"name": "a", "hostPath": {}}, {"name": "b", "nfs": {}}, {"name": "c", "emptyDir": {}}])
    words = 'volumes "a", "b" use restricted volume types "hostPath", "nfs"'
    assert _found(spec, "restricted") == [f"restricted volume types ({words})"]


def test_versions_have_the_checks_of_their_time() -> None:
    """A namespace can pin the standard of an older version."""
    sysctls = _pod({}, securityContext={"sysctls": [{"name": "net.ipv4.tcp_rmem"}]})
    assert (_found(sysctls, version=31), _found(sysctls, version=32)) == (["forbidden sysctls (net.ipv4.tcp_rmem)"], [])
    engine = _pod({"seLinuxOptions": {"type": "container_engine_t"}})
    assert (len(_found(engine, version=30)), len(_found(engine, version=31))) == (1, 0)
    assert [each.partition(" ")[0] for each in _found(_pod({}), "restricted", 7)] == ["runAsNonRoot"]


def test_annotations_count_in_old_versions() -> None:
    """Before 1.19 seccomp profiles are annotations; those of AppArmor count in all versions."""
    seccomp = {"seccomp.security.alpha.kubernetes.io/pod": "unconfined"}
    (found,) = _found(_pod({}), version=18, annotations=seccomp)
    assert found == 'seccompProfile (forbidden annotation seccomp.security.alpha.kubernetes.io/pod="unconfined")'
    assert not _found(_pod({}), version=19, annotations=seccomp)
    key = "container.apparmor.security.beta.kubernetes.io/c0"
    (found,) = _found(_pod({}), annotations={key: "unconfined"})
    assert found.startswith("forbidden AppArmor profile (annotation must not set AppArmor profile type to")


def test_some_pods_are_exempt_from_some_checks() -> None:
    """Pods on Windows, and pods in a user namespace of their own."""
    windows = [each.partition(" ")[0] for each in _found(_pod({}, os={"name": "windows"}), "restricted")]
    assert windows == ["runAsNonRoot"]
    own = _pod({**RIGHT, "runAsNonRoot": None, "runAsUser": 0, "procMount": "Unmasked"}, hostUsers=False)
    assert not _found(own)
    assert [each.partition(" ")[0] for each in _found(own, "restricted")] == ["procMount"]
