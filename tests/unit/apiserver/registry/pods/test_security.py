"""Validation of security contexts."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._registry._pods.security import (
    validate_container_security,
    validate_host_process,
    validate_os,
    validate_pod_security,
)
from tests.unit.apiserver.registry._refusals import refusals


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        (
            {
                "securityContext": {
                    "runAsUser": 0,
                    "sysctls": [{"name": "kernel.msgmax", "value": "1"}],
                    "seccompProfile": {"type": "RuntimeDefault"},
                }
            },
            [],
        ),
        (
            {"securityContext": {"runAsUser": -1, "supplementalGroups": [2147483648]}},
            [
                "spec.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive",
                "spec.securityContext.supplementalGroups[0]: Invalid value: 2147483648: must be between 0 and 214",
            ],
        ),
        (
            {"securityContext": {"sysctls": [{"name": "a_"}, {}]}},
            [
                'spec.securityContext.sysctls[0].name: Invalid value: "a_": must have at most 253 characters and ',
                "spec.securityContext.sysctls[1].name: Required value",
            ],
        ),
        (
            {"securityContext": {"seccompProfile": {"type": "Localhost"}, "appArmorProfile": {"type": "None"}}},
            [
                "spec.securityContext.seccompProfile.localhostProfile: Required value: must be set when seccomp t",
                'spec.securityContext.appArmorProfile.type: Unsupported value: "None": supported values: "Localho',
            ],
        ),
        (
            {"hostNetwork": True, "securityContext": {"sysctls": [{"name": "net.a"}]}},
            ['spec.securityContext.sysctls[0].name: Invalid value: "net.a": may not be specified when \'hostNet'],
        ),
        (
            {"securityContext": {"fsGroupChangePolicy": "Never"}},
            ['spec.securityContext.fsGroupChangePolicy: Unsupported value: "Never": supported values: "Always"'],
        ),
        (
            {"securityContext": {"windowsOptions": {"runAsUserName": "a\\b\\c", "gmsaCredentialSpec": ""}}},
            [
                'spec.securityContext.windowsOptions.gmsaCredentialSpec: Invalid value: "": gmsaCredentialSpec ca',
                'spec.securityContext.windowsOptions.runAsUserName: Invalid value: "a\\\\b\\\\c": runAsUserName canno',
            ],
        ),
    ],
)
def test_contexts_of_pods(given: Any, refused: list[str]) -> None:
    """The security context of a pod has ids, sysctls and profiles that exist."""
    assert refusals(validate_pod_security(given, "spec")) == refused


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({"allowPrivilegeEscalation": False}, []),
        (
            {"allowPrivilegeEscalation": False, "privileged": True},
            ['s: Invalid value: {"Capabilities":null,"Privileged":true,"SELinuxOptions":null,"WindowsOptions":'],
        ),
        (
            {"procMount": "Unmasked"},
            ['s.procMount: Invalid value: "Unmasked": `hostUsers` must be false to use `Unmasked`'],
        ),
    ],
)
def test_contexts_of_containers(given: Any, refused: list[str]) -> None:
    """A container cannot forbid the escalation of privileges that it has."""
    assert refusals(validate_container_security(given, "s", host_users=True)) == refused


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({"hostNetwork": True, "securityContext": {"windowsOptions": {"hostProcess": True}}}, []),
        (
            {},
            [
                'spec: Invalid value: "": If pod contains any hostProcess containers then all containers must be ',
                "spec.hostNetwork: Invalid value: false: hostNetwork must be true if pod contains any hostProcess",
            ],
        ),
        (
            {"securityContext": {"windowsOptions": {"hostProcess": False}}},
            [
                "b.securityContext.windowsOptions.hostProcess: Invalid value: true: pod hostProcess value must be",
                'spec: Invalid value: "": If pod contains any hostProcess containers then all containers must be ',
                "spec.hostNetwork: Invalid value: false: hostNetwork must be true if pod contains any hostProcess",
            ],
        ),
    ],
)
def test_host_processes(given: Any, refused: list[str]) -> None:
    """All containers of a pod are host process containers, or none."""
    assert (
        refusals(
            validate_host_process(
                given, [("a", {}), ("b", {"securityContext": {"windowsOptions": {"hostProcess": True}}})], "spec"
            )
        )
        == refused
    )


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({"os": {"name": "linux"}}, []),
        ({"os": {}}, ["spec.os.name: Required value"]),
        ({"os": {"name": "plan9"}}, ['spec.os: Unsupported value: "plan9": supported values: "linux", "windows"']),
        (
            {"os": {"name": "linux"}, "securityContext": {"windowsOptions": {}}},
            [
                "spec.securityContext.windowsOptions: Forbidden: windows options cannot be set for a linux pod",
                "c.securityContext.windowsOptions: Forbidden: windows options cannot be set for a linux pod",
            ],
        ),
        (
            {"os": {"name": "windows"}, "hostPID": True, "securityContext": {"runAsUser": 1}},
            [
                "spec.hostPID: Forbidden: cannot be set for a windows pod",
                "spec.securityContext.runAsUser: Forbidden: cannot be set for a windows pod",
                "c.securityContext.runAsUser: Forbidden: cannot be set for a windows pod",
            ],
        ),
    ],
)
def test_operating_systems(given: Any, refused: list[str]) -> None:
    """A pod has no fields of another operating system than its own."""
    assert refusals(validate_os(given, [("c", given)], "spec")) == refused


def test_a_refused_context_is_shown_as_go_prints_it() -> None:
    """The options for Windows in a message have Go's names and all their fields."""
    given = {"allowPrivilegeEscalation": False, "privileged": True, "windowsOptions": {"hostProcess": True}}
    told = next(iter(validate_container_security(given, "s", host_users=True))).message
    options = '{"GMSACredentialSpecName":null,"GMSACredentialSpec":null,"RunAsUserName":null,"HostProcess":true}'
    assert f'"WindowsOptions":{options},"RunAsUser":null' in told
